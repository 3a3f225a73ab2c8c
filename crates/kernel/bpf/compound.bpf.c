// SPDX-License-Identifier: MIT OR GPL-2.0-only
/*
 * Compound TCP, Reno's window and one that grows while there is no queue (draft-sridharan-tcpm-ctcp-02)
 *
 * Model: crates/laws/src/growth/compound.rs
 * Words: compound
 */
#include "kernel.h"
#include "constants.h"

#define PROPORTIONAL

struct before {
	u64 cwnd;
	u64 dwnd;
	u64 ssthresh;
	u32 kept;
};

struct law {
	/* Reno's window and the delay window. */
	u64 cwnd;
	u64 dwnd;
	u64 ssthresh;
	struct before undo;
	u64 gamma;
	u64 waiting_reno;
	u32 has_waiting_reno;
	/* 0 while the delay part is not active. */
	u32 base_rtt_us;
	u32 round;
	u32 in_round;
	u32 growing;
};

#include "frame.h"

INLINE u64 law_window(const struct law *law)
{
	return law->cwnd + law->dwnd;
}

INLINE u64 law_ssthresh(const struct law *law)
{
	return law->ssthresh;
}

INLINE void law_begin(struct law *law, u64 window)
{
	struct law fresh = { .cwnd = window, .gamma = COMPOUND_GAMMA };

	*law = fresh;
}

/* wnd^k with k = 3/4, by two square roots. */
INLINE u64 power(u64 window)
{
	u64 half = root(window);

	return times(half, root(half));
}

INLINE void judge(struct law *law, u32 srtt_us, bool fresh)
{
	u64 share, waiting;

	/* "baseRTT is initialised to srtt" when the delay part becomes active. */
	if (!law->base_rtt_us)
		law->base_rtt_us = srtt_us;
	if (!srtt_us)
		return;
	share = less(ONE, ratio(law->base_rtt_us, srtt_us));
	waiting = times(law_window(law), share);
	if (!fresh) {
		law->waiting_reno = times(law->cwnd, share);
		law->has_waiting_reno = 1;
	}
	law->growing = waiting < law->gamma;
	if (!law->growing && !fresh)
		law->dwnd = less(law->dwnd, times(COMPOUND_ETA, waiting));
}

INLINE void law_ack(struct law *law, const struct ack *ack)
{
	u64 window, round;
	bool fresh;

	if (ack->rtt_us && law->base_rtt_us)
		law->base_rtt_us = least(law->base_rtt_us, ack->rtt_us);
	if (!ack->grows)
		return;
	if (in_slow_start(law)) {
		law->cwnd += slow_start_step(law, ack);
		return;
	}
	fresh = !law->in_round;
	if (fresh || (s32)(ack->una - law->round) > 0) {
		law->in_round = 1;
		law->round = ack->nxt;
		law->growing = 0;
		if (ack->srtt_us && law_window(law) >= COMPOUND_LOW_WINDOW)
			judge(law, ack->srtt_us, fresh);
	}
	window = most(law_window(law), 1);
	round = ratio(ack->acked, window);
	if (law->growing)
		law->dwnd += times(less(times(COMPOUND_ALPHA, power(window)), ONE), round);
	law->cwnd += round;
}

INLINE void law_congestion(struct law *law, u8 event, u64 reduce_from)
{
	u64 left = most(reduce_from - times(reduce_from, COMPOUND_BETA), 2 * ONE);

	if (event != EVENT_TIMEOUT_AGAIN) {
		law->undo.cwnd = law->cwnd;
		law->undo.dwnd = law->dwnd;
		law->undo.ssthresh = law->ssthresh;
		law->undo.kept = 1;
	}
	if (event == EVENT_LOSS || event == EVENT_MARK) {
		if (law->has_waiting_reno) {
			u64 sample = times(COMPOUND_GAMMA_SHARE, law->waiting_reno);
			u64 gamma = times(ONE - COMPOUND_LAMBDA, law->gamma) +
				    times(COMPOUND_LAMBDA, sample);

			law->gamma = most(COMPOUND_GAMMA_LOW, least(gamma, COMPOUND_GAMMA));
			law->has_waiting_reno = 0;
		}
		law->cwnd = least(most(law->cwnd / 2, ONE), left);
		law->dwnd = left - law->cwnd;
		law->ssthresh = left;
	} else {
		if (event == EVENT_TIMEOUT)
			law->ssthresh = left;
		law->cwnd = ONE;
		law->dwnd = 0;
		law->base_rtt_us = 0;
		law->has_waiting_reno = 0;
	}
	law->in_round = 0;
}

INLINE void law_repaired(struct law *law)
{
	law->in_round = 0;
}

INLINE void law_spurious(struct law *law)
{
	if (!law->undo.kept)
		return;
	law->undo.kept = 0;
	if (law_window(law) < law->undo.cwnd + law->undo.dwnd) {
		law->cwnd = law->undo.cwnd;
		law->dwnd = law->undo.dwnd;
	}
	law->ssthresh = law->undo.ssthresh ? most(law->ssthresh, law->undo.ssthresh) : 0;
	law->in_round = 0;
}

LAW(compound);
