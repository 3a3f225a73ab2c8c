//! A player of a file from a web server: the simulator's player, over an ordinary socket.
//!
//! One GET of HTTP/1.1 (RFC 9110, RFC 9112), whose answer has a length. The player takes from the socket what its
//! buffer has room for, so that the window closes, and counts what it counts in a simulation.

use std::io::{self, ErrorKind, Read, Write};
use std::net::{TcpStream, ToSocketAddrs};
use std::thread;
use std::time::{Duration as StdDuration, Instant as StdInstant};

use ackclock_app::video::Player;
use ackclock_units::{Bytes, Duration, Instant};
use serde::Serialize;

/// The longest wait for a server to accept the connection, and to go on sending.
const PATIENCE: StdDuration = StdDuration::from_secs(30);
/// The interval between checks for cancellation.
const LOOK: StdDuration = StdDuration::from_millis(200);
/// The longest head of an answer.
const MOST_HEAD: usize = 64 << 10;

/// The plan of a playback.
#[derive(Clone, Debug)]
pub struct PlayPlan {
    /// The address of the file: `http://HOST[:PORT]/PATH`.
    pub url: String,
    /// The longest time of play.
    pub limit: Option<StdDuration>,
}

/// The result of a playback, with the columns of the table `videos`; times count from the opening of the connection.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Played {
    /// Pictures of the video.
    pub pictures: u64,
    /// Those that were shown.
    pub shown: u64,
    /// Those of them that were shown later than if play had never stopped.
    pub late: u64,
    /// Those that were discarded, because a part of them was missing at their deadline.
    pub discarded: u64,
    /// The number of times that the playout buffer ran empty.
    pub underflows: u64,
    /// The time for which play stood still.
    pub stall_s: f64,
    /// The time to the first picture; null before it.
    pub startup_s: Option<f64>,
    /// The time at which the last picture was over; null before it.
    pub finished_s: Option<f64>,
    /// Bytes of pictures that the player took.
    pub taken_bytes: u64,
    /// Those that had arrived when play began; null before it.
    pub start_bytes: Option<u64>,
    /// The size of the playout buffer in the end.
    pub buffer_bytes: u64,
    /// The length that the server told.
    pub content_bytes: u64,
}

/// Why nothing is played: one line.
#[derive(Debug, thiserror::Error)]
pub enum PlayError {
    /// The address cannot be read.
    #[error("{0}")]
    Url(String),
    /// The server's answer is none that can be played.
    #[error("{url}: {what}")]
    Answer {
        /// The address.
        url: String,
        /// The answer, or the fault in it.
        what: String,
    },
    /// The connection failed.
    #[error("{url}: {error}")]
    Failed {
        /// The address.
        url: String,
        /// The machine's error.
        error: io::Error,
    },
    /// The run was asked to stop.
    #[error("interrupted")]
    Cancelled,
}

/// The parts of an address.
#[derive(Debug, PartialEq, Eq)]
struct UrlParts<'a> {
    /// The host and port as the address has them, for the field `Host`.
    authority: &'a str,
    host: &'a str,
    port: u16,
    path: &'a str,
}

/// Reads an address (RFC 9110 section 4.2.1).
fn place(url: &str) -> Result<UrlParts<'_>, PlayError> {
    let wrong = || PlayError::Url(format!("`{url}`: expected http://HOST[:PORT]/PATH"));
    let rest = url.strip_prefix("http://").ok_or_else(wrong)?;
    let (authority, path) = rest.find('/').map_or((rest, "/"), |at| rest.split_at(at));
    let bare = authority.strip_prefix('[').and_then(|rest| rest.split_once(']'));
    let (host, port) = match bare {
        Some((host, port)) => (host, port.strip_prefix(':')),
        None => authority.split_once(':').map_or((authority, None), |(h, port)| (h, Some(port))),
    };
    let port = port.map_or(Ok(80), str::parse).map_err(|_| wrong())?;
    let plain = |text: &str| !text.is_empty() && text.bytes().all(|b| b.is_ascii_graphic());
    if !plain(host) || !plain(path) {
        return Err(wrong());
    }
    Ok(UrlParts { authority, host, port, path })
}

