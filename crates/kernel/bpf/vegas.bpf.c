// SPDX-License-Identifier: MIT OR GPL-2.0-only
/*
 * Vegas as Linux has it, by the smallest round-trip time of a round, for kernels without that module
 *
 * Model: crates/laws/src/growth/vegas_linux.rs
 * Words: vegas
 */
#include "kernel.h"
#include "constants.h"
#include "modules.h"

#define PROPORTIONAL
/* The module judges by itself what an ACK is worth in a window that is not full. */
#define WHOLE_GROWTH
#define HEEDS_STATES

struct law {
	struct window window;
	/* Not while something is amiss; then the law is Reno's. */
	u32 disabled;
	/* SND.NXT when the round began. */
	u32 round;
	u32 samples;
	/* Of the connection, which silence makes it forget, and of the round; 0 if there is none. */
	u32 base_rtt_us;
	u32 min_rtt_us;
};

#include "frame.h"
#include "modules_law.h"

/* `vegas_enable`: a round begins. */
INLINE void begin_round(struct law *law, u32 nxt)
{
	law->disabled = 0;
	law->round = nxt;
	law->samples = 0;
	law->min_rtt_us = 0;
}

/* `tcp_slow_start`: the rest beyond the threshold. */
INLINE u32 slow_start(struct window *window, u32 acked)
{
	u32 room = window->ssthresh ? less(window->ssthresh, window->cwnd) : ~0U;
	u32 taken = least(acked, room);

	window->cwnd += taken;
	return acked - taken;
}

/* `tcp_reno_cong_avoid` */
INLINE void grow_as_reno(struct law *law, const struct ack *ack)
{
	struct window *window = &law->window;
	u32 acked = ack->delivered_now >> Q;

	if (!ack->limited)
		return;
	if (in_slow_start(law))
		acked = slow_start(window, acked);
	if (!acked)
		return;
	avoid(window, most(window->cwnd, 1), acked);
}

/* A smaller window does not begin slow start again. */
INLINE void lower_threshold(struct window *window)
{
	window->ssthresh =
		window->ssthresh ? least(window->ssthresh, window->cwnd) : window->cwnd;
}

INLINE void judge(struct law *law, const struct ack *ack)
{
	struct window *window = &law->window;
	u64 cwnd = window->cwnd;
	u64 rtt = most(law->min_rtt_us, 1);
	u64 base = most(law->base_rtt_us, 1);
	u64 waiting = cwnd * less(rtt, base) / base;

	if (in_slow_start(law)) {
		if (waiting > VEGAS_GAMMA) {
			window->cwnd = least(cwnd, cwnd * base / rtt + 1);
			lower_threshold(window);
		} else {
			slow_start(window, ack->delivered_now >> Q);
		}
	} else if (waiting > VEGAS_BETA) {
		window->cwnd = cwnd - 1;
		lower_threshold(window);
	} else if (waiting < VEGAS_ALPHA) {
		window->cwnd = cwnd + 1;
	}
	window->cwnd = most(window->cwnd, 2);
	window->ssthresh = current_ssthresh(window);
}

INLINE void law_ack(struct law *law, const struct ack *ack)
{
	if (ack->rtt_us) {
		/* The kernel adds one so that no sample is zero. */
		u32 rtt = ack->rtt_us + 1;

		law->base_rtt_us = law->base_rtt_us ? least(law->base_rtt_us, rtt) : rtt;
		law->min_rtt_us = law->min_rtt_us ? least(law->min_rtt_us, rtt) : rtt;
		law->samples++;
	}
	if (!ack->grows)
		return;
	if (law->disabled) {
		grow_as_reno(law, ack);
		return;
	}
	if ((s32)(ack->una - law->round) <= 0) {
		if (in_slow_start(law))
			slow_start(&law->window, ack->delivered_now >> Q);
		return;
	}
	law->round = ack->nxt;
	if (law->min_rtt_us && law->base_rtt_us && law->samples >= VEGAS_SAMPLES)
		judge(law, ack);
	else
		grow_as_reno(law, ack);
	law->samples = 0;
	law->min_rtt_us = 0;
}

INLINE void law_state(struct law *law, u8 to, u32 nxt)
{
	if (to == OPEN)
		begin_round(law, nxt);
	else
		law->disabled = 1;
}

INLINE void law_send_start(struct law *law, u64 now_us, u64 last_send_us, u32 nxt)
{
	law->base_rtt_us = 0;
	begin_round(law, nxt);
}

INLINE u32 law_reduced(struct law *law)
{
	return law->window.cwnd / 2;
}

LAW(vegas);
