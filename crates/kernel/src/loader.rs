//! The loader: objects into the kernel, by libbpf.
#![expect(unsafe_code, reason = "two functions of libbpf that its wrapper does not have")]

use std::ffi::CStr;
use std::fs;
use std::io;
use std::ptr::NonNull;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU32, Ordering};
use std::thread;

use libbpf_rs::libbpf_sys;
use libbpf_rs::{
    AsRawLibbpf as _, Link, MapCore as _, MapHandle, MapType, Object, ObjectBuilder, OpenObject,
    PrintLevel, ProgramMut, RingBufferBuilder, set_print,
};

use crate::base::programs::Program;
use crate::held::{LOOK_EVERY, Loaded, LoadedLaw};
use crate::{Asked, KernelError, Law, Parts, libelf};

pub use crate::registered::{Registered, registered, unload};

/// Room for what the verifier says of one program: its sums, or why it refuses.
const LOG: usize = 1 << 16;
/// `BPF_LOG_STATS`: the verifier's sums, without its path through the program.
const LOG_SUMS: u32 = 4;
/// The congestion controls that the kernel has.
const AVAILABLE: &str = "/proc/sys/net/ipv4/tcp_available_congestion_control";
/// Tries to find a name that no other run has.
const NAMES: u32 = 64;

/// The reason why nothing can be loaded on this machine.
pub fn lacks() -> Option<String> {
    let message = "libelf.so.1 is not on this machine; apt install libelf1";
    (!libelf::is_there()).then(|| message.to_owned())
}

/// The last warnings of libbpf.
static SAID: Mutex<Vec<String>> = Mutex::new(Vec::new());

fn note(_: PrintLevel, text: String) {
    if let Ok(mut said) = SAID.lock() {
        said.push(text);
    }
}

/// An object on its way into the kernel: opened, its name set.
struct Opened {
    object: OpenObject,
    logs: Vec<Vec<u8>>,
}

/// Opens the object of `law`; `held` if a link is to hold it, without which it stays until it is removed.
fn open(
    law: &'static Law,
    name: &str,
    settings: Option<[u32; 4]>,
    parts: Option<Parts>,
    held: bool,
) -> Result<Opened, KernelError> {
    let refused = |why: String| KernelError::Refused { name: law.name.to_owned(), why };
    // Another process's settings of libbpf are none of ours: it is linked into this library alone.
    set_print(Some((PrintLevel::Warn, note)));
    if let Ok(mut said) = SAID.lock() {
        said.clear();
    }
    let bytes = law.object.to_vec();
    let mut object =
        ObjectBuilder::default().open_memory(&bytes).map_err(|error| refused(error.to_string()))?;
    let own = format!("ack_{}\0", law.name);
    for mut map in object.maps_mut() {
        if map.map_type() == MapType::StructOps {
            if !held {
                map.set_map_flags(0).map_err(|error| refused(error.to_string()))?;
            }
            rename(map.initial_value_mut().unwrap_or_default(), &own, name)
                .ok_or_else(|| refused("the object has no name".to_owned()))?;
        } else {
            let name = map.name().to_string_lossy().into_owned();
            let words: Vec<u32> = match (settings, parts) {
                (Some(settings), _) if name.ends_with("settings") => settings.to_vec(),
                (_, Some(parts)) if name.ends_with("parts") => parts.words().to_vec(),
                _ => continue,
            };
            let bytes: Vec<u8> = words.iter().flat_map(|n| n.to_ne_bytes()).collect();
            map.set_initial_value(&bytes).map_err(|error| refused(error.to_string()))?;
        }
    }
    let mut logs = Vec::new();
    for mut program in object.progs_mut() {
        let mut log = vec![0_u8; LOG];
        // SAFETY: the buffer lives in `Opened` until the programs are loaded, which is when libbpf writes to it.
        unsafe {
            let program = program.as_libbpf_object().as_ptr();
            libbpf_sys::bpf_program__set_log_buf(program, log.as_mut_ptr().cast(), LOG as u64);
        }
        program.set_log_level(LOG_SUMS);
        logs.push(log);
    }
    Ok(Opened { object, logs })
}

/// Puts `name` in the place of `own` and its final zero.
fn rename(value: &mut [u8], own: &str, name: &str) -> Option<()> {
    let at = value.windows(own.len()).position(|part| part == own.as_bytes())?;
    let room = value.get_mut(at..at + 16)?;
    room.fill(0);
    room.get_mut(..name.len())?.copy_from_slice(name.as_bytes());
    Some(())
}

