/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * The parts of a name that a law takes beside its growth: idle rules (RFC 2861 and RFC 7661, as crates/laws/src/idle has
 * them), and what a lost SYN costs (crates/laws/src/start/syn_loss.rs). Volumes are in bytes and times in microseconds.
 *
 * The kernel has no hook where a burst ends. The rules hear of one with the next ACK, and of the time at which it ended.
 */
#pragma once

enum idle_rule { KEEPS = 0, CWV = 1, CWV_UNCLAMPED = 2, CWV_FIXED = 3, NEWCWV = 4 };
enum syn_rule { AS_THE_KERNEL = 0, FIXED = 1, HALVED = 2 };

/* Written by the loader (src/parts.rs). */
struct parts {
	u32 idle;
	u32 rto_us;
	u32 syn;
	/* The first window, and that after a lost SYN (0: the first) with its threshold (0: none); in segments. */
	u32 initial;
	u32 syn_window;
	u32 syn_ssthresh;
};

SETTING(parts, parts) = { KEEPS, 0, AS_THE_KERNEL, 10, 0, 0 };

/* Samples of pipeACK that are kept: one a round trip, each less than the one before it. */
#define SAMPLES 64

struct sample {
	u64 at_us;
	u64 bytes;
};

struct idle {
	/* RFC 2861: when silence was paid for, when the window was last full, and the most that was out since. */
	u64 paid_us;
	u64 full_at_us;
	u64 used;
	/* RFC 7661: when the window was last validated, and the volume that a reduction started from. */
	u64 validated_us;
	u64 reduced_from;
	u64 reduced_to;
	u64 again_at_loss;
	struct sample samples[SAMPLES];
	u32 first;
	u32 count;
	u32 defined;
	u32 in_round;
	u32 from;
	u32 until;
};

/* The use of the window, as `Usage` in Rust. */
struct usage {
	u64 now_us;
	/* 0 before the first segment. */
	u64 last_send_us;
	u64 rto_us;
	u64 unclamped_us;
	u64 cwnd;
	/* 0 if there is none. */
	u64 ssthresh;
	u64 in_flight;
	u64 outstanding;
	u64 peer_window;
	u64 initial;
	u32 srtt_us;
	u32 mss;
	bool by_window;
	bool by_peer;
	bool undisturbed;
};

struct proposal {
	/* 0 if nothing is to change. */
	u64 cwnd;
	u64 ssthresh;
};

INLINE struct proposal propose(const struct usage *usage, u64 cwnd)
{
	struct proposal proposal = { .cwnd = cwnd };

	if (usage->ssthresh)
		proposal.ssthresh = most(usage->ssthresh, usage->cwnd * 3 / 4);
	return proposal;
}

INLINE u64 counted_rto(const struct usage *usage)
{
	if (parts.idle == CWV_FIXED)
		return parts.rto_us;
	return parts.idle == CWV ? usage->rto_us : usage->unclamped_us;
}

INLINE struct proposal cwv_proposes(struct idle *idle, const struct usage *usage, u64 cwnd)
{
	idle->full_at_us = usage->now_us;
	idle->used = 0;
	return propose(usage, cwnd);
}

INLINE struct proposal cwv_before_send(struct idle *idle, const struct usage *usage)
{
	struct proposal none = {};
	u64 since = most(usage->last_send_us, idle->paid_us);
	u64 halvings;

	if (usage->by_window || usage->by_peer || !usage->last_send_us)
		return none;
	halvings = least(less(usage->now_us, since) / most(counted_rto(usage), 1), 63);
	if (!halvings)
		return none;
	idle->paid_us = usage->now_us;
	return cwv_proposes(idle, usage,
			    most(least(usage->cwnd, usage->peer_window) >> halvings, usage->mss));
}

INLINE struct proposal cwv_after_burst(struct idle *idle, const struct usage *usage)
{
	struct proposal none = {};
	u64 window = least(usage->cwnd, usage->peer_window);
	u64 since;

	if (!idle->full_at_us)
		idle->full_at_us = usage->now_us;
	since = less(usage->now_us, idle->full_at_us);
	if (usage->by_window || usage->by_peer || usage->in_flight + usage->mss > window) {
		idle->full_at_us = usage->now_us;
		idle->used = 0;
		return none;
	}
	idle->used = most(idle->used, usage->outstanding);
	if (since < counted_rto(usage))
		return none;
	return cwv_proposes(idle, usage,
			    most((window + least(idle->used, window)) / 2, usage->mss));
}
#define SAMPLE(idle, n) ((idle)->samples[((idle)->first + (n)) & (SAMPLES - 1)])

/* A moving maximum: what is at most as large as the new sample goes. */
ALONE int add_sample(struct idle *idle, u64 now_us, u64 bytes)
{
	u32 low = 0;
	u32 high;

	if (!idle)
		return 0;
	high = least(idle->count, SAMPLES);
	for (int n = 0; n < 7; n++) {
		u32 middle = (low + high) / 2;

		if (low >= high)
			break;
		if (SAMPLE(idle, middle).bytes <= bytes)
			high = middle;
		else
			low = middle + 1;
	}
	/* Without room the last of them, which is larger, stands for this one, too. */
	if (low >= SAMPLES) {
		SAMPLE(idle, SAMPLES - 1).at_us = now_us;
		return 0;
	}
	SAMPLE(idle, low).at_us = now_us;
	SAMPLE(idle, low).bytes = bytes;
	idle->count = low + 1;
	return 0;
}

