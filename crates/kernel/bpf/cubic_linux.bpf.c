// SPDX-License-Identifier: MIT OR GPL-2.0-only
/*
 * CUBIC as Linux has it, with HyStart, for the parts that the kernel's own does not take
 *
 * Model: crates/laws/src/growth/cubic_linux.rs
 * Words: cubic(linux)
 *
 * The clock's ticks are milliseconds of the socket's own clock, whatever the kernel was built with.
 */
#include "kernel.h"
#include "constants.h"
#include "modules.h"

#define PROPORTIONAL
#define HEEDS_SENDS
#define HEEDS_TIMEOUTS

/* Expressions of the model, over its numbers. */
#define CUBE_SHIFT (10 + 3 * CUBIC_LINUX_BICTCP_HZ)
#define CUBE_FACTOR ((1ULL << CUBE_SHIFT) / CUBIC_LINUX_CUBE_RTT_SCALE)
#define BETA_FRIENDLY                                                                             \
	(8 * (CUBIC_LINUX_BETA_SCALE + CUBIC_LINUX_BETA) / 3 /                                    \
	 (CUBIC_LINUX_BETA_SCALE - CUBIC_LINUX_BETA))
/* The cube of a longer distance from the plateau does not fit: about six minutes. */
#define FARTHEST 350000

static const u8 seeds[] = CUBIC_LINUX_SEEDS;

#define SEED_COUNT (sizeof(seeds) / sizeof(seeds[0]))

struct curve {
	u32 cnt;
	u32 last_max_cwnd;
	u32 last_cwnd;
	u32 origin_point;
	u32 ack_cnt;
	u32 tcp_cwnd;
	u32 delay_min_us;
	u32 k;
	/* Ticks; 0 if there is none. */
	u64 last_time;
	u64 epoch_start;
};

struct hystart {
	u64 begin_us;
	u64 last_ack_us;
	u32 end;
	u32 smallest_us;
	u32 samples;
	u32 found;
	u32 in_round;
};

struct law {
	struct window window;
	struct curve curve;
	struct hystart start;
};

#include "frame.h"
#include "modules_law.h"

INLINE u64 ticks(u64 us)
{
	return us / (1000000 / CUBIC_LINUX_HZ);
}

INLINE u32 bits_of(u64 value)
{
	value |= value >> 1;
	value |= value >> 2;
	value |= value >> 4;
	value |= value >> 8;
	value |= value >> 16;
	value |= value >> 32;
	return __builtin_popcountll(value);
}

/* `cubic_root`: a step of Newton's method from a seed. */
INLINE u32 cube_root(u64 a)
{
	u32 bits = bits_of(a);
	u32 shift, leading;
	u64 seed;

	if (bits <= 6)
		return 0;
	shift = (bits - 6 + 2) / 3;
	leading = (a >> (3 * shift)) - 8;
	if (leading >= SEED_COUNT)
		return 0;
	seed = ((u64)(seeds[leading] + 10) << shift) >> 6;
	if (seed < 2)
		return 0;
	return ((2 * seed + a / (seed * (seed - 1))) * 341) >> 10;
}

INLINE u32 target_at(const struct curve *curve, u64 t)
{
	u64 off = least(t < curve->k ? curve->k - t : t - curve->k, FARTHEST);
	u64 delta = (CUBIC_LINUX_CUBE_RTT_SCALE * off * off * off) >> CUBE_SHIFT;

	return t < curve->k ? less(curve->origin_point, delta) : curve->origin_point + delta;
}

INLINE void follow_curve(struct curve *curve, u64 now, u32 cwnd, u32 acked)
{
	u64 ahead;
	u32 target;

	if (!curve->epoch_start) {
		curve->ack_cnt = acked;
		curve->tcp_cwnd = cwnd;
		curve->k = cube_root(CUBE_FACTOR * less(curve->last_max_cwnd, cwnd));
		curve->origin_point = most(curve->last_max_cwnd, cwnd);
		curve->epoch_start = now;
	}
	/* `usecs_to_jiffies` rounds up. */
	ahead = (curve->delay_min_us + 1000000 / CUBIC_LINUX_HZ - 1) / (1000000 / CUBIC_LINUX_HZ);
	target = target_at(curve, ((less(now, curve->epoch_start) + ahead)
				   << CUBIC_LINUX_BICTCP_HZ) /
					  CUBIC_LINUX_HZ);
	curve->cnt = target > cwnd ? cwnd / (target - cwnd) : 100 * cwnd;
	if (!curve->last_max_cwnd)
		curve->cnt = least(curve->cnt, CUBIC_LINUX_SLOWEST_SEARCH);
}

/* Never falls behind Reno's window. */
INLINE void be_friendly(struct curve *curve, u32 cwnd)
{
	u32 costs = most((cwnd * BETA_FRIENDLY) >> 3, 1);
	/* What is exactly enough is not yet enough. */
	u32 bought = less(curve->ack_cnt, 1) / costs;

	curve->ack_cnt -= bought * costs;
	curve->tcp_cwnd += bought;
	if (curve->tcp_cwnd > cwnd)
		curve->cnt = least(curve->cnt, cwnd / (curve->tcp_cwnd - cwnd));
}

