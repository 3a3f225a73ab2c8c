//! A script's settings, made in the kernel's namespace; what cannot be set in one is refused by name.

use std::fs;
use std::io;
use std::net::IpAddr;

use ackclock_script::Meaning;
use ackclock_tcp::{Profile, Variant};
use ackclock_units::Duration;

use super::namespace::{IPV4_NETWORK, IPV6_NETWORK};
use super::stack::KernelStack;
use crate::machine::net_ns::{set_sysctl, sysctl};
use crate::machine::netlink::{Netlink, RouteMetrics};

/// Words of our variants that say what the kernel does anyway.
const KERNEL_HABITS: [&str; 4] = ["sack", "rack", "prr", "linuxidle"];

const WHOLE_MACHINE: &str = "belongs to the whole machine, which is left as it is";

impl KernelStack<'_> {
    /// Sets `name`.
    pub(super) fn apply(&mut self, name: &str, value: &str) -> Result<Meaning, String> {
        if let Some((module, parameter)) = name.split_once('.')
            && module.starts_with("tcp_")
        {
            return parameter_of(module, parameter, value);
        }
        match name {
            "tcp_congestion_control" | "variant" => self.choose(name, value),
            "qdisc" if value == "fq" => {
                self.paced = true;
                Ok(Meaning::Nothing("the sockets pace by themselves, without `fq`"))
            }
            "qdisc" if value == "closed" => {
                Err("`qdisc` with `limit 0` is not set up below the kernel".to_owned())
            }
            "qdisc" => Ok(Meaning::Nothing("the device's own queue, which never fills")),
            "ip_version" => match value {
                "ipv4" => Ok(Meaning::Applied),
                "ipv6" => {
                    self.judge.set_up_ipv6().map_err(|error| format!("`ip_version`: {error}"))?;
                    self.set_ipv6();
                    Ok(Meaning::Applied)
                }
                _ => Err(format!("`ip_version={value}` is not set up for the kernel")),
            },
            "local_ip" | "remote_ip" => self.set_ip(name, value),
            "mtu" => self.set_mtu(name, value, 0),
            "mss" if self.ipv6 => self.set_mtu(name, value, 60),
            "mss" => self.set_mtu(name, value, 40),
            "initial_window" => {
                let segments = value.parse().map_err(|_| format!("`{name}` is no number"))?;
                let metrics =
                    RouteMetrics { initial_window: Some(segments), ..RouteMetrics::default() };
                self.set_route(name, &metrics)
            }
            "delayed_ack" if matches!(value, "0" | "1") => {
                self.set_route(name, &RouteMetrics { quick_ack: true, ..RouteMetrics::default() })
            }
            "min_rto" => self.set_micros(name, value, "tcp_rto_min_us", 1000),
            "max_rto" => self.set_micros(name, value, "tcp_rto_max_ms", 1_000_000),
            "initial_rto" if value.parse() == Ok(Duration::from_secs(1)) => Ok(Meaning::Applied),
            "abe" if value == "0" => Ok(Meaning::Applied),
            "abe"
            | "ecn_echo"
            | "initial_rto"
            | "delayed_ack"
            | "delayed_ack_timeout"
            | "receive_window" => Err(format!("the kernel has no setting `{name}`")),
            "net.core.default_qdisc" => Ok(Meaning::Nothing("the device has its own queue")),
            _ => self.set_sysctl(name, value),
        }
    }

    /// An address of the device, or one that is behind it.
    fn set_ip(&mut self, name: &str, value: &str) -> Result<Meaning, String> {
        let address: IpAddr = value.parse().map_err(|_| format!("`{name}` is no address"))?;
        let side = usize::from(name == "remote_ip");
        if address == self.address(side) {
            return Ok(Meaning::Applied);
        }
        if address.is_ipv6() != self.ipv6 || !self.judge.alone {
            return Err(format!("`{name}={value}` is not set up"));
        }
        let device = self.judge.device;
        let answer = self.judge.namespace.within(|| {
            let mut netlink = Netlink::open()?;
            if side == 0 {
                netlink.add_address(device, address)
            } else {
                netlink.add_route(device, alone(address), &RouteMetrics::default())
            }
        });
        answer.map_err(|error| format!("`{name}={value}`: {error}"))?;
        self.set_address(side, address);
        Ok(Meaning::Applied)
    }

    fn set_sysctl(&self, name: &str, value: &str) -> Result<Meaning, String> {
        let full =
            if name.starts_with("net.") { name.to_owned() } else { format!("net.ipv4.{name}") };
        let answer = self.judge.namespace.within(|| {
            if sysctl(&full)? == value.split_whitespace().collect::<Vec<_>>().join(" ") {
                return Ok(true);
            }
            if !self.judge.alone {
                return Ok(false);
            }
            set_sysctl(&full, value).map(|()| true)
        });
        match answer {
            Ok(true) => Ok(Meaning::Applied),
            Ok(false) => Err(format!("`{name}` is shared by connections that go on at once")),
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                if std::path::Path::new(&format!("/proc/sys/{}", full.replace('.', "/"))).exists() {
                    Ok(Meaning::NotYet(WHOLE_MACHINE))
                } else {
                    Err(format!("this kernel has no setting `{name}`"))
                }
            }
            Err(error) => Err(format!("`{name}={value}` cannot be set in a namespace ({error})")),
        }
    }

    fn set_micros(&self, name: &str, value: &str, to: &str, unit: u64) -> Result<Meaning, String> {
        let span: Duration = value.parse().map_err(|error| format!("`{name}`: {error}"))?;
        self.set_sysctl(to, &(span.as_nanos() / unit).to_string())
    }

    fn set_mtu(&self, name: &str, value: &str, headers: u32) -> Result<Meaning, String> {
        let bytes: u32 = value.parse().map_err(|_| format!("`{name}` is no number of bytes"))?;
        if !self.judge.alone {
            return Err(format!("`{name}` is shared by connections that go on at once"));
        }
        let device = self.judge.device;
        self.judge
            .namespace
            .within(|| Netlink::open()?.set_up(device, bytes + headers, 1))
            .map(|()| Meaning::Applied)
            .map_err(|error| format!("`{name}={value}`: {error}"))
    }

    fn set_route(&self, name: &str, metrics: &RouteMetrics) -> Result<Meaning, String> {
        if !self.judge.alone {
            return Err(format!("`{name}` is shared by connections that go on at once"));
        }
        let device = self.judge.device;
        let network = if let Some(remote) = self.addresses[1] {
            alone(remote)
        } else if self.ipv6 {
            (IPV6_NETWORK.0.into(), IPV6_NETWORK.1)
        } else {
            (IPV4_NETWORK.0.into(), IPV4_NETWORK.1)
        };
        self.judge
            .namespace
            .within(|| Netlink::open()?.replace_route(device, network, metrics))
            .map(|()| Meaning::Applied)
            .map_err(|error| format!("`{name}`: {error}"))
    }

    /// Chooses the congestion control: the kernel's by its name, or the one that a variant of ours is.
    fn choose(&mut self, name: &str, value: &str) -> Result<Meaning, String> {
        let there =
            self.judge.namespace.within(|| sysctl("net.ipv4.tcp_available_congestion_control"));
        let there = there.unwrap_or_default();
        let has = |law: &str| there.split(' ').any(|known| known == law);
        if has(value) {
            value.clone_into(&mut self.congestion_control);
            return Ok(Meaning::Applied);
        }
        let variant: Variant = value.parse().map_err(|error| format!("`{name}`: {error}"))?;
        let parts =
            variant.resolve(Profile::Linux).map_err(|error| format!("`{name}`: {error}"))?;
        let full = parts.name(Profile::Linux);
        let mut words = full.split('+');
        let law = words.next().unwrap_or_default();
        let Some(kernels) = parts.growth.in_linux().filter(|law| has(law)) else {
            return Err(format!("this kernel has no congestion control `{law}` (it has {there})"));
        };
        let mut meaning = Meaning::Applied;
        for word in words {
            if let Some(segments) = word.strip_prefix("iw").and_then(|word| word.parse().ok()) {
                let metrics =
                    RouteMetrics { initial_window: Some(segments), ..RouteMetrics::default() };
                self.set_route(name, &metrics)?;
            } else if KERNEL_HABITS.contains(&word) {
                meaning = Meaning::NotYet("the kernel recovers in its own way");
            } else {
                return Err(format!("the kernel's `{kernels}` comes without `+{word}`"));
            }
        }
        kernels.clone_into(&mut self.congestion_control);
        Ok(meaning)
    }
}

/// The network of one address.
const fn alone(address: IpAddr) -> (IpAddr, u8) {
    (address, if address.is_ipv6() { 128 } else { 32 })
}

/// A parameter of a module, which can be looked at alone.
fn parameter_of(module: &str, parameter: &str, value: &str) -> Result<Meaning, String> {
    let path = format!("/sys/module/{module}/parameters/{parameter}");
    match fs::read_to_string(path) {
        Ok(found) if found.trim() == value => Ok(Meaning::Applied),
        Ok(found) => Err(format!(
            "`{module}.{parameter}` is {} and {WHOLE_MACHINE}; the script wants {value}",
            found.trim()
        )),
        Err(_) => Err(format!("this kernel has no parameter `{module}.{parameter}`")),
    }
}