/// The length of what follows a head, or what the head says instead (RFC 9112 sections 4 and 6).
fn content_length(head: &str) -> Result<u64, String> {
    let mut lines = head.split("\r\n");
    let status = lines.next().unwrap_or_default();
    let mut words = status.splitn(3, ' ');
    if !words.next().is_some_and(|version| version.starts_with("HTTP/1.")) {
        return Err("the server does not speak HTTP/1.1".to_owned());
    }
    if words.next() != Some("200") {
        let said: String = status.chars().filter(|c| !c.is_control()).take(100).collect();
        return Err(format!("the server answered `{said}`, expected 200"));
    }
    let mut length = None;
    for line in lines {
        let field = line.split_once(':').filter(|(name, _)| is_token(name));
        let Some((name, value)) = field else {
            // Also a line that goes on (obsolete folding), and a blank before the colon (RFC 9112 sections 5.1 and
            // 5.2).
            return Err("the server's answer has a line that is no field".to_owned());
        };
        if name.eq_ignore_ascii_case("transfer-encoding") {
            // It would overrule a length (section 6.3), and a file in chunks is not played.
            return Err(
                "the server answered with a Transfer-Encoding, expected a Content-Length alone"
                    .to_owned(),
            );
        }
        if !name.eq_ignore_ascii_case("content-length") {
            continue;
        }
        let value = value.trim_matches([' ', '\t']);
        // Digits alone (RFC 9110 section 8.6): no sign, no list, and no more than a file can have.
        let digits = !value.is_empty() && value.bytes().all(|byte| byte.is_ascii_digit());
        let bytes = value.parse::<u64>().ok().filter(|_| digits);
        match (length, bytes) {
            (_, None) => return Err("the server's Content-Length is no length".to_owned()),
            (Some(_), _) => return Err("the server told more than one Content-Length".to_owned()),
            (None, Some(bytes)) => length = Some(bytes),
        }
    }
    length.ok_or_else(|| "the server told no Content-Length".to_owned())
}

/// True if it can be the name of a field (RFC 9110 section 5.6.2).
fn is_token(name: &str) -> bool {
    let of_token = |byte: u8| byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&byte);
    !name.is_empty() && name.bytes().all(of_token)
}

/// Plays a file until its end, the limit of `plan`, or until `cancelled`.
///
/// What the file has more than the pictures of `player` is held to lie before them, as the index of an
/// MP4 file made for the web does; it is received and not counted.
///
/// # Errors
/// The address, the connection, or an answer that cannot be played; a cancellation.
pub fn play(
    plan: &PlayPlan,
    mut player: Player,
    cancelled: impl Fn() -> bool,
) -> Result<Played, PlayError> {
    let place = place(&plan.url)?;
    let failed = |error| PlayError::Failed { url: plan.url.clone(), error };
    let answer = |what| PlayError::Answer { url: plan.url.clone(), what };
    let opened = crate::base::wall_clock::now();
    let mut stream = open(&place).map_err(failed)?;
    let request = format!(
        "GET {} HTTP/1.1\r\nHost: {}\r\nUser-Agent: ackclock/{}\r\nAccept: */*\r\nConnection: close\r\n\r\n",
        place.path,
        place.authority,
        env!("CARGO_PKG_VERSION")
    );
    stream.write_all(request.as_bytes()).map_err(failed)?;
    let head = head(&mut stream).map_err(failed)?;
    let content = content_length(&head).map_err(answer)?;
    let volume = player.pictures().volume().get();
    let Some(before) = content.checked_sub(volume) else {
        let what = format!("{content} bytes, fewer than the {volume} of its pictures");
        return Err(answer(what));
    };
    let mut session =
        Download { opened, stream, player: &mut player, before, left: content, start: None };
    session.run(plan.limit, &cancelled).map_err(|error| match error.kind() {
        ErrorKind::Interrupted => PlayError::Cancelled,
        _ => failed(error),
    })?;
    let (start, now) = (session.start, session.now());
    let report = player.report(now);
    Ok(Played {
        pictures: player.pictures().count() as u64,
        shown: report.shown,
        late: report.late,
        discarded: report.discarded,
        underflows: report.underflows,
        stall_s: report.stalled.as_secs_f64(),
        startup_s: report.began.map(Instant::as_secs_f64),
        finished_s: report.finished.map(Instant::as_secs_f64),
        taken_bytes: player.taken().get(),
        start_bytes: start,
        buffer_bytes: report.buffer.get(),
        content_bytes: content,
    })
}