impl Opened {
    /// Gives the programs to the verifier.
    fn load(self, law: &'static Law, name: &str) -> Result<(Object, Loaded), KernelError> {
        let Self { object, logs } = self;
        let text = |log: &[u8]| {
            CStr::from_bytes_until_nul(log)
                .map_or_else(|_| String::new(), |log| log.to_string_lossy().into_owned())
        };
        match object.load() {
            Ok(object) => {
                let logs: Vec<String> = logs.iter().map(|log| text(log)).collect();
                let followed = logs.iter().filter_map(|log| {
                    let (_, sums) = log.rsplit_once("processed ")?;
                    sums.split(' ').next()?.parse::<u64>().ok()
                });
                let loaded = Loaded {
                    name: name.to_owned(),
                    object: law.name,
                    hash: law.hash(),
                    log_bytes: logs.iter().map(String::len).sum(),
                    instructions: followed.sum(),
                };
                Ok((object, loaded))
            }
            Err(error) => {
                let said = SAID.lock().map(|said| said.join("")).unwrap_or_default();
                let logged = logs.iter().map(|log| text(log)).find(|log| !log.is_empty());
                let last = logged.as_deref().unwrap_or(&said).lines().rev();
                let mut last = last.map(str::trim).filter(|line| {
                    !line.is_empty() && !line.starts_with("processed") && !line.starts_with("--")
                });
                let why = last
                    .next()
                    .map_or_else(|| error.to_string(), |line| format!("{line} ({error})"));
                Err(KernelError::Refused { name: law.name.to_owned(), why })
            }
        }
    }
}

/// Loads the programs of `program`, and attaches none.
pub(crate) fn load_program(program: &Program) -> Result<Object, KernelError> {
    load_changed(program, |_| Ok(()))
}

/// Loads the programs of `program`, attaches none, and registers its law `own` under a name that no other run has.
pub(crate) fn load_with_law(
    program: &Program,
    own: &str,
) -> Result<(Object, Link, String), KernelError> {
    let process = std::process::id().wrapping_mul(0x9e37);
    let zeroed = format!("{own}\0");
    for _ in 0..NAMES {
        let number = process.wrapping_add(NEXT.fetch_add(1, Ordering::Relaxed));
        let name = format!("{own}{:04x}", number & 0xffff);
        let mut object = load_changed(program, |object| {
            let mut maps = object.maps_mut();
            let mut map = maps
                .find(|map| map.map_type() == MapType::StructOps)
                .ok_or_else(|| program.refused("the object has no law"))?;
            rename(map.initial_value_mut().unwrap_or_default(), &zeroed, &name)
                .ok_or_else(|| program.refused("the object has no name"))
        })?;
        match registers(&mut object) {
            Err(error) if error.kind() == libbpf_rs::ErrorKind::AlreadyExists => {}
            Err(error) => return Err(program.refused(error)),
            Ok(link) => return Ok((object, link, name)),
        }
    }
    Err(program.refused("every name is taken"))
}

fn load_changed(
    program: &Program,
    change: impl FnOnce(&mut OpenObject) -> Result<(), KernelError>,
) -> Result<Object, KernelError> {
    set_print(Some((PrintLevel::Warn, note)));
    if let Ok(mut said) = SAID.lock() {
        said.clear();
    }
    let bytes = program.object.to_vec();
    let opened = ObjectBuilder::default().open_memory(&bytes);
    let mut opened = opened.map_err(|error| program.refused(error))?;
    change(&mut opened)?;
    opened.load().map_err(|error| {
        let said = SAID.lock().map(|said| said.join("")).unwrap_or_default();
        let mut lines = said.lines().rev().map(str::trim);
        let line = lines.find(|line| {
            let noise = ["processed", "--", "libbpf:"];
            !line.is_empty() && !noise.iter().any(|word| line.starts_with(word))
        });
        program.refused(line.map_or_else(|| error.to_string(), |line| format!("{line} ({error})")))
    })
}

/// The program `name` of `object`.
pub(crate) fn program<'obj>(object: &'obj Object, name: &str) -> Option<ProgramMut<'obj>> {
    object.progs_mut().find(|program| program.name() == name)
}

/// Attaches `program` to a device of this thread's network namespace, on the side that its section says: by a link of the
/// kernel's tcx, which needs no queueing discipline and is gone with this process.
pub(crate) fn attach_to_device(
    program: &ProgramMut<'_>,
    ifindex: u32,
) -> Result<Link, libbpf_rs::Error> {
    // SAFETY: a program that is loaded, and no options. The link that comes back is nobody else's.
    unsafe {
        let program = program.as_libbpf_object().as_ptr();
        let link =
            libbpf_sys::bpf_program__attach_tcx(program, ifindex.cast_signed(), std::ptr::null());
        // libbpf gives null and errno.
        let link =
            NonNull::new(link).ok_or_else(|| libbpf_rs::Error::from(io::Error::last_os_error()));
        link.map(|link| Link::from_ptr(link))
    }
}

