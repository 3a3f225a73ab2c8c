use super::*;

fn capture(section: &Section<'_>) -> Writer<Vec<u8>> {
    Writer::new(Vec::new(), section).unwrap()
}

#[test]
fn a_capture_byte_by_byte() {
    let mut capture = capture(&Section { application: Some("ackclock"), comment: None });
    let link = capture
        .add_interface(&Interface { comment: Some("seed 1"), ..Interface::named("bn") })
        .unwrap();
    // 0x1_0000_0002 ns; three bytes kept of 40.
    let at = Instant::from_nanos(0x1_0000_0002);
    let about = About { direction: Some(PacketDirection::Outbound), comment: Some("drop") };
    capture.write(link, at, &[0x45, 0, 0], 40, &about).unwrap();
    let about = About { direction: Some(PacketDirection::Inbound), comment: None };
    capture.write(link, at, &[], 40, &about).unwrap();
    let mut expected = Vec::new();
    // Section header: 28 bytes, 12 of an option, 4 of its end: 44 = 2c.
    expected.extend([0x0a, 0x0d, 0x0d, 0x0a, 0x2c, 0, 0, 0, 0x4d, 0x3c, 0x2b, 0x1a, 1, 0, 0, 0]);
    expected.extend([0xff; 8]);
    expected.extend([4, 0, 8, 0]);
    expected.extend(b"ackclock");
    expected.extend([0, 0, 0, 0, 0x2c, 0, 0, 0]);
    // Interface: 20 bytes, name 4 + 4, resolution 4 + 4, comment 4 + 8, end 4: 52 = 34.
    // Link type 101 = 65, snaplen 128 = 80.
    expected.extend([1, 0, 0, 0, 0x34, 0, 0, 0, 0x65, 0, 0, 0, 0x80, 0, 0, 0]);
    expected.extend([2, 0, 2, 0, b'b', b'n', 0, 0]);
    expected.extend([9, 0, 1, 0, 9, 0, 0, 0]);
    expected.extend([1, 0, 6, 0, b's', b'e', b'e', b'd', b' ', b'1', 0, 0]);
    expected.extend([0, 0, 0, 0, 0x34, 0, 0, 0]);
    // Packet: 32 bytes, data 3 padded to 4, flags 4 + 4, comment 4 + 4, end 4: 56 = 38.
    expected.extend([6, 0, 0, 0, 0x38, 0, 0, 0, 0, 0, 0, 0]);
    expected.extend([1, 0, 0, 0, 2, 0, 0, 0, 3, 0, 0, 0, 40, 0, 0, 0]);
    expected.extend([0x45, 0, 0, 0]);
    // Bits 0 and 1 of epb_flags: 01 is inbound, 10 is outbound.
    expected.extend([2, 0, 4, 0, 2, 0, 0, 0]);
    expected.extend([1, 0, 4, 0, b'd', b'r', b'o', b'p', 0, 0, 0, 0, 0x38, 0, 0, 0]);
    // And one of which nothing is kept: 32 bytes, flags 4 + 4, end 4: 44 = 2c.
    expected.extend([6, 0, 0, 0, 0x2c, 0, 0, 0, 0, 0, 0, 0]);
    expected.extend([1, 0, 0, 0, 2, 0, 0, 0, 0, 0, 0, 0, 40, 0, 0, 0]);
    expected.extend([2, 0, 4, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0x2c, 0, 0, 0]);
    assert_eq!(capture.finish().unwrap(), expected);
}

#[test]
fn blocks_without_options_have_no_end_of_options() {
    let mut capture = capture(&Section::default());
    assert_eq!(capture.inner.len(), 28);
    let all = Interface { snaplen: 0, ..Interface::named("link") };
    let link = capture.add_interface(&all).unwrap();
    let before = capture.inner.len();
    capture.write(link, Instant::START, &[7; 1500], 1500, &About::default()).unwrap();
    assert_eq!(capture.inner.len() - before, 32 + 1500);
}

#[test]
fn no_more_than_the_snaplen_is_kept() {
    let mut capture = capture(&Section::default());
    let link = capture.add_interface(&Interface::named("link")).unwrap();
    let before = capture.inner.len();
    capture.write(link, Instant::START, &[7; 1500], 1500, &About::default()).unwrap();
    let block = &capture.inner[before..];
    assert_eq!(block.len(), 32 + 128);
    assert_eq!((block[20], block[24], block[25]), (128, 0xdc, 0x05));
}

#[test]
fn what_cannot_be_written_is_refused_and_leaves_the_capture_whole() {
    let mut one = capture(&Section::default());
    let mut other = capture(&Section::default());
    let link = other.add_interface(&Interface::named("link")).unwrap();
    let refused = |capture: &mut Writer<Vec<u8>>, length, comment| {
        let before = capture.inner.len();
        let about = About { direction: Some(PacketDirection::Inbound), comment };
        let error = capture.write(link, Instant::START, &[0; 20], length, &about).unwrap_err();
        assert_eq!(capture.inner.len(), before);
        error.to_string()
    };
    assert_eq!(refused(&mut one, 20, None), "the interface is not one of this capture");
    assert_eq!(refused(&mut other, 19, None), "the packet is shorter than what was captured of it");
    let long = "x".repeat(65_536);
    assert_eq!(refused(&mut other, 20, Some(&long)), "a name or comment has at most 65535 bytes");
}
