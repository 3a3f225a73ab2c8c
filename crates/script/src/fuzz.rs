//! The entry of a fuzzer.

use crate::ast::Action;
use crate::{Settings, drill, parse};

/// The entry of a fuzzer: any text is read or refused and run or stopped, never a panic, and a
/// packet that was read is read again, once printed, as the same packet.
///
/// It is the target `script` of `fuzz/`.
///
/// # Panics
///
/// If a packet changes on its way to text and back, which would be a fault of this crate.
pub fn fuzz_script(data: &[u8]) {
    let text = String::from_utf8_lossy(data);
    let Ok(script) = parse("fuzz.pkt", &text) else { return };
    for event in &script.events {
        if let Action::Packet(packet) = &event.action {
            let again = parse("again.pkt", &format!("0 {packet}"));
            let again = again.expect("a printed packet is well-formed");
            assert_eq!(again.events[0].action, event.action);
        }
    }
    let _ = drill("fuzz.pkt", &text, &Settings::default());
}
