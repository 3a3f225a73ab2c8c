//! Laws of ours that are a part of the kernel: `ackclock linux build` compiles them into one (`bpf/built_in`).

use std::fs::{self, File};
use std::io::{self, Read as _, Write as _};
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::thread;

use crate::base::laws::{SOURCES, hash_of_sources};
use crate::base::record::SIZE;
use crate::held::{LOOK_EVERY, Loaded, LoadedLaw};
use crate::{Asked, KernelError};

/// The device of such a kernel.
const DEVICE: &str = "/dev/ackclock";
/// Tries to find a name that no other run has.
const NAMES: u32 = 64;
/// Records that are read at once.
const AT_ONCE: usize = 512;

/// True if this kernel has laws of ours as a part of it.
pub fn is_there() -> bool {
    fs::metadata(DEVICE).is_ok()
}

/// The sources of the laws as a part of a kernel: the name of each file in its folder, and its text.
pub fn sources() -> impl Iterator<Item = (&'static str, &'static str)> {
    SOURCES.iter().copied()
}

/// Why this kernel does not take `object`; `None` if it does.
pub(crate) fn refuses(object: &str) -> Option<String> {
    let names = fs::read_to_string(DEVICE).unwrap_or_default();
    (!names.lines().any(|name| name == object))
        .then(|| format!("{object}: it is no part of this kernel"))
}

/// Registers a law for a run: until the device is closed.
///
/// # Errors
/// This kernel does not have the law, or does not take it.
pub(crate) fn hold(asked: &Asked) -> Result<LoadedLaw, KernelError> {
    static NEXT: AtomicU32 = AtomicU32::new(0);
    let refused = |why: String| KernelError::Refused { name: asked.law.name.to_owned(), why };
    if let Some(why) = refuses(asked.law.name) {
        return Err(KernelError::Lacks(why));
    }
    for _ in 0..NAMES {
        let name = asked.private_name(NEXT.fetch_add(1, Ordering::Relaxed));
        let opened = File::options().read(true).write(true).open(DEVICE);
        let mut device = opened.map_err(|error| refused(error.to_string()))?;
        match device.write_all(line(asked, &name).as_bytes()) {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => continue,
            Err(error) => return Err(refused(error.to_string())),
            Ok(()) => {}
        }
        let loaded = Loaded {
            name,
            object: asked.law.name,
            hash: hash_of_sources(),
            log_bytes: 0,
            instructions: 0,
        };
        let device = Arc::new(device);
        let reading = Arc::clone(&device);
        let read = move |is_over: &dyn Fn() -> bool, keep: &dyn Fn(&[u8])| loop {
            let last = is_over();
            let mut bytes = vec![0; AT_ONCE * SIZE];
            while let Ok(n @ 1..) = (&*reading).read(&mut bytes) {
                bytes[..n].chunks_exact(SIZE).for_each(keep);
            }
            if last {
                return;
            }
            thread::sleep(LOOK_EVERY);
        };
        return Ok(LoadedLaw::new(loaded, Box::new(device), read));
    }
    Err(KernelError::Loaded(asked.private_name(0)))
}

/// The line by which a law is registered under a name (`bpf/built_in/device.c`).
fn line(asked: &Asked, name: &str) -> String {
    let numbers = |letter: &str, numbers: &[u32]| {
        numbers.iter().fold(format!(" {letter}"), |line, number| format!("{line} {number}"))
    };
    let settings = asked.settings.map(|words| numbers("s", &words)).unwrap_or_default();
    let parts = asked.parts.map(|parts| numbers("p", &parts.words())).unwrap_or_default();
    format!("{} {name}{settings}{parts}", asked.law.name)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::find;

    #[test]
    fn a_law_is_registered_by_a_line_with_its_numbers() {
        let of = |word: &str| line(&find(word).unwrap(), "ack_x");
        assert_eq!(of("tahoe"), "tahoe ack_x");
        assert_eq!(of("ccpd(1.25,2000,literal)"), "ccp ack_x s 1250 2000 1 0");
        assert_eq!(of("reno+newcwv+tsl(3,16)"), "reno_linux ack_x p 4 0 1 10 3 16");
    }

    #[test]
    fn every_law_of_ours_is_a_source_and_recorders_are_none() {
        let laws = sources().find(|(name, _)| *name == "laws").unwrap().1;
        for law in crate::laws() {
            let file = format!("{}.o", law.name);
            assert_eq!(laws.split_whitespace().any(|word| word == file), law.wraps.is_empty());
        }
        assert!(sources().any(|(name, _)| name == "constants.h"));
    }
}
