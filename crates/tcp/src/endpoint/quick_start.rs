//! Quick-Start between two end points (RFC 4782 §4): who asks, who answers, and whether the answer is
//! to be believed. What an approved rate does to the sender is in [`jump`](super::jump).

use ackclock_laws::start::{JumpChoice, QuickStartJump};
use ackclock_packet::{
    Options, QuickStart as QuickStartOption, QuickStartNonce, QuickStartRate, QuickStartResponse,
    Seq,
};
use ackclock_units::random::Stream;
use ackclock_units::{Bytes, Duration, Instant, Rate};

use crate::config::{Config, QuickStartConfig};

/// The outcome of a request, as the end that asked saw it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum QuickStartStep {
    /// The request went out.
    Asked,
    /// A rate was approved, and is used.
    Approved,
    /// A rate was approved that fills less than the window that there is.
    NotNeeded,
    /// The packet was acknowledged without an answer, or had to be sent again: the request was
    /// denied, or dropped on the way.
    Unanswered,
    /// The answer's TTL difference is another than the request's: a router on the way takes no part
    /// (§4.4).
    TtlMismatch,
    /// The answer's nonce does not show that nobody raised the rate (§3.4): no more requests.
    NonceMismatch,
    /// The answer's rate is more than was asked for.
    RateTooHigh,
    /// Nothing was sent within the time for which an approval holds (§4.4).
    Expired,
    /// A Quick-Start packet was lost or marked (§4.6): no more requests.
    Lost,
}

/// A step of a request, and when.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct QuickStartEvent {
    /// When.
    pub at: Instant,
    /// Which.
    pub step: QuickStartStep,
    /// The rate asked for.
    pub asked: QuickStartRate,
    /// The rate that was approved, as far as is known.
    pub approved: QuickStartRate,
}

/// A request that is under way.
#[derive(Clone, Copy, Debug)]
struct Asked {
    rate: QuickStartRate,
    nonce: QuickStartNonce,
    /// IP TTL minus QS TTL, modulo 256.
    ttl_diff: u8,
    at: Instant,
    /// The number after the packet that carried it.
    end: Seq,
}

/// A rate that was approved.
#[derive(Clone, Copy, Debug)]
pub(super) struct Grant {
    pub(super) rate: Rate,
    pub(super) code: QuickStartRate,
    /// The round trip that the request took, which the approval is for.
    pub(super) rtt: Duration,
}

/// One end's part in Quick-Start.
#[derive(Debug)]
pub(super) struct QuickStart {
    jump: Option<QuickStartJump>,
    config: QuickStartConfig,
    random: Stream,
    /// A rate that the application asks for.
    wanted: Option<QuickStartRate>,
    asked: Option<Asked>,
    /// No more requests on this connection.
    barred: bool,
    /// The Report that the next segment of data carries.
    report: Option<QuickStartOption>,
    /// The Response that the next segment carries.
    response: Option<QuickStartResponse>,
    log: Vec<QuickStartEvent>,
}

/// The IP TTL of segments that go out.
const TTL: u8 = 64;

impl QuickStart {
    /// That of `config`.
    pub(super) fn new(config: &Config) -> Self {
        Self {
            jump: match config.parts.jump {
                JumpChoice::QuickStart(jump) => Some(jump),
                JumpChoice::None | JumpChoice::JumpStart | JumpChoice::Resume(_) => None,
            },
            config: config.quick_start,
            random: Stream::new(config.seed, "quick start"),
            wanted: None,
            asked: None,
            barred: false,
            report: None,
            response: None,
            log: Vec::new(),
        }
    }

    /// True if `config` makes an end take part.
    pub(super) const fn takes_part(config: &Config) -> bool {
        matches!(config.parts.jump, JumpChoice::QuickStart(_)) || config.quick_start.answers
    }

    /// The application asks for `rate` with the next segment that may.
    pub(super) fn want(&mut self, rate: Rate) {
        let rate = QuickStartRate::at_most(rate);
        self.wanted = (rate > QuickStartRate::NONE).then_some(rate);
    }

    pub(super) fn log(&self) -> &[QuickStartEvent] {
        &self.log
    }

    pub(super) fn ssthresh_approved(&self) -> bool {
        self.jump.is_some_and(|jump| jump.ssthresh_approved)
    }

    pub(super) fn is_unlimited(&self) -> bool {
        self.jump.is_some_and(|jump| jump.unlimited)
    }

    fn note(&mut self, at: Instant, step: QuickStartStep, asked: Asked, approved: QuickStartRate) {
        self.log.push(QuickStartEvent { at, step, asked: asked.rate, approved });
    }

    /// The rate that the heuristics of this end ask for, for `unsent` to be sent at a round trip of
    /// `rtt`: no more than that takes (§4.1). Nothing is known of what is yet to be written.
    fn own_rate(&self, unsent: Bytes, rtt: Option<Duration>) -> Option<QuickStartRate> {
        let rate = self.jump.filter(|_| self.config.asks)?.rate;
        if unsent == Bytes::ZERO {
            return Some(rate);
        }
        // §4.1: 100 ms where the round trip is not known.
        let rtt = rtt.unwrap_or(Duration::from_millis(100)).as_nanos().max(1);
        let usable = u128::from(unsent.bits()) * 1_000_000_000 / u128::from(rtt);
        let usable = QuickStartRate::at_most(Rate::from_bps(usable.try_into().unwrap_or(u64::MAX)));
        Some(rate.min(usable)).filter(|rate| *rate > QuickStartRate::NONE)
    }

