//! Any text as a script.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| ackclock_script::fuzz_script(data));