fn open(place: &UrlParts<'_>) -> io::Result<TcpStream> {
    let mut why = io::Error::other("the host has no address");
    for address in (place.host, place.port).to_socket_addrs()? {
        match TcpStream::connect_timeout(&address, PATIENCE) {
            Ok(stream) => {
                stream.set_read_timeout(Some(PATIENCE))?;
                return Ok(stream);
            }
            Err(error) => why = error,
        }
    }
    Err(why)
}

/// Reads the head of an answer, and nothing of what follows it.
fn head(stream: &mut TcpStream) -> io::Result<String> {
    let begun = crate::base::wall_clock::now();
    let mut bytes = vec![0; MOST_HEAD];
    loop {
        let seen = stream.peek(&mut bytes)?;
        let end = bytes[..seen].windows(4).position(|four| four == b"\r\n\r\n");
        if let Some(end) = end {
            stream.read_exact(&mut bytes[..end + 4])?;
            bytes.truncate(end);
            return Ok(String::from_utf8_lossy(&bytes).into_owned());
        }
        if seen == 0 {
            return Err(io::Error::other("the server closed before it answered"));
        }
        if seen == MOST_HEAD || begun.elapsed() > PATIENCE {
            return Err(io::Error::other("the server's answer has no end of its head"));
        }
        // What has come is there to be looked at again, with what follows.
        thread::sleep(StdDuration::from_millis(1));
    }
}

/// A file on its way to a player.
struct Download<'a> {
    opened: StdInstant,
    stream: TcpStream,
    player: &'a mut Player,
    /// Bytes that still come before the pictures, and all that still come.
    before: u64,
    left: u64,
    /// Bytes that had arrived when play began.
    start: Option<u64>,
}

