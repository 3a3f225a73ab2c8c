//! Any bytes as a packet.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| ackclock_wire::fuzz_parse(data));
