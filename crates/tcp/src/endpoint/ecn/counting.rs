//! The end point with accurate ECN: what comes is counted, and what goes out tells of it.

use ackclock_packet::{AccurateEcn, Ecn, Flags, IpMeta, Options, SackBlocks, Segment};
use ackclock_units::Instant;

use super::accurate::{Accurate, bits_of, code_of, reflection, share_room};
use crate::config::{EcnOption, SegmentRules};
use crate::data::counts::{AceReport, EcnCounts};
use crate::endpoint::output::{ExtraOptions, SegmentSink, TransmitInfo};
use crate::endpoint::timestamps::Timestamps;
use crate::endpoint::{Endpoint, State};

/// Bytes of options that a TCP header has room for.
const MOST_OPTIONS: u8 = 40;

impl Endpoint {
    /// Accurate ECN of a SYN or SYN-ACK that came.
    pub(in crate::endpoint) fn take_syn_marks(
        &mut self,
        segment: &Segment,
        ip: IpMeta,
        options: Option<&Options>,
    ) {
        let linux = self.config.segment_rules == SegmentRules::Linux;
        if self.marking.take_syn(segment.flags, ip.ecn, linux) {
            self.sender.hear_accurately();
            if segment.flags.contains(Flags::ACK) {
                let option = options.and_then(|options| options.accurate_ecn.as_ref());
                self.sender.after_handshake(false, false, option);
            }
        }
    }

    /// Takes what a segment whose acknowledgment comes next says of marks; `third` if it ends the handshake.
    pub(in crate::endpoint) fn take_echo(
        &mut self,
        now: Instant,
        segment: &Segment,
        options: Option<&Options>,
        third: bool,
    ) {
        if self.marking.accurate.is_some() {
            self.take_report(segment, options, third);
        } else if segment.flags.contains(Flags::ECE) {
            self.sender.on_ecn_echo(now, segment.ack);
        }
    }

    /// The counters of a segment whose acknowledgment comes next; `third` if it ends the handshake.
    fn take_report(&mut self, segment: &Segment, options: Option<&Options>, third: bool) {
        let option = options.and_then(|options| options.accurate_ecn);
        let config = self.marking.config;
        let Some(accurate) = &mut self.marking.accurate else { return };
        let ace = code_of(segment.flags);
        if third {
            let sack = options.is_some_and(|options| options.sack.count() > 0);
            accurate.take_third_ack(ace, segment.len == 0 && !sack, config);
            let (marked, zeroed) = (accurate.marked_syn_ack(), accurate.zeroed());
            self.sender.after_handshake(marked, zeroed, option.as_ref());
            return;
        }
        let ahead = segment.ts_val.wrapping_sub(self.timestamps.recent).cast_signed() > 0;
        let newer = self.timestamps.used
            && segment.timestamps
            && ahead
            && segment.seq <= self.timestamps.last_ack_sent;
        self.sender.expect_report(AceReport { ace, option, newer });
    }

    /// Counts an acceptable segment.
    pub(in crate::endpoint) fn count_arrival(&mut self, segment: &Segment, ip: IpMeta) {
        let waits = self.receiver.ack_waits();
        let Some(accurate) = &mut self.marking.accurate else { return };
        accurate.mute |= !accurate.linux && self.sender.is_mangled();
        if accurate.take(ip.ecn, segment.len, waits) {
            self.receiver.demand_ack();
        }
    }

    /// The option of a SYN-ACK, as far as there is room beside `options`.
    pub(in crate::endpoint) fn syn_ack_counters(
        &self,
        nth: u32,
        options: &Options,
        timestamps: bool,
    ) -> Option<AccurateEcn> {
        let accurate = self.marking.accurate()?;
        let sends = self.marking.config.option != EcnOption::Never && Accurate::fits_syn_ack(nth);
        let taken =
            if timestamps { options.wire_len_with_timestamps() } else { options.wire_len() };
        let (_, count) = share_room(0, 0, MOST_OPTIONS.saturating_sub(taken));
        count.filter(|_| sends).map(|count| accurate.option(count))
    }