impl Download<'_> {
    fn now(&self) -> Instant {
        let nanos = u64::try_from(self.opened.elapsed().as_nanos()).unwrap_or(u64::MAX);
        Instant::from_nanos(nanos)
    }

    /// Has the player do what is due.
    fn poll(&mut self) -> Option<Instant> {
        let next = self.player.poll(self.now());
        if self.start.is_none() && self.player.has_begun() {
            self.start = Some(self.player.taken().get() + waiting(&self.stream));
        }
        next
    }

    fn run(&mut self, limit: Option<StdDuration>, cancelled: &impl Fn() -> bool) -> io::Result<()> {
        let mut buffer = vec![0; 1 << 16];
        let mut heard = crate::base::wall_clock::now();
        loop {
            let next = self.poll();
            let now = self.now();
            let over = self.player.report(now).finished.is_some() && self.left == 0;
            let until = limit.map(|limit| limit.saturating_sub(self.opened.elapsed()));
            if over || until == Some(StdDuration::ZERO) {
                return Ok(());
            }
            if cancelled() {
                return Err(ErrorKind::Interrupted.into());
            }
            let due = next.map_or(LOOK, |at| nap(at.since(now.min(at))));
            let wait = due.min(LOOK).min(until.unwrap_or(LOOK));
            let wanted = match self.before {
                0 => self.player.room().get().min(self.left),
                before => before,
            };
            if wanted == 0 {
                heard = crate::base::wall_clock::now();
                thread::sleep(wait);
                continue;
            }
            // The kernel rounds to its ticks; what comes late is told from what does not by the clock.
            self.stream.set_read_timeout(Some(wait.max(StdDuration::from_millis(1))))?;
            let most = usize::try_from(wanted).unwrap_or(usize::MAX).min(buffer.len());
            match self.stream.read(&mut buffer[..most]) {
                Ok(0) => {
                    let left = self.left;
                    return Err(io::Error::other(format!("closed with {left} bytes to come")));
                }
                Ok(len) => {
                    heard = crate::base::wall_clock::now();
                    // Whatever was due before this came is decided without it.
                    self.poll();
                    self.take(len as u64);
                }
                Err(error)
                    if matches!(
                        error.kind(),
                        ErrorKind::WouldBlock | ErrorKind::TimedOut | ErrorKind::Interrupted
                    ) =>
                {
                    if heard.elapsed() > PATIENCE {
                        let seconds = PATIENCE.as_secs();
                        return Err(io::Error::other(format!("nothing came for {seconds} s")));
                    }
                }
                Err(error) => return Err(error),
            }
        }
    }

    fn take(&mut self, bytes: u64) {
        self.left -= bytes;
        let skipped = bytes.min(self.before);
        self.before -= skipped;
        self.player.take(Bytes::new(bytes - skipped));
    }
}

fn nap(wait: Duration) -> StdDuration {
    StdDuration::from_nanos(wait.as_nanos())
}

/// Bytes that have come and were not read.
#[cfg(target_os = "linux")]
fn waiting(stream: &TcpStream) -> u64 {
    crate::sys::waiting(stream).unwrap_or(0) as u64
}

/// Elsewhere there is no safe word for it.
#[cfg(not(target_os = "linux"))]
fn waiting(_: &TcpStream) -> u64 {
    0
}

#[cfg(test)]
mod tests {
    use std::net::TcpListener;

    use ackclock_app::video::{Pictures, PlayerSettings};

    use super::*;

