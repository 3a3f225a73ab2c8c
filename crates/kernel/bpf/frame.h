/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * The frame of a law: the kernel's hooks, translated into the events of a growth law (crates/laws/src/event.rs).
 *
 * A law defines, before it includes this file, `struct law` and the functions that are declared here. It owns
 * `cong_control`, so that neither the kernel's proportional rate reduction nor its timeout writes the window: the kernel
 * says what is lost, the law how much goes out. Laws that leave a repair to the sender get the reduction of RFC 9937 from
 * here (`PROPORTIONAL`).
 */
#pragma once

#include "fixed.h"
#include "record.h"
#ifdef TAKES_PARTS
#include "idle.h"
#endif
#ifdef HEEDS_STATES
#define HEEDS_SENDS
#endif

struct frame {
	u32 connection;
	u32 una;
	u32 mss;
	u32 prr_delivered;
	/* True if the kernel has asked for a threshold and not yet said why. */
	u32 asked;
	u32 lost;
	/* Records so far, those for which there was no room included. */
	u32 count;
	/* When data last went out, as the last ACK found it; 0 before the first. */
	u64 last_send_us;
	/* True if what was out left less than a segment of the peer's window, as the last ACK found it. */
	u32 by_peer;
};

struct state {
	struct frame frame;
	struct law law;
#ifdef TAKES_PARTS
	struct idle idle;
#endif
};

STATES(state);

/* An ACK, as a law sees it. Volumes in Q20 segments, but for `acked`. */
struct ack {
	u64 now_us;
	/* Acknowledged for the first time, and delivered. */
	u64 acked;
	u64 delivered_now;
	u64 in_flight;
	/* 0 if there is none. */
	u32 rtt_us;
	u32 srtt_us;
	u32 una;
	u32 nxt;
	u32 mss;
	u32 delivered;
	u32 lost;
	bool grows;
	/* The window is full enough to grow (`tcp_is_cwnd_limited`). */
	bool limited;
	bool ack_delayed;
	bool cwnd_limited;
	bool repairing;
	/* The rate sample: segments, microseconds or 0, segments before it. */
	bool sample;
	u32 sample_delivered;
	u32 sample_us;
	u32 sample_prior;
};

INLINE u64 law_window(const struct law *law);
/* 0 if there is none. */
INLINE u64 law_ssthresh(const struct law *law);
#ifndef RECORDS_ONLY
INLINE void law_begin(struct law *law, u64 window);
INLINE void law_ack(struct law *law, const struct ack *ack);
INLINE void law_congestion(struct law *law, u8 event, u64 reduce_from);
INLINE void law_repaired(struct law *law);
INLINE void law_spurious(struct law *law);
#endif

#ifdef HEEDS_STATES
INLINE void law_state(struct law *law, u8 to, u32 nxt);
#endif

#ifdef HEEDS_SENDS
INLINE void law_send_start(struct law *law, u64 now_us, u64 last_send_us, u32 nxt);
#endif

#ifdef HEEDS_TIMEOUTS
INLINE void law_timeout(struct law *law, u64 now_us, u32 nxt);
#endif

#ifdef TAKES_PARTS
/* Another rule proposes a window and a threshold; 0 leaves one as it is. */
INLINE void law_rebase(struct law *law, u64 window, u64 ssthresh);
#endif

#ifdef PACED
/* Bytes a second. */
INLINE u64 law_pacing(const struct law *law, const struct ack *ack);
#endif

INLINE bool in_slow_start(const struct law *law)
{
	u64 ssthresh = law_ssthresh(law);

	return !ssthresh || law_window(law) < ssthresh;
}

/* Linux's slow start: all that an ACK delivers, up to the threshold. */
INLINE u64 slow_start_step(const struct law *law, const struct ack *ack)
{
	u64 ssthresh = law_ssthresh(law);

	return ssthresh ? least(ack->delivered_now, less(ssthresh, law_window(law)))
			: ack->delivered_now;
}

INLINE u32 in_flight(const struct tcp_sock *tp)
{
	return tp->packets_out - (tp->sacked_out + tp->lost_out) + tp->retrans_out;
}

INLINE u8 ca_state(struct tcp_sock *tp)
{
	return BITFIELD(&tp->inet_conn, icsk_ca_state);
}

INLINE u32 whole(u64 window)
{
	return most(window >> Q, 1);
}