    fn request(&mut self, now: Instant, rate: QuickStartRate, end: Seq) -> QuickStartOption {
        let bits = self.random.next_u64();
        let [ttl, ..] = bits.to_le_bytes();
        let nonce = QuickStartNonce::new(u32::try_from(bits >> 32).unwrap_or_default());
        let asked = Asked { rate, nonce, ttl_diff: TTL.wrapping_sub(ttl), at: now, end };
        self.asked = Some(asked);
        self.note(now, QuickStartStep::Asked, asked, QuickStartRate::NONE);
        QuickStartOption::Request { rate, ttl, nonce }
    }

    /// A SYN or SYN-ACK goes out, for the first time or again.
    pub(super) fn dress_syn(
        &mut self,
        now: Instant,
        first: bool,
        unsent: Bytes,
        options: &mut Options,
    ) {
        options.quick_start_response = self.response.take();
        if !first {
            // §4.7: what was lost may have been dropped because of the option.
            self.on_unanswered(now);
            return;
        }
        let own = || self.own_rate(unsent, None).filter(|_| self.config.at_setup);
        if let Some(rate) = self.wanted.or_else(own) {
            self.wanted = None;
            options.quick_start = Some(self.request(now, rate, Seq::FIRST_BYTE));
        }
    }

    /// The rate that the next segment of data is to ask for, if it is to ask: `idle` says that it ends
    /// a silence. Only one request is under way at a time, so that there is none oftener than once
    /// a round trip.
    pub(super) fn next_rate(
        &self,
        idle: bool,
        unsent: Bytes,
        srtt: Option<Duration>,
    ) -> Option<QuickStartRate> {
        if self.barred || self.asked.is_some() {
            return None;
        }
        let own = || self.own_rate(unsent, srtt).filter(|_| idle && self.config.after_idle);
        self.wanted.or_else(own)
    }

    /// True if nothing is under way: no request, and nothing that the next segment is to carry.
    pub(super) const fn is_quiet(&self) -> bool {
        self.asked.is_none()
            && self.wanted.is_none()
            && self.report.is_none()
            && self.response.is_none()
    }

    /// True if the next segment of data carries a Report.
    pub(super) const fn has_report(&self) -> bool {
        self.report.is_some()
    }

    /// True if the next segment carries a Response.
    pub(super) const fn has_response(&self) -> bool {
        self.response.is_some()
    }

    /// Puts into `options` what goes with a segment that ends at `end`: a Response in any case, with
    /// `data` a Report, or else a request for `ask`.
    pub(super) fn dress(
        &mut self,
        now: Instant,
        data: bool,
        ask: Option<QuickStartRate>,
        end: Seq,
        options: &mut Options,
    ) {
        options.quick_start_response = self.response.take();
        if !data {
            return;
        }
        options.quick_start = self.report.take();
        if let Some(rate) = ask
            && options.quick_start.is_none()
        {
            self.wanted = None;
            options.quick_start = Some(self.request(now, rate, end));
        }
    }

    /// A packet with `option` arrived with the IP TTL `ttl`; whether it is to be answered.
    pub(super) fn take_option(&mut self, option: QuickStartOption, ttl: u8) -> bool {
        let QuickStartOption::Request { rate, ttl: qs_ttl, nonce } = option else { return false };
        if rate == QuickStartRate::NONE {
            // §4.3: a denied request is not answered.
            return false;
        }
        let rate = self.config.lies.unwrap_or(rate.min(self.config.most));
        self.response =
            Some(QuickStartResponse { rate, ttl_diff: ttl.wrapping_sub(qs_ttl), nonce });
        true
    }

    /// True if the request under way is answered by what acknowledges up to `una`, or never.
    pub(super) fn is_due(&self, una: Seq) -> bool {
        self.asked.is_some_and(|asked| una >= asked.end)
    }

    /// The packet that asked is acknowledged, by a segment with `response` (§4.4).
    pub(super) fn take_response(
        &mut self,
        now: Instant,
        response: Option<QuickStartResponse>,
    ) -> Option<Grant> {
        let Some(response) = response else {
            self.on_unanswered(now);
            return None;
        };
        let asked = self.asked.take()?;
        let step = if response.rate == QuickStartRate::NONE {
            QuickStartStep::Unanswered
        } else if response.rate > asked.rate {
            QuickStartStep::RateTooHigh
        } else if response.ttl_diff != asked.ttl_diff {
            QuickStartStep::TtlMismatch
        } else if !response.nonce.proves(asked.nonce, response.rate) {
            // §4.4: no more Quick-Start on this connection.
            self.barred = true;
            QuickStartStep::NonceMismatch
        } else {
            QuickStartStep::Approved
        };
        self.note(now, step, asked, response.rate);
        let approved = response.rate.rate().filter(|_| step == QuickStartStep::Approved);
        let code = approved.map_or(QuickStartRate::NONE, |_| response.rate);
        self.report = Some(QuickStartOption::Report { rate: code, nonce: asked.nonce });
        Some(Grant { rate: approved?, code, rtt: now.since(asked.at) })
    }

    /// There is no answer to the request under way.
    fn on_unanswered(&mut self, now: Instant) {
        if let Some(asked) = self.asked.take() {
            // §4.1: routers are to learn that they reserve for nothing.
            self.report =
                Some(QuickStartOption::Report { rate: QuickStartRate::NONE, nonce: asked.nonce });
            self.note(now, QuickStartStep::Unanswered, asked, QuickStartRate::NONE);
        }
    }

    /// The approval `code` has had an outcome.
    pub(super) fn on_outcome(&mut self, now: Instant, step: QuickStartStep, code: QuickStartRate) {
        self.barred |= step == QuickStartStep::Lost;
        self.log.push(QuickStartEvent { at: now, step, asked: code, approved: code });
    }
}