    /// The options of the next segment, without timestamps.
    fn counting_options(&mut self, now: Instant, alone: bool) -> Option<Options> {
        let timestamps = self.timestamps.used;
        let has_sack = self.receiver.has_sack() && !alone;
        let duplicate = self.receiver.duplicate();
        let rtt = self.sender.srtt().unwrap_or_default();
        let config = self.marking.config;
        let sees = self.sender.sees_counters();
        let sack =
            if has_sack { self.receiver.report_far(timestamps) } else { SackBlocks::default() };
        let accurate = self.marking.accurate()?;
        let room = MOST_OPTIONS - if timestamps { Timestamps::LEN } else { 0 };
        let (blocks, count) = if sees && accurate.wants_option(now, rtt, config, duplicate) {
            share_room(sack.count(), accurate.least(), room)
        } else {
            (sack.count(), None)
        };
        let mut kept = SackBlocks::default();
        sack.as_slice()[..usize::from(blocks)].iter().for_each(|block| kept.push(*block));
        let accurate_ecn = count.map(|count| accurate.option(count));
        (blocks > 0 || accurate_ecn.is_some()).then_some(Options {
            sack: kept,
            accurate_ecn,
            ..Options::default()
        })
    }

    /// The next segment with its counters.
    pub(in crate::endpoint) fn poll_counting_into<const AHEAD: bool>(
        &mut self,
        now: Instant,
        out: &mut impl SegmentSink,
    ) -> Option<TransmitInfo> {
        let ack_due = self.receiver.ack_due();
        // RFC 9768 §3.2.2.1: the ACK of the SYN-ACK carries nothing else.
        let alone = ack_due && self.marking.accurate.as_ref().is_some_and(|it| it.reflects);
        let options = self.counting_options(now, alone);
        let base = if self.timestamps.used { Timestamps::LEN } else { 0 };
        let len = match &options {
            None => base,
            Some(options) if self.timestamps.used => options.wire_len_with_timestamps(),
            Some(options) => options.wire_len(),
        };
        let stretch = if alone {
            None
        } else {
            self.sender.leave_room(len - base);
            self.sender.poll_transmit::<AHEAD>(now)
        };
        if stretch.is_none() && !ack_due {
            return None;
        }
        let mut beside = self.shape(now, out.segment(), stretch.as_ref());
        let new = stretch.as_ref().is_some_and(|it| it.new && it.len.get() > 0);
        if alone {
            beside.is_last = false;
        }
        let duplicate = self.receiver.duplicate();
        let in_time_wait = self.state == State::TimeWait;
        if let Some(accurate) = &mut self.marking.accurate {
            let bits = if alone {
                bits_of(reflection(accurate.reflected))
            } else if in_time_wait && accurate.linux {
                Flags::NONE
            } else {
                accurate.bits()
            };
            accurate.reflects &= !alone;
            let segment = out.segment();
            segment.flags = segment.flags | bits;
            // Linux asks for marks with every packet, RFC 3168 §6.1.4 with new data alone.
            let asks = !accurate.mute && (accurate.linux || new);
            beside.ip.ecn = if asks { Ecn::Ect0 } else { Ecn::NotEct };
            accurate.note_duplicate(duplicate);
            if options.is_some_and(|options| options.accurate_ecn.is_some()) {
                accurate.on_option_sent(now, duplicate);
            }
        }
        let segment = out.segment();
        self.timestamps.last_ack_sent = segment.ack;
        self.receiver.on_ack_sent(segment.window);
        self.timestamps.stamp_beside(now, segment, len);
        if let Some(options) = options {
            *out.options() = options;
            beside.written = ExtraOptions::Options;
        }
        Some(beside)
    }

    /// Marks that came; `None` without accurate ECN.
    pub fn marks_received(&self) -> Option<EcnCounts> {
        self.marking.accurate().map(Accurate::received)
    }

    /// Changes when the option of accurate ECN is sent.
    pub const fn set_ecn_option(&mut self, option: EcnOption) {
        self.marking.set_option(option);
    }
}