/* What of a record does not depend on the event. */
INLINE struct record *begin_record(struct sock *sk, struct state *state, u8 event, u8 to)
{
	struct tcp_sock *tp = (struct tcp_sock *)sk;
	struct record *record = bpf_ringbuf_reserve(&records, sizeof(struct record), 0);
	u32 count = state->frame.count++;

	if (!record)
		return 0;
	record->count = count;
	record->time_us = tp->tcp_mstamp;
	record->window = law_window(&state->law);
	record->reduce_from = 0;
	record->connection = state->frame.connection;
	record->saddr = sk->__sk_common.skc_rcv_saddr;
	record->daddr = sk->__sk_common.skc_daddr;
	record->sport = sk->__sk_common.skc_num;
	record->dport = sk->__sk_common.skc_dport;
	record->event = event;
	record->state = to;
	record->marks = in_slow_start(&state->law) ? MARK_SLOW_START : 0;
	record->una = tp->snd_una;
	record->nxt = tp->snd_nxt;
	record->mss = tp->mss_cache;
	record->acked = 0;
	record->delivered_now = 0;
	record->rtt_us = -1;
	record->srtt_us = tp->srtt_us >> 3;
	record->in_flight = in_flight(tp);
	record->cwnd = tp->snd_cwnd;
	record->ssthresh = tp->snd_ssthresh;
	record->delivered = tp->delivered;
	record->lost = tp->lost;
	record->sample_delivered = -1;
	record->sample_us = -1;
	record->sample_prior = 0;
	record->outstanding = tp->snd_nxt - tp->snd_una;
	record->peer_window = tp->snd_wnd;
	record->sent_again = tp->bytes_retrans;
	record->initial = 0;
	record->rto_us = (tp->srtt_us >> 3) + tp->rttvar_us;
	record->unclamped_us = (tp->srtt_us >> 3) + tp->mdev_us;
	record->idle_us = state->frame.last_send_us ? (s32)least(less(record->time_us, state->frame.last_send_us), 0x7fffffff) : -1;
	record->usage = (state->frame.by_peer ? USAGE_BY_PEER : 0) |
			(ca_state(tp) < CWR ? USAGE_UNDISTURBED : 0);
	return record;
}

INLINE void note(struct sock *sk, struct state *state, u8 event, u8 to, u64 reduce_from)
{
	struct record *record = begin_record(sk, state, event, to);

	if (!record)
		return;
	record->reduce_from = reduce_from;
	bpf_ringbuf_submit(record, 0);
}

/* Of the handshake: what was sent again, in segments, and the largest window that the peer can offer. */
INLINE void note_begin(struct sock *sk, struct state *state)
{
	struct tcp_sock *tp = (struct tcp_sock *)sk;
	struct record *record = begin_record(sk, state, EVENT_BEGIN, ca_state(tp));

	if (!record)
		return;
	record->sent_again = tp->total_retrans;
	record->peer_window = 65535U << BITFIELD(tp, rx_opt.snd_wscale);
	bpf_ringbuf_submit(record, 0);
}

INLINE u32 kernel_ssthresh(const struct law *law)
{
	u64 ssthresh = law_ssthresh(law);

	return ssthresh ? ssthresh >> Q : NO_SSTHRESH;
}

INLINE u32 clamped(const struct tcp_sock *tp, u32 cwnd)
{
	return least(cwnd, tp->snd_cwnd_clamp);
}

#ifdef TAKES_PARTS
INLINE struct usage usage_of(struct sock *sk, const struct state *state)
{
	struct tcp_sock *tp = (struct tcp_sock *)sk;
	u32 mss = most(tp->mss_cache, 1);
	struct usage usage = {
		.now_us = tp->tcp_mstamp,
		.last_send_us = state->frame.last_send_us,
		.rto_us = (tp->srtt_us >> 3) + tp->rttvar_us,
		.unclamped_us = (tp->srtt_us >> 3) + tp->mdev_us,
		.cwnd = (law_window(&state->law) * mss) >> Q,
		.ssthresh = (law_ssthresh(&state->law) * mss) >> Q,
		.in_flight = (u64)in_flight(tp) * mss,
		.outstanding = tp->snd_nxt - tp->snd_una,
		.peer_window = tp->snd_wnd,
		.initial = (u64)parts.initial * mss,
		.srtt_us = tp->srtt_us >> 3,
		.mss = mss,
		.by_window = BITFIELD(tp, is_cwnd_limited),
		.by_peer = !BITFIELD(tp, is_cwnd_limited) && state->frame.by_peer,
		.undisturbed = ca_state(tp) < CWR,
	};

	return usage;
}

