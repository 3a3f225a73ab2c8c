use proptest::prelude::*;

use super::*;
use crate::fixtures;

fn refused(bytes: &[u8]) -> String {
    TcpOptions::parse(bytes, 40).unwrap_err().to_string()
}

#[test]
fn padding_and_unknown_options_are_skipped() {
    // NOP, kind 254 of 4 bytes, MSS 536, end, padding.
    let options = TcpOptions::parse(&[1, 254, 4, 9, 9, 2, 4, 2, 24, 0, 0, 0], 20).unwrap();
    assert_eq!(options, TcpOptions { mss: Mss::new(536), ..TcpOptions::default() });
    assert_eq!(TcpOptions::parse(&[], 20), Ok(TcpOptions::default()));
    // An option without a value, as the last two bytes.
    assert_eq!(TcpOptions::parse(&[1, 1, 254, 2], 20), Ok(TcpOptions::default()));
}

#[test]
fn options_may_stand_in_any_order_without_padding() {
    let options = TcpOptions::parse(&[3, 3, 9, 8, 10, 0, 0, 0, 1, 0, 0, 0, 2, 4, 2, 0], 20);
    let expected = TcpOptions {
        window_scale: Some(9),
        sack_permitted: true,
        timestamps: Some(Timestamps { value: 1, echo: 2 }),
        ..TcpOptions::default()
    };
    assert_eq!(options, Ok(expected));
}

#[test]
fn impossible_lengths_are_refused_by_name_and_place() {
    // RFC 9293 MUST-7: such as a length of zero, which would never end.
    assert_eq!(
        refused(&[1, 254, 0, 0]),
        "TCP header option 254 at byte 41: expected a length of at least 2 and its header's at \
         most, found 0"
    );
    assert_eq!(
        refused(&[254, 5, 0, 0]),
        "TCP header option 254 at byte 40: expected a length of at least 2 and its header's at \
         most, found 5"
    );
    assert!(refused(&[1, 1, 1, 8]).starts_with("TCP header option 8 at byte 43"));
    for (kind, wrong, right) in [
        (2, &[5, 3, 6][..], "4"),
        (3, &[2, 4], "3"),
        (4, &[3, 4], "2"),
        (5, &[2, 9, 11, 12, 20], "10, 18, 26 or 34"),
        (8, &[9, 11], "10"),
        (27, &[7, 9], "8"),
    ] {
        for &len in wrong {
            let mut bytes = [0; 40];
            bytes[..2].copy_from_slice(&[kind, len]);
            assert_eq!(
                refused(&bytes),
                format!(
                    "TCP header option {kind} at byte 40: expected a length of {right}, found {len}"
                )
            );
        }
    }
}

#[test]
fn counters_of_accurate_ecn_have_24_bits_and_two_orders() {
    // Kind 174, 8 bytes: ECT(1) 1 and CE 65,536 + 2 (RFC 9768 figure 4); the next length is none of its own.
    let bytes = [174, 8, 0, 0, 1, 1, 0, 2, 172, 4, 9, 9];
    let options = TcpOptions::parse(&bytes, 20).unwrap();
    let accurate_ecn = AccurateEcn::new(true, &[1, 65_538]);
    assert_eq!(options, TcpOptions { accurate_ecn, ..TcpOptions::default() });
    let mut space = [0; MAX_LEN];
    assert_eq!(options.write(&mut space), Ok(&bytes[..8]));
}

#[test]
fn repeated_options_and_dirty_padding_are_refused() {
    assert_eq!(
        refused(&[2, 4, 5, 180, 2, 4, 5, 180]),
        "TCP header option 2 at byte 44: expected at most once, found again"
    );
    assert_eq!(
        refused(&[4, 2, 4, 2]),
        "TCP header option 4 at byte 42: expected at most once, found again"
    );
    let mut twice = [0; 20];
    twice[..2].copy_from_slice(&[5, 10]);
    twice[10..12].copy_from_slice(&[5, 10]);
    assert!(refused(&twice).starts_with("TCP header option 5 at byte 50"));
    assert_eq!(refused(&[1, 0, 0, 7]), "TCP header padding at byte 43: expected 0, found 7");
    assert_eq!(
        refused(&[2, 4, 0, 0]),
        "TCP header option 2 at byte 40: expected a segment size of at least 1, found 0"
    );
}

proptest! {
    #[test]
    fn whatever_fits_is_written_in_whole_words_and_read_back(options in fixtures::all_options()) {
        let mut space = [0; MAX_LEN];
        if options.len() > MAX_LEN {
            let found = options.len();
            prop_assert_eq!(options.write(&mut space), Err(EncodeError::OptionsTooLong { found }));
        } else {
            let bytes = options.write(&mut space).unwrap();
            prop_assert_eq!(bytes.len() % 4, 0);
            prop_assert_eq!(TcpOptions::parse(bytes, 20), Ok(options));
        }
    }
}

#[test]
fn fast_open_is_read_in_both_forms() {
    // RFC 7413 §4.1.1: kind 34; a length of 2 asks for a cookie.
    let read = |bytes: &[u8]| TcpOptions::parse(bytes, 20).unwrap().fast_open;
    let asked = FastOpen { cookie: None, experimental: false };
    assert_eq!(read(&[34, 2, 1, 1]), Some(asked));
    let four = FastOpen { cookie: Cookie::new(&[1, 2, 3, 4]), experimental: false };
    assert_eq!(read(&[34, 6, 1, 2, 3, 4]), Some(four));
    // The form of the experiment: kind 254 and 0xF989 (RFC 6994).
    assert_eq!(read(&[254, 4, 0xf9, 0x89]), Some(FastOpen { experimental: true, ..asked }));
    let bytes = [254, 8, 0xf9, 0x89, 1, 2, 3, 4];
    assert_eq!(read(&bytes), Some(FastOpen { experimental: true, ..four }));
    // Cookies of 2 and of 5 bytes cannot be; another experiment is another option.
    assert_eq!(read(&[34, 4, 1, 2]), None);
    assert_eq!(read(&[34, 7, 1, 2, 3, 4, 5]), None);
    assert_eq!(read(&[254, 4, 0xf9, 0x8a]), None);
}

#[test]
fn fast_open_is_written_last_and_padded_behind() {
    let options = TcpOptions {
        mss: Mss::new(1460),
        fast_open: Some(FastOpen { cookie: Cookie::new(&[9; 8]), experimental: false }),
        ..TcpOptions::default()
    };
    let mut space = [0; MAX_LEN];
    let written = options.write(&mut space).unwrap();
    assert_eq!(written, [2, 4, 5, 180, 34, 10, 9, 9, 9, 9, 9, 9, 9, 9, 1, 1]);
}
