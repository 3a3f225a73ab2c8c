/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * The frame of a recorder: the kernel's own law does everything, by kernel functions, and its window is noted.
 *
 * In a repair the kernel's proportional rate reduction writes the window after the last hook of an ACK, so that such a
 * record has the window that the ACK found.
 */
#pragma once

#define RECORDS_ONLY

struct law {
	u64 window;
	u64 ssthresh;
};

#include "frame.h"

INLINE u64 law_window(const struct law *law)
{
	return law->window;
}

INLINE u64 law_ssthresh(const struct law *law)
{
	return law->ssthresh;
}

INLINE struct state *look(struct sock *sk, u64 flags)
{
	struct tcp_sock *tp = (struct tcp_sock *)sk;
	struct state *state = bpf_sk_storage_get(&states, sk, 0, flags);

	if (!state)
		return 0;
	state->law.window = (u64)tp->snd_cwnd << Q;
	state->law.ssthresh = tp->snd_ssthresh == NO_SSTHRESH ? 0 : (u64)tp->snd_ssthresh << Q;
	return state;
}

INLINE void begin(struct sock *sk)
{
	struct tcp_sock *tp = (struct tcp_sock *)sk;
	struct state *state = look(sk, SK_STORAGE_CREATE);

	if (!state)
		return;
	state->frame.connection = bpf_get_prandom_u32();
	state->frame.una = tp->snd_una;
	state->frame.count = 0;
	note(sk, state, EVENT_BEGIN, ca_state(tp), 0);
}

INLINE void note_ack(struct sock *sk, u32 delivered, s32 rtt_us)
{
	struct tcp_sock *tp = (struct tcp_sock *)sk;
	struct state *state = look(sk, 0);
	struct record *record;

	if (!state)
		return;
	record = begin_record(sk, state, EVENT_ACK, ca_state(tp));
	if (!record)
		return;
	record->acked = tp->snd_una - state->frame.una;
	state->frame.una = tp->snd_una;
	record->delivered_now = delivered;
	record->rtt_us = rtt_us;
	record->marks |= BITFIELD(tp, is_cwnd_limited) ? MARK_CWND_LIMITED : 0;
	bpf_ringbuf_submit(record, 0);
}

INLINE void note_state(struct sock *sk, u8 to)
{
	struct tcp_sock *tp = (struct tcp_sock *)sk;
	struct state *state = look(sk, 0);
	u8 from = ca_state(tp);

	if (!state)
		return;
	if (to == LOSS)
		note(sk, state, EVENT_TIMEOUT, to, 0);
	else if (to == RECOVERY && from < CWR)
		note(sk, state, EVENT_LOSS, to, 0);
	else if (to == CWR && from < CWR)
		note(sk, state, EVENT_MARK, to, 0);
	else if (to < CWR && from >= CWR)
		note(sk, state, EVENT_REPAIRED, to, 0);
}

/* The last round-trip time, which the kernel tells before it asks for the window. */
INLINE void keep_rtt(struct sock *sk, s32 rtt_us)
{
	struct state *state = bpf_sk_storage_get(&states, sk, 0, 0);

	if (state)
		state->frame.lost = rtt_us;
}

INLINE s32 kept_rtt(struct sock *sk)
{
	struct state *state = bpf_sk_storage_get(&states, sk, 0, 0);

	return state ? (s32)state->frame.lost : -1;
}

/* ACKs of a repair ask for no window. */
INLINE bool in_repair(struct sock *sk)
{
	u8 state = ca_state((struct tcp_sock *)sk);

	return state == CWR || state == RECOVERY;
}