INLINE void follow(struct sock *sk, struct state *state, const struct proposal *proposal)
{
	struct tcp_sock *tp = (struct tcp_sock *)sk;
	u32 mss = most(tp->mss_cache, 1);

	if (!proposal->cwnd)
		return;
	law_rebase(&state->law, ratio(proposal->cwnd, mss), ratio(proposal->ssthresh, mss));
	tp->snd_cwnd = clamped(tp, whole(law_window(&state->law)));
	tp->snd_ssthresh = kernel_ssthresh(&state->law);
}

/* What was sent since the last ACK, as the idle rule is told of it: with the time of the last segment. */
INLINE void heed_use(struct sock *sk, struct state *state, const struct rate_sample *sample)
{
	struct tcp_sock *tp = (struct tcp_sock *)sk;
	u64 sent_us = least(tp->tcp_wstamp_ns / 1000, tp->tcp_mstamp);
	struct proposal proposal;
	struct record *record;
	struct usage usage;

	if (sent_us <= state->frame.last_send_us)
		return;
	state->frame.last_send_us = sent_us;
	if (!parts.idle)
		return;
	usage = usage_of(sk, state);
	usage.now_us = sent_us;
	usage.in_flight = (u64)sample->prior_in_flight * usage.mss;
	usage.outstanding = tp->snd_nxt - state->frame.una;
	proposal = idle_after_burst(&state->idle, &usage);
	follow(sk, state, &proposal);
	record = begin_record(sk, state, EVENT_USED, ca_state(tp));
	if (!record)
		return;
	record->time_us = sent_us;
	record->idle_us = 0;
	record->marks |= usage.by_window ? MARK_CWND_LIMITED : 0;
	record->in_flight = sample->prior_in_flight;
	record->outstanding = usage.outstanding;
	record->initial = parts.initial;
	bpf_ringbuf_submit(record, 0);
}

/* New data goes out while nothing is outstanding. */
INLINE void heed_silence(struct sock *sk, struct state *state)
{
	struct tcp_sock *tp = (struct tcp_sock *)sk;
	struct proposal proposal;
	struct record *record;
	struct usage usage;

	if (!parts.idle || tp->packets_out)
		return;
	usage = usage_of(sk, state);
	usage.by_window = 0;
	usage.by_peer = state->frame.by_peer;
	proposal = idle_before_send(&state->idle, &usage);
	follow(sk, state, &proposal);
	record = begin_record(sk, state, EVENT_BEFORE_SEND, ca_state(tp));
	if (!record)
		return;
	record->initial = parts.initial;
	bpf_ringbuf_submit(record, 0);
}

/* The window with which a connection begins whose SYN or SYN-ACK was sent again. */
INLINE void begin_after_losses(struct tcp_sock *tp, struct law *law)
{
	u32 losses = tp->total_retrans;
	u64 window = parts.initial;
	u64 ssthresh = parts.syn_ssthresh;

	if (!parts.syn || !losses)
		return;
	if (parts.syn == HALVED) {
		u64 widest = 65535ULL << BITFIELD(tp, rx_opt.snd_wscale);

		losses = least(losses, 63);
		window = most(window >> losses, least(parts.syn_window, window));
		ssthresh = most((widest >> losses) / most(tp->mss_cache, 1), ssthresh);
	} else if (parts.syn_window) {
		window = parts.syn_window;
	}
	law_rebase(law, window << Q, ssthresh << Q);
	tp->snd_cwnd = clamped(tp, whole(law_window(law)));
}
#endif

