use super::rounds;

#[test]
fn rounds_are_counted_in_whole_windows() {
    // 1 + 2 + 4 + 8 = 15
    assert_eq!(rounds(15.0, 1.0, 1.0).unwrap(), 4);
    assert_eq!(rounds(16.0, 1.0, 1.0).unwrap(), 5);
    // 10 + 20 + 40 = 70
    assert_eq!(rounds(70.0, 10.0, 1.0).unwrap(), 3);
    assert_eq!(rounds(10.0, 10.0, 1.0).unwrap(), 1);
    // Delayed ACKs: 4 + 6 + 9 = 19
    assert_eq!(rounds(19.0, 4.0, 2.0).unwrap(), 3);
    assert_eq!(rounds(19.5, 4.0, 2.0).unwrap(), 4);
}

#[test]
fn bad_input_is_named() {
    let message = rounds(0.0, 1.0, 1.0).unwrap_err().to_string();
    assert_eq!(message, "segments = 0: expected a finite number above 0");
    assert!(rounds(1.0, -1.0, 1.0).is_err());
    assert!(rounds(1.0, 1.0, 0.0).is_err());
}