/* `bictcp_update` */
INLINE void update(struct curve *curve, u64 now, u32 cwnd, u32 acked)
{
	u64 since = now - curve->last_time;

	curve->ack_cnt += acked;
	if (curve->last_time && curve->last_cwnd == cwnd && since <= CUBIC_LINUX_HZ / 32)
		return;
	/* The curve moves once a tick. */
	if (!curve->epoch_start || !curve->last_time || since) {
		curve->last_cwnd = cwnd;
		curve->last_time = now;
		follow_curve(curve, now, cwnd, acked);
	}
	be_friendly(curve, cwnd);
	curve->cnt = most(curve->cnt, CUBIC_LINUX_FASTEST);
}

/* `hystart_ack_delay` in nanoseconds: four bursts at the pacing rate, at most a millisecond. */
INLINE u64 ack_delay_ns(const struct law *law, const struct ack *ack)
{
	u64 cwnd = law->window.cwnd;
	u64 half = law->window.ssthresh / 2;
	u64 ratio = !law->window.ssthresh || cwnd < half ? HYSTART_SLOW_START_RATIO
							 : HYSTART_AVOIDANCE_RATIO;
	u64 delay = ack->srtt_us * 1000ULL * HYSTART_FOUR_BURSTS /
		    most(ratio * cwnd * ack->mss / 100, 1);

	return least(delay, HYSTART_LARGEST_ACK_DELAY_US * 1000);
}

INLINE void begin_round(struct hystart *start, u64 now_us, u32 nxt)
{
	start->begin_us = now_us;
	start->last_ack_us = now_us;
	start->end = nxt;
	start->smallest_us = ~0U;
	start->samples = 0;
	start->in_round = 1;
}

/* `hystart_update`: slow start ends with a train of ACKs that is too long, or with a delay that has grown. */
INLINE void judge_slow_start(struct law *law, const struct ack *ack)
{
	struct hystart *start = &law->start;
	u64 least_us = law->curve.delay_min_us;

	if (start->found)
		return;
	if (!start->in_round || (s32)(ack->una - start->end) > 0)
		begin_round(start, ack->now_us, ack->nxt);
	if (law->window.cwnd < HYSTART_LOW_WINDOW)
		return;
	if (ack->now_us - start->last_ack_us <= HYSTART_ACK_DELTA_US) {
		start->last_ack_us = ack->now_us;
		if ((ack->now_us - start->begin_us) * 1000 >
		    (least_us * 1000 + ack_delay_ns(law, ack)) / 2)
			start->found = 1;
	}
	start->smallest_us = least(start->smallest_us, ack->rtt_us);
	if (start->samples < HYSTART_MIN_SAMPLES) {
		start->samples++;
	} else {
		u64 more = most(least(least_us * 1000 / HYSTART_DELAY_DIVISOR, HYSTART_DELAY_MAX_US * 1000),
				HYSTART_DELAY_MIN_US * 1000);

		if (start->smallest_us * 1000ULL > least_us * 1000 + more)
			start->found = 1;
	}
	if (start->found)
		law->window.ssthresh = most(law->window.cwnd, 2);
}

/* `cubictcp_acked` */
INLINE void hear_delay(struct law *law, const struct ack *ack)
{
	struct curve *curve = &law->curve;

	/* Samples right after a repair are not to be trusted. */
	if (curve->epoch_start && ticks(ack->now_us) < curve->epoch_start + CUBIC_LINUX_HZ)
		return;
	if (!curve->delay_min_us || ack->rtt_us < curve->delay_min_us)
		curve->delay_min_us = ack->rtt_us;
	if (in_slow_start(law))
		judge_slow_start(law, ack);
}

INLINE void law_ack(struct law *law, const struct ack *ack)
{
	struct window *window = &law->window;
	u32 acked = ack->delivered_now >> Q;

	if (ack->rtt_us)
		hear_delay(law, ack);
	if (!ack->grows)
		return;
	if (in_slow_start(law)) {
		u32 step = slow_start_step(law, ack) >> Q;

		window->cwnd += step;
		acked -= step;
	}
	if (!acked)
		return;
	update(&law->curve, ticks(ack->now_us), window->cwnd, acked);
	avoid(window, most(law->curve.cnt, 1), acked);
}

/* `cubictcp_cwnd_event`: time in which nothing was sent does not count. */
INLINE void law_send_start(struct law *law, u64 now_us, u64 last_send_us, u32 nxt)
{
	struct curve *curve = &law->curve;
	u64 now = ticks(now_us);

	if (curve->epoch_start && last_send_us)
		curve->epoch_start = least(curve->epoch_start + (now - ticks(last_send_us)), now);
}

/* `cubictcp_state`: everything is forgotten. */
INLINE void law_timeout(struct law *law, u64 now_us, u32 nxt)
{
	struct curve fresh = {};

	law->curve = fresh;
	law->start.found = 0;
	begin_round(&law->start, now_us, nxt);
}

/* `cubictcp_recalc_ssthresh` */
INLINE u32 law_reduced(struct law *law)
{
	struct curve *curve = &law->curve;
	u64 cwnd = law->window.cwnd;

	curve->epoch_start = 0;
	curve->last_max_cwnd =
		cwnd < curve->last_max_cwnd
			? cwnd * (CUBIC_LINUX_BETA_SCALE + CUBIC_LINUX_BETA) /
				  (2 * CUBIC_LINUX_BETA_SCALE)
			: cwnd;
	return cwnd * CUBIC_LINUX_BETA / CUBIC_LINUX_BETA_SCALE;
}

LAW(cubic_linux);