#ifndef RECORDS_ONLY
HOOK law_init(u64 *ctx)
{
	struct sock *sk = ARGUMENT(ctx, 0, struct sock *);
	struct tcp_sock *tp = (struct tcp_sock *)sk;
	struct state *state = bpf_sk_storage_get(&states, sk, 0, SK_STORAGE_CREATE);

	if (!state)
		return 0;
	state->frame.connection = bpf_get_prandom_u32();
	state->frame.una = tp->snd_una;
	state->frame.mss = tp->mss_cache;
	state->frame.lost = tp->lost;
	state->frame.count = 0;
	state->frame.last_send_us = 0;
	state->frame.by_peer = 0;
	law_begin(&state->law, (u64)tp->snd_cwnd << Q);
#ifdef TAKES_PARTS
	begin_after_losses(tp, &state->law);
#endif
	tp->snd_ssthresh = kernel_ssthresh(&state->law);
#ifdef PACED
	sk->sk_pacing_status = PACING_NEEDED;
#endif
	note_begin(sk, state);
	return 0;
}

/* The kernel asks for a threshold when a reduction begins, and says why only after that, by `set_state`. */
HOOK law_asked(u64 *ctx)
{
	struct sock *sk = ARGUMENT(ctx, 0, struct sock *);
	struct tcp_sock *tp = (struct tcp_sock *)sk;
	struct state *state = bpf_sk_storage_get(&states, sk, 0, 0);

	if (state) {
		state->frame.asked = 1;
		state->frame.prr_delivered = 0;
	}
	return most(tp->snd_ssthresh, 2);
}

/* The event that a change of state is, beyond that change; EVENT_STATE if it is none. */
INLINE u8 meaning(struct frame *frame, u8 from, u8 to)
{
	bool asked = frame->asked;

	frame->asked = 0;
	if (to == LOSS)
		return asked ? EVENT_TIMEOUT : EVENT_TIMEOUT_AGAIN;
	if (asked && to == RECOVERY)
		return EVENT_LOSS;
	if (asked && to == CWR)
		return EVENT_MARK;
	return to < CWR && from >= CWR ? EVENT_REPAIRED : EVENT_STATE;
}

#ifdef TAKES_PARTS
/* The volume that a reduction starts from, by the idle rule; the window comes down to it first. */
INLINE u64 used_of(struct sock *sk, struct state *state, u8 event)
{
	struct usage usage = usage_of(sk, state);
	u64 used = event == EVENT_LOSS || event == EVENT_MARK ? idle_on_loss(&state->idle, &usage)
							      : 0;

	if (used)
		law_rebase(&state->law, ratio(used, usage.mss), 0);
	return law_window(&state->law);
}

/* The most that the idle rule leaves of the window after a repair. */
INLINE void bound(struct state *state, const struct tcp_sock *tp)
{
	u32 mss = most(tp->mss_cache, 1);
	u64 again = tp->bytes_retrans - state->idle.again_at_loss;
	u64 at_most = idle_after_repair(&state->idle, again, mss);

	if (at_most && ratio(at_most, mss) < law_window(&state->law))
		law_rebase(&state->law, ratio(at_most, mss), 0);
}
#endif

HOOK law_set_state(u64 *ctx)
{
	struct sock *sk = ARGUMENT(ctx, 0, struct sock *);
	u8 to = ARGUMENT(ctx, 1, u8);
	struct tcp_sock *tp = (struct tcp_sock *)sk;
	struct state *state = bpf_sk_storage_get(&states, sk, 0, 0);
	u64 reduce_from;
	u8 event, from;

	if (!state)
		return 0;
	from = ca_state(tp);
	event = meaning(&state->frame, from, to);
	reduce_from = law_window(&state->law);
	if (event == EVENT_REPAIRED) {
		law_repaired(&state->law);
#ifdef TAKES_PARTS
		if (parts.idle && from == RECOVERY)
			bound(state, tp);
#endif
	} else if (event != EVENT_STATE) {
#ifdef TAKES_PARTS
		if (parts.idle)
			reduce_from = used_of(sk, state, event);
#endif
		law_congestion(&state->law, event, reduce_from);
#ifdef HEEDS_TIMEOUTS
		if (event == EVENT_TIMEOUT || event == EVENT_TIMEOUT_AGAIN)
			law_timeout(&state->law, tp->tcp_mstamp, tp->snd_nxt);
#endif
#ifdef TAKES_PARTS
		state->idle.reduced_to = (law_window(&state->law) * tp->mss_cache) >> Q;
		state->idle.again_at_loss = tp->bytes_retrans;
#endif
	}
	if (event != EVENT_STATE) {
		struct record *record = begin_record(sk, state, event, to);

		tp->snd_ssthresh = kernel_ssthresh(&state->law);
		if (record) {
			record->ssthresh = tp->snd_ssthresh;
			record->reduce_from = reduce_from;
			record->usage |= from == RECOVERY ? USAGE_FROM_RECOVERY : 0;
			bpf_ringbuf_submit(record, 0);
		}
	}
#ifdef HEEDS_STATES
	law_state(&state->law, to, tp->snd_nxt);
	note(sk, state, EVENT_STATE, to, 0);
#endif
	return 0;
}

