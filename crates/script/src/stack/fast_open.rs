//! TCP Fast Open by the settings of Linux, and a client's memory of its server.

use core::net::{IpAddr, Ipv4Addr};

use ackclock_packet::Cookie;
use ackclock_tcp::{CookieKey, Endpoint, FastOpenClient, FastOpenServer};

use super::Meaning;

/// `tcp_fastopen` and its like (Linux's `ip-sysctl.rst`).
#[derive(Clone, Copy, Debug)]
pub(super) struct FastOpenPlan {
    bits: u64,
    key: [u8; 16],
    /// The listener's own option.
    listener: bool,
    local: IpAddr,
    remote: IpAddr,
}

const CLIENT: u64 = 0x1;
const SERVER: u64 = 0x2;
const CLIENT_WITHOUT_COOKIE: u64 = 0x4;
const SERVER_WITHOUT_COOKIE: u64 = 0x200;
const SERVER_WITHOUT_OPTION: u64 = 0x400;

impl FastOpenPlan {
    /// Linux's default, packetdrill's addresses, and a key that is as good as any.
    pub(super) const DEFAULT: Self = Self {
        bits: CLIENT,
        key: [0; 16],
        listener: false,
        local: IpAddr::V4(Ipv4Addr::new(192, 168, 0, 1)),
        remote: IpAddr::V4(Ipv4Addr::new(192, 0, 2, 1)),
    };

    /// As the field's scripts share them.
    pub(super) fn set_shared_defaults(&mut self) {
        for (name, value) in SHARED_FAST_OPEN {
            // Both are good values of settings that there are.
            let _ = self.set(name, value);
        }
    }

    /// A setting of that name; `None` if there is none.
    pub(super) fn set(&mut self, name: &str, value: &str) -> Option<Result<Meaning, String>> {
        let wrong = |expected: &str| Err(format!("`{name}` is {expected}, not `{value}`"));
        let known = match name {
            "tcp_fastopen" => {
                let digits = value.trim();
                let bits = match digits.strip_prefix("0x") {
                    Some(digits) => u64::from_str_radix(digits, 16),
                    None => digits.parse(),
                };
                bits.is_ok_and(|bits| {
                    self.bits = bits;
                    true
                })
            }
            "tcp_fastopen_key" => key(value).is_some_and(|key| {
                self.key = key;
                true
            }),
            "local_ip" | "remote_ip" => value.parse().is_ok_and(|address| {
                *(if name == "local_ip" { &mut self.local } else { &mut self.remote }) = address;
                true
            }),
            _ => return None,
        };
        Some(match (known, name) {
            (true, _) => Ok(Meaning::Applied),
            (false, "tcp_fastopen") => wrong("a sum of bits"),
            (false, "tcp_fastopen_key") => {
                wrong("four groups of hexadecimal digits with `-` between them")
            }
            (false, _) => wrong("an address"),
        })
    }

    pub(super) const fn set_listener(&mut self, on: bool) {
        self.listener = on;
    }

    /// True if clients may use it.
    pub(super) const fn client(&self) -> bool {
        self.bits & CLIENT != 0
    }

    pub(super) const fn without_cookie(&self) -> bool {
        self.bits & CLIENT_WITHOUT_COOKIE != 0
    }

    /// The cookie of the script's address.
    pub(super) fn cookie(&self) -> Cookie {
        cookie_between(self.key, self.remote, self.local)
    }

    /// Lets an end point listen.
    pub(super) fn listen(&self, endpoint: &mut Endpoint) {
        let asked = self.listener || self.bits & SERVER_WITHOUT_OPTION != 0;
        if self.bits & SERVER == 0 || !asked {
            endpoint.listen();
            return;
        }
        let without_cookie = self.bits & SERVER_WITHOUT_COOKIE != 0;
        endpoint.listen_fast(FastOpenServer { cookie: self.cookie(), without_cookie });
    }
}

fn cookie_between(key: [u8; 16], client: IpAddr, server: IpAddr) -> Cookie {
    let mut addresses = Vec::with_capacity(32);
    for address in [client, server] {
        match address {
            IpAddr::V4(address) => addresses.extend(address.octets()),
            IpAddr::V6(address) => addresses.extend(address.octets()),
        }
    }
    CookieKey::new(key).cookie(&addresses)
}

/// The cookie that a Linux server whose `tcp_fastopen_key` reads `key_text` gives a client; `None` if that is no key.
pub fn fast_open_cookie(key_text: &str, client: IpAddr, server: IpAddr) -> Option<Vec<u8>> {
    Some(cookie_between(key(key_text)?, client, server).as_slice().to_vec())
}

/// The key and the settings of the field's scripts (`defaults.sh`), by their names.
pub const SHARED_FAST_OPEN: [(&str, &str); 2] = [
    // Clients, and servers without an option of their own.
    ("tcp_fastopen", "0x403"),
    ("tcp_fastopen_key", "a1a1a1a1-b2b2b2b2-c3c3c3c3-d4d4d4d4"),
];

/// Four numbers of 32 bits, each with its low byte first in the key (Linux's `proc_tcp_fastopen_key`).
fn key(value: &str) -> Option<[u8; 16]> {
    let mut key = [0; 16];
    let mut words = value.trim().split('-');
    for bytes in key.chunks_mut(4) {
        let word = u32::from_str_radix(words.next()?, 16).ok()?;
        bytes.copy_from_slice(&word.to_le_bytes());
    }
    words.next().is_none().then_some(key)
}

/// The client's memory of its server (RFC 7413 §4.1.3), as Linux's `tcp_fastopen_cache_set` does
/// it.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Memory {
    known: FastOpenClient,
    /// A SYN that asked in the form of the standard had no cookie for an answer, and then one in that of the experiment.
    tried: u8,
}

impl Memory {
    /// The Fast Open settings of the next connection.
    pub(super) const fn client(&self, plan: &FastOpenPlan) -> FastOpenClient {
        FastOpenClient {
            without_cookie: plan.without_cookie(),
            experimental: match self.known.cookie {
                Some(_) => self.known.experimental,
                None => self.tried == 1,
            },
            ..self.known
        }
    }

    /// Learns from a connection that was opened with `asked`, once its SYN-ACK is there.
    pub(super) fn learn(&mut self, asked: &FastOpenClient, endpoint: &Endpoint) {
        let Some(peer) = endpoint.peer_options() else { return };
        self.known.peer_mss = peer.mss.or(self.known.peer_mss);
        let answer = peer.fast_open.filter(|option| option.cookie.is_some());
        if asked.without_cookie {
            return;
        }
        if let Some(option) = answer {
            self.known.cookie = option.cookie;
            self.known.experimental = option.experimental;
        } else if asked.cookie.is_none() && endpoint.syns_sent() == 1 {
            self.tried = self.tried.max(if asked.experimental { 2 } else { 1 });
        }
    }
}
