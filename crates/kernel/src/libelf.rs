//! libelf, looked up when the first law is opened.
//!
//! libbpf calls these functions. Defined here they are linked before the library's own, so that the compiled package does not
//! ask for libelf when it is loaded: on a machine without `libelf.so.1` everything but laws in the kernel works, and the
//! command says what to install. Of zlib libbpf reads the kernel's configuration alone, which no law asks for.
#![expect(unsafe_code, reason = "functions of a C library, by name")]

use std::ffi::{CStr, c_char, c_int, c_void};
use std::sync::OnceLock;

/// The library, open until the process ends; null if it is not there.
struct Library(*mut c_void);

// SAFETY: the handle is never changed, and dlsym(3) may be called from any thread.
unsafe impl Send for Library {}
// SAFETY: as above.
unsafe impl Sync for Library {}

static LIBRARY: OnceLock<Library> = OnceLock::new();

fn library() -> *mut c_void {
    let open = || {
        // SAFETY: the name ends in zero. Nothing runs in libelf when it is opened.
        Library(unsafe { libc::dlopen(c"libelf.so.1".as_ptr(), libc::RTLD_NOW | libc::RTLD_LOCAL) })
    };
    LIBRARY.get_or_init(open).0
}

/// True if the library is on this machine.
pub fn is_there() -> bool {
    !library().is_null()
}

/// The address of a function of the library.
///
/// # Panics
/// There is no library, or no such function in it: [`is_there`] is asked before anything that calls one.
fn function(name: &CStr) -> *mut c_void {
    let library = library();
    assert!(!library.is_null(), "libelf.so.1 is not there");
    // SAFETY: an open library, and a name that ends in zero.
    let found = unsafe { libc::dlsym(library, name.as_ptr()) };
    assert!(!found.is_null(), "libelf.so.1 has no {name:?}");
    found
}

type Pointer = *mut c_void;

/// Functions that call those of the library. Pointers pass through.
macro_rules! forwarded {
    ($(fn $name:ident($($argument:ident: $type:ty),*) -> $answer:ty;)*) => {
        $(
            #[unsafe(no_mangle)]
            unsafe extern "C" fn $name($($argument: $type),*) -> $answer {
                type Function = unsafe extern "C" fn($($type),*) -> $answer;
                const NAME: &str = concat!(stringify!($name), "\0");
                let name = CStr::from_bytes_with_nul(NAME.as_bytes()).unwrap_or_default();
                // SAFETY: libelf's function of this name has this signature (libelf.h, gelf.h); the caller keeps its contract.
                unsafe {
                    let function: Function = std::mem::transmute(function(name));
                    function($($argument),*)
                }
            }
        )*

        /// Every function here, so that the linker takes this module before the library.
        #[used]
        static ALL: Functions = Functions([$($name as *const (),)*]);
    };
}

/// Addresses that nothing reads but the linker.
struct Functions(#[expect(dead_code, reason = "for the linker")] [*const (); 30]);

// SAFETY: addresses of functions, which are never written to.
unsafe impl Sync for Functions {}

forwarded! {
    fn elf64_getehdr(elf: Pointer) -> Pointer;
    fn elf64_getshdr(section: Pointer) -> Pointer;
    fn elf64_newehdr(elf: Pointer) -> Pointer;
    fn elf_begin(file: c_int, command: c_int, from: Pointer) -> Pointer;
    fn elf_end(elf: Pointer) -> c_int;
    fn elf_errmsg(error: c_int) -> *const c_char;
    fn elf_getdata(section: Pointer, data: Pointer) -> Pointer;
    fn elf_getphdrnum(elf: Pointer, to: Pointer) -> c_int;
    fn elf_getscn(elf: Pointer, index: usize) -> Pointer;
    fn elf_getshdrnum(elf: Pointer, to: Pointer) -> c_int;
    fn elf_getshdrstrndx(elf: Pointer, to: Pointer) -> c_int;
    fn elf_kind(elf: Pointer) -> c_int;
    fn elf_memory(image: Pointer, size: usize) -> Pointer;
    fn elf_ndxscn(section: Pointer) -> usize;
    fn elf_newdata(section: Pointer) -> Pointer;
    fn elf_newscn(elf: Pointer) -> Pointer;
    fn elf_nextscn(elf: Pointer, section: Pointer) -> Pointer;
    fn elf_rawdata(section: Pointer, data: Pointer) -> Pointer;
    fn elf_strptr(elf: Pointer, section: usize, offset: usize) -> Pointer;
    fn elf_update(elf: Pointer, command: c_int) -> i64;
    fn elf_version(version: u32) -> u32;
    fn gelf_getclass(elf: Pointer) -> c_int;
    fn gelf_getehdr(elf: Pointer, to: Pointer) -> Pointer;
    fn gelf_getnote(data: Pointer, at: usize, to: Pointer, name: Pointer, value: Pointer) -> usize;
    fn gelf_getphdr(elf: Pointer, index: c_int, to: Pointer) -> Pointer;
    fn gelf_getshdr(section: Pointer, to: Pointer) -> Pointer;
    fn gelf_getsym(data: Pointer, index: c_int, to: Pointer) -> Pointer;
    fn gelf_getverdaux(data: Pointer, at: c_int, to: Pointer) -> Pointer;
    fn gelf_getverdef(data: Pointer, at: c_int, to: Pointer) -> Pointer;
    fn gelf_getversym(data: Pointer, index: c_int, to: Pointer) -> Pointer;
}

/// zlib's: there is no such file.
#[unsafe(no_mangle)]
extern "C" fn gzopen64(_: *const c_char, _: *const c_char) -> Pointer {
    std::ptr::null_mut()
}

/// zlib's: there is no such file.
#[unsafe(no_mangle)]
extern "C" fn gzopen(_: *const c_char, _: *const c_char) -> Pointer {
    std::ptr::null_mut()
}

/// zlib's: never called, as nothing is open.
#[unsafe(no_mangle)]
extern "C" fn gzgets(_: Pointer, _: *mut c_char, _: c_int) -> *mut c_char {
    std::ptr::null_mut()
}

/// zlib's: never called, as nothing is open.
#[unsafe(no_mangle)]
extern "C" fn gzclose(_: Pointer) -> c_int {
    0
}