#if defined(HEEDS_SENDS) || defined(TAKES_PARTS)
HOOK law_event(u64 *ctx)
{
	struct sock *sk = ARGUMENT(ctx, 0, struct sock *);
	struct state *state = bpf_sk_storage_get(&states, sk, 0, 0);

	if (!state || ARGUMENT(ctx, 1, enum tcp_ca_event) != CA_EVENT_TX_START)
		return 0;
#ifdef TAKES_PARTS
	heed_silence(sk, state);
#endif
#ifdef HEEDS_SENDS
	const struct tcp_sock *tp = (struct tcp_sock *)sk;

	law_send_start(&state->law, tp->tcp_mstamp, state->frame.last_send_us, tp->snd_nxt);
	note(sk, state, EVENT_SEND_START, ca_state((struct tcp_sock *)tp), 0);
#endif
	return 0;
}
#endif

/* What seemed lost was only late. */
HOOK law_undo(u64 *ctx)
{
	struct sock *sk = ARGUMENT(ctx, 0, struct sock *);
	struct tcp_sock *tp = (struct tcp_sock *)sk;
	struct state *state = bpf_sk_storage_get(&states, sk, 0, 0);

	if (!state)
		return tp->snd_cwnd;
	law_spurious(&state->law);
	tp->snd_ssthresh = kernel_ssthresh(&state->law);
	note(sk, state, EVENT_SPURIOUS, ca_state(tp), 0);
	return clamped(tp, whole(law_window(&state->law)));
}

#ifdef PROPORTIONAL
/* RFC 9937 §6, in segments as Linux counts: what goes out is to what was delivered as the new window to the old. */
INLINE u32 proportional(const struct tcp_sock *tp, struct frame *frame, u32 target, u32 delivered,
			bool progress)
{
	u32 flight = in_flight(tp);
	u32 count;

	frame->prr_delivered += delivered;
	if (flight > target) {
		u64 due = (u64)target * frame->prr_delivered + tp->prior_cwnd - 1;

		count = less(tp->prior_cwnd ? due / tp->prior_cwnd : 0, tp->prr_out);
	} else {
		count = most(less(frame->prr_delivered, tp->prr_out), delivered);
		if (progress)
			count++;
		count = least(target - flight, count);
	}
	/* The fast retransmit goes out whatever the proportion. */
	return most(flight + most(count, tp->prr_out ? 0 : 1), 1);
}
#endif

/* `tcp_is_cwnd_limited` */
INLINE bool is_cwnd_limited(struct tcp_sock *tp)
{
	if (BITFIELD(tp, is_cwnd_limited))
		return 1;
	return tp->snd_cwnd < tp->snd_ssthresh && tp->snd_cwnd < 2 * tp->max_packets_out;
}

