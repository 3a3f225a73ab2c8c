/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * The frame of a law: the kernel's hooks, translated into the events of a growth law (crates/tcp/src/event.rs).
 *
 * A law defines, before it includes this file, `struct law` and the functions that are declared here. It owns
 * `cong_control`, so that neither the kernel's proportional rate reduction nor its timeout writes the window: the kernel
 * says what is lost, the law how much goes out. Laws that leave a repair to the sender get the reduction of RFC 9937 from
 * here (`PROPORTIONAL`).
 */
#pragma once

#include "fixed.h"
#include "record.h"

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
};

struct state {
	struct frame frame;
	struct law law;
};

struct {
	UINT(type, MAP_TYPE_SK_STORAGE);
	UINT(map_flags, F_NO_PREALLOC);
	TYPE(key, int);
	TYPE(value, struct state);
} states SEC(".maps");

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
INLINE void law_send_start(struct law *law, u32 nxt);
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

INLINE u32 kernel_ssthresh(const struct law *law)
{
	u64 ssthresh = law_ssthresh(law);

	return ssthresh ? ssthresh >> Q : NO_SSTHRESH;
}

INLINE u32 clamped(const struct tcp_sock *tp, u32 cwnd)
{
	return least(cwnd, tp->snd_cwnd_clamp);
}

#ifndef RECORDS_ONLY
SEC("struct_ops")
int law_init(u64 *ctx)
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
	law_begin(&state->law, (u64)tp->snd_cwnd << Q);
	tp->snd_ssthresh = kernel_ssthresh(&state->law);
#ifdef PACED
	sk->sk_pacing_status = PACING_NEEDED;
#endif
	note(sk, state, EVENT_BEGIN, ca_state(tp), 0);
	return 0;
}

/* The kernel asks for a threshold when a reduction begins, and says why only after that, by `set_state`. */
SEC("struct_ops")
int law_asked(u64 *ctx)
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

SEC("struct_ops")
int law_set_state(u64 *ctx)
{
	struct sock *sk = ARGUMENT(ctx, 0, struct sock *);
	u8 to = ARGUMENT(ctx, 1, u8);
	struct tcp_sock *tp = (struct tcp_sock *)sk;
	struct state *state = bpf_sk_storage_get(&states, sk, 0, 0);
	u64 reduce_from;
	u8 event;

	if (!state)
		return 0;
	event = meaning(&state->frame, ca_state(tp), to);
	reduce_from = law_window(&state->law);
	if (event == EVENT_REPAIRED)
		law_repaired(&state->law);
	else if (event != EVENT_STATE)
		law_congestion(&state->law, event, reduce_from);
	if (event != EVENT_STATE) {
		tp->snd_ssthresh = kernel_ssthresh(&state->law);
		note(sk, state, event, to, reduce_from);
	}
#ifdef HEEDS_STATES
	law_state(&state->law, to, tp->snd_nxt);
	note(sk, state, EVENT_STATE, to, 0);
#endif
	return 0;
}

#ifdef HEEDS_STATES
SEC("struct_ops")
int law_event(u64 *ctx)
{
	struct sock *sk = ARGUMENT(ctx, 0, struct sock *);
	struct tcp_sock *tp = (struct tcp_sock *)sk;
	struct state *state = bpf_sk_storage_get(&states, sk, 0, 0);

	if (!state || ARGUMENT(ctx, 1, enum tcp_ca_event) != CA_EVENT_TX_START)
		return 0;
	law_send_start(&state->law, tp->snd_nxt);
	note(sk, state, EVENT_SEND_START, ca_state(tp), 0);
	return 0;
}
#endif

/* What seemed lost was only late. */
SEC("struct_ops")
int law_undo(u64 *ctx)
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

SEC("struct_ops")
int law_control(u64 *ctx)
{
	struct sock *sk = ARGUMENT(ctx, 0, struct sock *);
	int flag = ARGUMENT(ctx, 2, int);
	const struct rate_sample *sample = ARGUMENT(ctx, 3, const struct rate_sample *);
	struct tcp_sock *tp = (struct tcp_sock *)sk;
	struct state *state = bpf_sk_storage_get(&states, sk, 0, 0);
	struct ack ack = {};
	struct record *record;
	u32 acked, cwnd;
	bool slow_start;
	u8 at;

	if (!state)
		return 0;
	at = ca_state(tp);
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
	sk->sk_pacing_rate = law_pacing(&state->law, &ack);
#endif
	record = begin_record(sk, state, EVENT_ACK, at);
	if (!record)
		return 0;
	record->marks = (ack.grows ? MARK_GROWS : 0) | (slow_start ? MARK_SLOW_START : 0) |
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

#ifdef HEEDS_STATES
#define EVENTS .cwnd_event = (void *)law_event,
#else
#define EVENTS
#endif

#define LAW(law_name)										\
	SEC(".struct_ops.link")									\
	struct tcp_congestion_ops ack_##law_name = {						\
		.init = (void *)law_init,							\
		.ssthresh = (void *)law_asked,							\
		EVENTS .set_state = (void *)law_set_state,					\
		.undo_cwnd = (void *)law_undo,							\
		.cong_control = (void *)law_control,						\
		.name = "ack_" #law_name,							\
	}
#endif