    #[test]
    fn addresses_are_taken_apart() {
        let found = place("http://10.0.0.1:8080/a/film.mp4?x=1").unwrap();
        let expected = UrlParts {
            authority: "10.0.0.1:8080",
            host: "10.0.0.1",
            port: 8080,
            path: "/a/film.mp4?x=1",
        };
        assert_eq!(found, expected);
        assert_eq!(place("http://[::1]/").unwrap().host, "::1");
        assert_eq!(place("http://host").unwrap().port, 80);
        for wrong in ["https://host/", "host/x", "http://", "http://h:x/", "http://h/a b"] {
            assert!(place(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn a_head_tells_a_length_or_why_not() {
        let head = |fields: &str| content_length(&format!("HTTP/1.1 200 OK\r\n{fields}"));
        assert_eq!(head("Server: x\r\ncontent-LENGTH:  42"), Ok(42));
        assert!(head("Transfer-Encoding: chunked").is_err());
        // Heads that others read another way: what cannot be relied on is refused (RFC 9112 section 6.3).
        let more = "the server told more than one Content-Length";
        assert_eq!(head("Content-Length: 42\r\nContent-Length: 43"), Err(more.to_owned()));
        assert_eq!(head("Content-Length: 42\r\ncontent-length: 42"), Err(more.to_owned()));
        let both = "the server answered with a Transfer-Encoding, expected a Content-Length alone";
        assert_eq!(head("Content-Length: 42\r\nTransfer-Encoding: chunked"), Err(both.to_owned()));
        let none = "the server's Content-Length is no length";
        // The last is 2^64.
        for value in ["-42", "+42", "42, 42", "0x2a", "4 2", "", "18446744073709551616"] {
            assert_eq!(head(&format!("Content-Length: {value}")), Err(none.to_owned()), "{value}");
        }
        assert_eq!(head("Content-Length: 18446744073709551615"), Ok(u64::MAX));
        let line = "the server's answer has a line that is no field";
        for fields in
            ["Content-Length : 42", "X: a\r\n Content-Length: 42", "Content-Length", ": 42"]
        {
            assert_eq!(head(fields), Err(line.to_owned()), "{fields}");
        }
        let missing = content_length("HTTP/1.1 404 Not Found\r\nContent-Length: 5").unwrap_err();
        assert_eq!(missing, "the server answered `HTTP/1.1 404 Not Found`, expected 200");
        assert!(content_length("SSH-2.0-x").is_err());
    }

    /// A server on the loopback device that answers with `head`, then with each of `parts` after so many
    /// milliseconds.
    fn served(head: &'static str, parts: Vec<(u64, usize)>) -> String {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        thread::spawn(move || {
            let (mut stream, _) = listener.accept().unwrap();
            let mut request = [0; 1024];
            let len = stream.read(&mut request).unwrap();
            assert!(request[..len].starts_with(b"GET /film HTTP/1.1\r\n"));
            stream.write_all(head.as_bytes()).unwrap();
            for (wait, len) in parts {
                thread::sleep(StdDuration::from_millis(wait));
                stream.write_all(&vec![b'x'; len]).unwrap();
            }
        });
        format!("http://{address}/film")
    }

    /// A player of ten pictures of 100 bytes, 20 ms apart, that begins with two of them.
    fn player() -> Player {
        let pictures = Pictures::new(&[100; 10], Duration::from_millis(20)).unwrap();
        let settings = PlayerSettings {
            buffer: Bytes::new(1000),
            start: Bytes::new(200),
            resume: Bytes::new(200),
            catch_up: 1.0,
            resize: None,
        };
        Player::new(settings, pictures).unwrap()
    }

    fn played(url: String) -> Result<Played, PlayError> {
        play(&PlayPlan { url, limit: None }, player(), || false)
    }

    #[test]
    fn a_film_that_comes_in_time_is_shown_whole() {
        // 40 bytes before the pictures, as an index.
        let url = served("HTTP/1.1 200 OK\r\nContent-Length: 1040\r\n\r\n", vec![(0, 1040)]);
        let played = played(url).unwrap();
        assert_eq!((played.shown, played.discarded, played.underflows), (10, 0, 0));
        assert_eq!((played.taken_bytes, played.content_bytes), (1000, 1040));
        // Ten pictures of 20 ms each, from the first.
        let lasted = played.finished_s.unwrap() - played.startup_s.unwrap();
        assert!((lasted - 0.2).abs() < 1e-9, "{lasted}");
    }

    #[test]
    fn what_comes_too_late_is_discarded_or_stalls() {
        // Two pictures and a half, then a silence of 300 ms: the half is discarded at 40 ms, the fourth is
        // due at 60 ms with nothing there, and play stands still for about 240 ms.
        let url =
            served("HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\n", vec![(0, 250), (300, 750)]);
        let played = played(url).unwrap();
        assert_eq!((played.shown, played.discarded, played.underflows), (9, 1, 1));
        assert!((0.2..0.5).contains(&played.stall_s), "{}", played.stall_s);
        assert_eq!(played.late, 7);
    }

    #[test]
    fn answers_that_cannot_be_played_are_told() {
        let short = served("HTTP/1.1 200 OK\r\nContent-Length: 999\r\n\r\n", vec![]);
        assert!(
            played(short).unwrap_err().to_string().ends_with("fewer than the 1000 of its pictures")
        );
        let cut = served("HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\n", vec![(0, 400)]);
        assert!(played(cut).unwrap_err().to_string().ends_with("closed with 600 bytes to come"));
    }
}