HOOK law_control(u64 *ctx)
{
	struct sock *sk = ARGUMENT(ctx, 0, struct sock *);
	int flag = ARGUMENT(ctx, 2, int);
	const struct rate_sample *sample = ARGUMENT(ctx, 3, const struct rate_sample *);
	struct tcp_sock *tp = (struct tcp_sock *)sk;
	struct state *state = bpf_sk_storage_get(&states, sk, 0, 0);
	struct ack ack = {};
	struct record *record;
	u32 acked, cwnd;
	bool slow_start, asks;
	u8 at;

	if (!state)
		return 0;
	at = ca_state(tp);
	state->frame.by_peer = tp->snd_nxt - state->frame.una + tp->mss_cache > tp->snd_wnd;
#ifdef TAKES_PARTS
	heed_use(sk, state, sample);
#endif
	acked = tp->snd_una - state->frame.una;
	state->frame.una = tp->snd_una;
	ack.now_us = tp->tcp_mstamp;
	ack.mss = most(tp->mss_cache, 1);
	ack.acked = ratio(acked, ack.mss);
	ack.delivered_now = (u64)sample->acked_sacked << Q;
	ack.in_flight = (u64)in_flight(tp) << Q;
	ack.rtt_us = sample->rtt_us > 0 ? sample->rtt_us : 0;
	ack.srtt_us = tp->srtt_us >> 3;
	ack.una = tp->snd_una;
	ack.nxt = tp->snd_nxt;
	ack.delivered = tp->delivered;
	ack.lost = tp->lost;
	ack.ack_delayed = sample->is_ack_delayed;
	ack.cwnd_limited = BITFIELD(tp, is_cwnd_limited);
	ack.repairing = at >= RECOVERY;
	ack.sample = sample->delivered > 0;
	ack.sample_delivered = ack.sample ? sample->delivered : 0;
	ack.sample_us = ack.sample && sample->interval_us > 0 ? sample->interval_us : 0;
	ack.sample_prior = sample->prior_delivered;
	/* `tcp_may_raise_cwnd`: not while a repair or a mark brings the window down. */
	ack.limited = is_cwnd_limited(tp);
	ack.grows = acked && at != CWR && !(flag & FLAG_ECE);
	asks = 0;
#ifdef TAKES_PARTS
	if (parts.idle) {
		struct usage usage = usage_of(sk, state);

		asks = ack.grows && at != RECOVERY;
		ack.limited = asks && idle_may_grow(&state->idle, &usage,
						    (u64)(in_flight(tp) + sample->acked_sacked) * ack.mss,
						    ack.una, ack.nxt, ack.repairing);
	}
#endif
#ifdef GROWS_IN_REPAIR
	ack.grows = ack.grows && (at >= RECOVERY || ack.limited);
#else
	ack.grows = ack.grows && at != RECOVERY;
#ifndef WHOLE_GROWTH
	ack.grows = ack.grows && ack.limited;
#endif
#endif
	slow_start = in_slow_start(&state->law);
	law_ack(&state->law, &ack);
	cwnd = whole(law_window(&state->law));
#ifdef PROPORTIONAL
	if (at == RECOVERY || at == CWR)
		cwnd = proportional(tp, &state->frame, cwnd, sample->acked_sacked,
				    acked && tp->lost == state->frame.lost);
	state->frame.lost = tp->lost;
#endif
	tp->snd_cwnd = clamped(tp, cwnd);
	tp->snd_ssthresh = kernel_ssthresh(&state->law);
#ifdef PACED
	/* The largest rate that the application has set (SO_MAX_PACING_RATE). */
	sk->sk_pacing_rate = least(law_pacing(&state->law, &ack), sk->sk_max_pacing_rate);
#endif
	record = begin_record(sk, state, EVENT_ACK, at);
	if (!record)
		return 0;
	record->marks = (ack.grows ? MARK_GROWS : 0) | (asks ? MARK_ASKS : 0) | (slow_start ? MARK_SLOW_START : 0) |
			(ack.limited ? MARK_LIMITED : 0) |
			(ack.cwnd_limited ? MARK_CWND_LIMITED : 0) |
			(ack.ack_delayed ? MARK_ACK_DELAYED : 0) |
			(ack.sample ? MARK_SAMPLE : 0) |
			(sample->is_app_limited ? MARK_APP_LIMITED : 0);
	record->acked = acked;
	record->delivered_now = sample->acked_sacked;
	record->rtt_us = ack.rtt_us ? (s32)ack.rtt_us : -1;
	record->sample_delivered = ack.sample ? (s32)ack.sample_delivered : -1;
	record->sample_us = ack.sample_us ? (s32)ack.sample_us : -1;
	record->sample_prior = ack.sample_prior;
	bpf_ringbuf_submit(record, 0);
	return 0;
}

#if defined(HEEDS_SENDS) || defined(TAKES_PARTS)
#define HEEDS_EVENTS law_event
#else
#define HEEDS_EVENTS 0
#endif

#ifndef ACKCLOCK_BUILT_IN
#define LAW(law_name)                                        \
	SEC(".struct_ops.link")                              \
	struct tcp_congestion_ops ack_##law_name = {         \
		.init = (void *)law_init,                    \
		.ssthresh = (void *)law_asked,               \
		.cwnd_event = (void *)HEEDS_EVENTS,          \
		.set_state = (void *)law_set_state,          \
		.undo_cwnd = (void *)law_undo,               \
		.cong_control = (void *)law_control,         \
		.name = "ack_" #law_name,                    \
	}
#endif
#endif