INLINE void measure(struct idle *idle, u64 now_us, u32 una, u32 nxt, bool in_recovery)
{
	/* RFC 7661 §4.2: nothing is measured during fast recovery. */
	if (in_recovery) {
		idle->in_round = 0;
		return;
	}
	if (idle->in_round) {
		if ((s32)(una - idle->until) < 0)
			return;
		add_sample(idle, now_us, una - idle->from);
		idle->defined = 1;
	}
	/* A round that begins with nothing outstanding would measure silence. */
	idle->in_round = nxt != una;
	idle->from = una;
	idle->until = nxt;
}

/* pipeACK; the samples that are too old go. */
ALONE u64 pipe_ack(struct idle *idle, u64 now_us, u32 srtt_us)
{
	u64 period = most(3ULL * srtt_us, 1000000);
	u32 low = 0;
	u32 high;

	if (!idle)
		return 0;
	high = least(idle->count, SAMPLES);
	for (int n = 0; n < 7; n++) {
		u32 middle = (low + high) / 2;

		if (low >= high)
			break;
		if (less(now_us, SAMPLE(idle, middle).at_us) <= period)
			high = middle;
		else
			low = middle + 1;
	}
	idle->first = (idle->first + low) & (SAMPLES - 1);
	idle->count = less(idle->count, low);
	return idle->count ? SAMPLE(idle, 0).bytes : 0;
}

INLINE bool validates(struct idle *idle, u64 now_us, u32 srtt_us, u64 cwnd)
{
	u64 pipe = pipe_ack(idle, now_us, srtt_us);
	bool validated = !idle->defined || pipe * 2 >= cwnd;

	if (validated)
		idle->validated_us = now_us;
	return validated;
}

/* RFC 7661 §4.4.3 */
INLINE struct proposal newcwv_expires(struct idle *idle, const struct usage *usage)
{
	struct proposal none = {};
	u64 periods;

	if (validates(idle, usage->now_us, usage->srtt_us, usage->cwnd))
		return none;
	if (!idle->validated_us)
		idle->validated_us = usage->now_us;
	periods = less(usage->now_us, idle->validated_us) / NEWCWV_NON_VALIDATED_PERIOD_US;
	if (!periods)
		return none;
	idle->validated_us += periods * NEWCWV_NON_VALIDATED_PERIOD_US;
	return propose(usage, least(most(usage->cwnd >> least(periods, 63), usage->initial),
				    usage->cwnd));
}

INLINE struct proposal idle_before_send(struct idle *idle, const struct usage *usage)
{
	if (parts.idle != NEWCWV)
		return cwv_before_send(idle, usage);
	idle->in_round = 0;
	return newcwv_expires(idle, usage);
}

INLINE struct proposal idle_after_burst(struct idle *idle, const struct usage *usage)
{
	struct proposal none = {};

	if (parts.idle != NEWCWV)
		return cwv_after_burst(idle, usage);
	return usage->undisturbed ? newcwv_expires(idle, usage) : none;
}

/* True if the window may grow on this ACK, that found `before` bytes in flight. */
INLINE bool idle_may_grow(struct idle *idle, const struct usage *usage, u64 before, u32 una, u32 nxt,
			  bool in_recovery)
{
	bool full = before + usage->mss > usage->cwnd;

	if (parts.idle != NEWCWV)
		return full || usage->by_peer;
	measure(idle, usage->now_us, una, nxt, in_recovery);
	return validates(idle, usage->now_us, usage->srtt_us, usage->cwnd) || usage->by_window ||
	       full;
}

/* RFC 7661 §4.4.1: max(pipeACK, LossFlightSize), or 0 if the window is validated. */
INLINE u64 idle_on_loss(struct idle *idle, const struct usage *usage)
{
	u64 pipe;
	bool validated;

	if (parts.idle != NEWCWV)
		return 0;
	pipe = pipe_ack(idle, usage->now_us, usage->srtt_us);
	validated = validates(idle, usage->now_us, usage->srtt_us, usage->cwnd);
	if (!idle->defined)
		pipe = 0;
	idle->count = 0;
	idle->defined = 0;
	idle->in_round = 0;
	idle->reduced_from = 0;
	if (validated)
		return 0;
	idle->reduced_from =
		most(least(most(pipe, usage->outstanding), usage->cwnd), usage->mss);
	return idle->reduced_from;
}

/* RFC 7661 §4.4.1: the most that the window is to be after a repair that sent `again` bytes; 0 if the rule has no say. */
INLINE u64 idle_after_repair(struct idle *idle, u64 again, u32 mss)
{
	u64 from = idle->reduced_from;

	idle->reduced_from = 0;
	if (parts.idle != NEWCWV || !from)
		return 0;
	return most(idle->reduced_to * less(from, again) / from, mss);
}
