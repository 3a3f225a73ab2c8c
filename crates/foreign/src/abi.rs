//! The C interface, version 1: the same structs as in `include/ackclock_law.h`, which a test compares.

use std::ffi::c_void;

/// The version of the interface.
pub const VERSION: u32 = 1;

/// The flag of a law that models the path.
pub const MODELS_PATH: u32 = 1;

/// A field that is not known.
pub const UNKNOWN: u64 = u64::MAX;

macro_rules! structs {
    ($($(#[$doc:meta])* $name:ident { $($field:ident: $type:ty,)* })*) => {
        $(
            $(#[$doc])*
            #[repr(C)]
            #[derive(Clone, Copy, Debug)]
            #[allow(clippy::struct_field_names, reason = "the names of the header")]
            pub struct $name {
                $(pub(crate) $field: $type,)*
            }
        )*

        /// The size of each struct, and the place of each of its fields, in bytes.
        pub fn layouts() -> Vec<(&'static str, usize, Vec<(&'static str, usize)>)> {
            vec![$((
                stringify!($name),
                size_of::<$name>(),
                vec![$((stringify!($field), std::mem::offset_of!($name, $field)),)*],
            ),)*]
        }
    };
}

structs! {
    /// The handshake is done.
    Start {
        cwnd_bytes: u64,
        ssthresh_bytes: u64,
        srtt_ns: u64,
        seed: u64,
        mss_bytes: u32,
        unused: u32,
    }
    /// An ACK of new data on which the window may grow.
    Ack {
        now_ns: u64,
        newly_acked_bytes: u64,
        newly_delivered_bytes: u64,
        una_seq: u64,
        nxt_seq: u64,
        rtt_ns: u64,
        srtt_ns: u64,
        in_flight_before_bytes: u64,
        in_flight_bytes: u64,
        slow_start_increase_bytes: u64,
        slow_start_left_over_bytes: u64,
        mss_bytes: u32,
        limited_by: u8,
        in_recovery: u8,
        in_slow_start: u8,
        slow_start_ends: u8,
    }
    /// A round-trip time was measured.
    Rtt {
        now_ns: u64,
        rtt_ns: u64,
    }
    /// Data goes out while nothing is outstanding.
    Sent {
        now_ns: u64,
        last_send_ns: u64,
        nxt_seq: u64,
        is_app_limited: u32,
        unused: u32,
    }
    /// The network is congested.
    Congestion {
        now_ns: u64,
        reduce_from_bytes: u64,
        mss_bytes: u32,
        signal: u32,
    }
    /// The retransmission timer expired.
    Timeout {
        now_ns: u64,
        reduce_from_bytes: u64,
        mss_bytes: u32,
        consecutive: u32,
    }
    /// All that was lost is repaired.
    RecoveryEnd {
        now_ns: u64,
        in_flight_bytes: u64,
        newly_delivered_bytes: u64,
        at_most_bytes: u64,
        mss_bytes: u32,
        unused: u32,
    }
    /// Another rule proposes a window.
    Proposal {
        cwnd_bytes: u64,
        ssthresh_bytes: u64,
        mss_bytes: u32,
        why: u32,
    }
    /// A segment was found lost.
    Lost {
        now_ns: u64,
        start_seq: u64,
        end_seq: u64,
        tx_in_flight_bytes: u64,
        lost_bytes: u64,
        delivered_bytes: u64,
        is_app_limited: u32,
        unused: u32,
    }
    /// An ACK, as a law that models the path sees it.
    Delivery {
        now_ns: u64,
        newly_delivered_bytes: u64,
        newly_lost_bytes: u64,
        delivered_bytes: u64,
        lost_bytes: u64,
        rtt_ns: u64,
        srtt_ns: u64,
        in_flight_before_bytes: u64,
        in_flight_bytes: u64,
        sample_delivered_bytes: u64,
        sample_interval_ns: u64,
        sample_prior_delivered_bytes: u64,
        sample_tx_in_flight_bytes: u64,
        sample_lost_bytes: u64,
        mss_bytes: u32,
        has_sample: u8,
        sample_is_app_limited: u8,
        is_cwnd_limited: u8,
        repair: u8,
    }
    /// The table of callbacks that a library exports.
    Callbacks {
        version: u32,
        size_bytes: u32,
        flags: u32,
        unused: u32,
        init: Option<unsafe extern "C" fn(*const Start) -> *mut c_void>,
        destroy: Option<unsafe extern "C" fn(*mut c_void)>,
        ack: Option<unsafe extern "C" fn(*mut c_void, *const Ack)>,
        congestion: Option<unsafe extern "C" fn(*mut c_void, *const Congestion)>,
        timeout: Option<unsafe extern "C" fn(*mut c_void, *const Timeout)>,
        idle: Option<unsafe extern "C" fn(*mut c_void, *const Proposal)>,
        cwnd_bytes: Option<unsafe extern "C" fn(*const c_void) -> u64>,
        ssthresh_bytes: Option<unsafe extern "C" fn(*const c_void) -> u64>,
        pacing_rate_bps: Option<unsafe extern "C" fn(*const c_void) -> f64>,
        rtt: Option<unsafe extern "C" fn(*mut c_void, *const Rtt)>,
        sent: Option<unsafe extern "C" fn(*mut c_void, *const Sent)>,
        recovery_end: Option<unsafe extern "C" fn(*mut c_void, *const RecoveryEnd)>,
        spurious: Option<unsafe extern "C" fn(*mut c_void)>,
        delivery: Option<unsafe extern "C" fn(*mut c_void, *const Delivery)>,
        lost: Option<unsafe extern "C" fn(*mut c_void, *const Lost)>,
    }
}
