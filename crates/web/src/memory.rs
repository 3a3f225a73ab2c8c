//! Texts and bytes through linear memory, for whoever loads the module.
//!
//! The caller asks [`reserve`] for room, writes a request there, calls [`ask`], and finds an answer of as many bytes as that
//! says at [`answered`].
#![expect(unsafe_code, reason = "names that the loader of the module knows are exported")]

use std::cell::RefCell;

thread_local! {
    static REQUEST: RefCell<Vec<u8>> = const { RefCell::new(Vec::new()) };
    static ANSWER: RefCell<Vec<u8>> = const { RefCell::new(Vec::new()) };
    static FAULT: RefCell<String> = const { RefCell::new(String::new()) };
}

/// The place for a request of `length` bytes.
#[unsafe(no_mangle)]
pub extern "C" fn reserve(length: usize) -> *mut u8 {
    REQUEST.with_borrow_mut(|request| {
        request.clear();
        request.resize(length, 0);
        request.as_mut_ptr()
    })
}

/// Answers the request, and returns the length of the answer.
#[unsafe(no_mangle)]
pub extern "C" fn ask() -> usize {
    std::panic::set_hook(Box::new(|panic| {
        let says = panic.payload_as_str().unwrap_or("no message").to_owned();
        FAULT.with_borrow_mut(|fault| *fault = says);
    }));
    let request = REQUEST.take();
    let answer = crate::answer(&String::from_utf8_lossy(&request));
    ANSWER.with_borrow_mut(|place| {
        *place = answer;
        place.len()
    })
}

/// The place of the answer, until the next call.
#[unsafe(no_mangle)]
pub extern "C" fn answered() -> *const u8 {
    ANSWER.with_borrow(|answer| answer.as_ptr())
}

/// The place of the message of a panic that ended [`ask`], after which the module is to be thrown away.
#[unsafe(no_mangle)]
pub extern "C" fn fault() -> *const u8 {
    FAULT.with_borrow(|fault| fault.as_ptr())
}

/// The length of that message.
#[unsafe(no_mangle)]
pub extern "C" fn fault_length() -> usize {
    FAULT.with_borrow(String::len)
}