fn registers(object: &mut Object) -> Result<Link, libbpf_rs::Error> {
    let mut maps = object.maps_mut();
    let mut map = maps
        .find(|map| map.map_type() == MapType::StructOps)
        .ok_or_else(|| libbpf_rs::Error::from_raw_os_error(libc::ENOENT))?;
    map.attach_struct_ops()
}

/// Asks the verifier about `law`, and registers nothing.
///
/// # Errors
/// It refuses.
pub fn verify(law: &'static Law) -> Result<(), KernelError> {
    let name = format!("ack_{}", law.name);
    open(law, &name, None, None, true)?.load(law, &name).map(drop)
}

pub(crate) fn checked() -> Result<(), KernelError> {
    crate::needs().map_or(Ok(()), |why| Err(KernelError::Lacks(why)))
}

/// Loads a law to stay until it is unloaded or the machine ends, under the name that its word gives.
///
/// The kernel holds it, and no file and no process: without a link in the map's flags the registration is one call of the
/// kernel, before which everything goes with this process, however that ends.
///
/// # Errors
/// A need of the machine or the process that is not met, or a law of this name that is there already.
pub fn load(asked: &Asked) -> Result<Loaded, KernelError> {
    checked()?;
    let name = asked.kernel_name()?;
    if available().split_whitespace().any(|there| there == name) {
        return Err(KernelError::Loaded(name));
    }
    let opened = open(asked.law, &name, asked.settings, asked.parts, false)?;
    let (mut object, loaded) = opened.load(asked.law, &name)?;
    let mut link = registers(&mut object).map_err(|error| refusal(&name, &error))?;
    link.disconnect();
    Ok(loaded)
}

fn available() -> String {
    fs::read_to_string(AVAILABLE).unwrap_or_default()
}

fn refusal(name: &str, error: &libbpf_rs::Error) -> KernelError {
    if error.kind() == libbpf_rs::ErrorKind::AlreadyExists {
        return KernelError::Loaded(name.to_owned());
    }
    KernelError::Refused { name: name.to_owned(), why: error.to_string() }
}

static NEXT: AtomicU32 = AtomicU32::new(0);

/// Loads a law for a run.
///
/// # Errors
/// A need of the machine or the process that is not met.
pub fn hold(asked: &Asked) -> Result<LoadedLaw, KernelError> {
    checked()?;
    let process = std::process::id().wrapping_mul(0x9e37);
    for _ in 0..NAMES {
        let name = asked.private_name(process.wrapping_add(NEXT.fetch_add(1, Ordering::Relaxed)));
        if available().split_whitespace().any(|there| there == name) {
            continue;
        }
        let opened = open(asked.law, &name, asked.settings, asked.parts, true)?;
        let (mut object, loaded) = opened.load(asked.law, &name)?;
        match registers(&mut object) {
            // Another process was faster.
            Err(error) if error.kind() == libbpf_rs::ErrorKind::AlreadyExists => {}
            Err(error) => return Err(refusal(&name, &error)),
            Ok(link) => {
                return held(loaded, object, link);
            }
        }
    }
    Err(KernelError::Loaded(asked.private_name(process)))
}

/// A law that goes with its link, whose records are read from the object's ring.
fn held(loaded: Loaded, object: Object, link: Link) -> Result<LoadedLaw, KernelError> {
    let refused = |why: String| KernelError::Refused { name: loaded.name.clone(), why };
    let map = object.maps().find(|map| map.map_type() == MapType::RingBuf);
    let map = map.ok_or_else(|| refused("the object has no records".to_owned()))?;
    let map = MapHandle::try_from(&map).map_err(|error| refused(error.to_string()))?;
    let read = move |is_over: &dyn Fn() -> bool, keep: &dyn Fn(&[u8])| {
        let mut builder = RingBufferBuilder::new();
        let taken = |bytes: &[u8]| {
            keep(bytes);
            0
        };
        if builder.add(&map, taken).is_err() {
            return;
        }
        if let Ok(ring) = builder.build() {
            while !is_over() {
                let _ = ring.consume();
                thread::sleep(LOOK_EVERY);
            }
            let _ = ring.consume();
        }
    };
    // The link first: it unregisters the law.
    Ok(LoadedLaw::new(loaded, Box::new((link, object)), read))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_kernel_takes_every_law_with_every_part() {
        if crate::needs().is_some() {
            return;
        }
        for law in crate::laws() {
            let rules = if law.takes_parts { 0..=4 } else { 0..=0 };
            for idle in rules {
                let parts = Parts { idle, rto_us: 500_000, syn: idle.min(2), ..Parts::default() };
                let name = format!("ack_{}", law.name);
                let parts = law.takes_parts.then_some(parts);
                let opened = open(law, &name, None, parts, true).unwrap();
                let refused = opened.load(law, &name).err();
                assert!(refused.is_none(), "{name}, {idle}: {refused:?}");
            }
        }
    }
}
