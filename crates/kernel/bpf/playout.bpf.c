// SPDX-License-Identifier: MIT OR GPL-2.0-only
/*
 * A law made for video, paced, with four segments waiting (docs/algorithms/playout.md)
 *
 * Model: crates/laws/src/growth/playout.rs
 * Words: playout
 */
#include "kernel.h"
#include "constants.h"

#define PACED

struct law {
	u64 cwnd;
	u64 ssthresh;
	u64 undo_cwnd;
	u64 undo_ssthresh;
	u32 undo_kept;
	u32 srtt_us;
	u32 base_us;
	u32 largest_us;
	/* The standing round-trip time of the last round; 0 before one. */
	u32 standing_us;
	/* The round that goes on. */
	u32 least_us;
	u32 samples;
	u32 full;
	u32 began_delivered;
	u32 began_lost;
	/* Rounds: over when a segment is delivered that was sent after so much had been. */
	u32 ends_at;
	u32 empty_rounds;
	u32 crowded_rounds;
	u64 loss;
	/* Segments a microsecond. */
	u64 peak;
};

#include "frame.h"

INLINE u64 law_window(const struct law *law)
{
	return law->cwnd;
}

INLINE u64 law_ssthresh(const struct law *law)
{
	return law->ssthresh;
}

INLINE void law_begin(struct law *law, u64 window)
{
	struct law fresh = { .cwnd = window };

	*law = fresh;
}

INLINE void end_slow_start(struct law *law)
{
	law->ssthresh = most(law->cwnd, PLAYOUT_LEAST_WINDOW);
}

/* The part of the window that is on its way and does not wait: W base/standing. */
INLINE u64 moving(const struct law *law, u32 standing_us)
{
	return standing_us > law->base_us ? law->cwnd * law->base_us / standing_us : law->cwnd;
}

INLINE void look(struct law *law, u32 standing_us)
{
	u64 moves;

	if (!law->base_us || !standing_us)
		return;
	moves = moving(law, standing_us);
	if (law->cwnd - moves > PLAYOUT_BACKLOG) {
		law->cwnd = most(moves + PLAYOUT_BACKLOG, PLAYOUT_LEAST_WINDOW);
		end_slow_start(law);
	}
}

INLINE bool crowds(const struct law *law, u32 standing_us)
{
	u64 waits = less(standing_us, law->base_us);
	u64 longest = less(law->largest_us, law->base_us);
	u64 rate = standing_us ? (law->cwnd << (RATE - Q)) / standing_us : 0;

	return waits * ONE >= PLAYOUT_OTHERS_QUEUE * longest &&
	       rate < times(law->peak, PLAYOUT_OTHERS_RATE);
}

INLINE bool is_congested(const struct law *law)
{
	u32 standing_us = most(law->standing_us, law->least_us);
	u64 waits, longest;

	if (!law->base_us)
		return 1;
	if (!standing_us)
		standing_us = law->base_us;
	waits = less(standing_us, law->base_us);
	longest = less(law->largest_us, law->base_us);
	return waits * ONE >= PLAYOUT_CONGESTED * longest || law->loss > PLAYOUT_TOO_MUCH;
}

/* A round is over. */
INLINE void judge(struct law *law, u32 least_us, bool full, u32 arrived, u32 lost)
{
	u64 moves, waits, doublings, next;
	s64 step;

	law->loss = ratio(lost, arrived + lost);
	if (least_us) {
		law->standing_us = least_us;
		law->largest_us = most(law->largest_us, least_us);
	}
	if (in_slow_start(law)) {
		look(law, least_us);
		return;
	}
	if (!law->base_us || !least_us)
		return;
	if (!full) {
		law->empty_rounds = 0;
		return;
	}
	law->crowded_rounds = crowds(law, least_us) ? law->crowded_rounds + 1 : 0;
	if (law->crowded_rounds >= PLAYOUT_OTHERS_ROUNDS) {
		law->cwnd += ONE;
		return;
	}
	moves = moving(law, least_us);
	waits = law->cwnd - moves;
	law->empty_rounds = waits < PLAYOUT_BACKLOG / 2 ? law->empty_rounds + 1 : 0;
	/* FAST's equation 4 with its gamma of one half. */
	step = ((s64)(moves + PLAYOUT_BACKLOG) - (s64)law->cwnd) >> 1;
	doublings = least(less(law->empty_rounds, PLAYOUT_PATIENCE), 16);
	next = law->cwnd + (u64)(step << doublings);
	if ((s64)next < 0)
		next = 0;
	next = most(least(next, 2 * law->cwnd), PLAYOUT_LEAST_WINDOW);
	law->cwnd = next;
	/* Below the threshold slow start would begin anew. */
	if (law->ssthresh)
		law->ssthresh = least(law->ssthresh, next);
}

INLINE void law_ack(struct law *law, const struct ack *ack)
{
	if (ack->grows && in_slow_start(law))
		law->cwnd += least(ack->acked, ONE);
	if (ack->srtt_us)
		law->srtt_us = ack->srtt_us;
	if (ack->rtt_us) {
		law->base_us = law->base_us ? least(law->base_us, ack->rtt_us) : ack->rtt_us;
		law->least_us = law->least_us ? least(law->least_us, ack->rtt_us) : ack->rtt_us;
		law->samples++;
		if (law->samples == PLAYOUT_SAMPLES && in_slow_start(law))
			look(law, law->least_us);
	}
	if (ack->cwnd_limited)
		law->full = 1;
	if (!ack->sample)
		return;
	if (ack->sample_us)
		law->peak = most(law->peak, ((u64)ack->sample_delivered << RATE) / ack->sample_us);
	if ((s32)(ack->sample_prior - law->ends_at) >= 0) {
		u32 least_us = law->least_us;
		bool full = law->full;
		u32 arrived = ack->delivered - law->began_delivered;
		u32 lost = ack->lost - law->began_lost;

		law->ends_at = ack->delivered;
		law->least_us = 0;
		law->samples = 0;
		law->full = 0;
		law->began_delivered = ack->delivered;
		law->began_lost = ack->lost;
		judge(law, least_us, full, arrived, lost);
	}
}

INLINE void law_congestion(struct law *law, u8 event, u64 reduce_from)
{
	u64 left;

	if (event == EVENT_TIMEOUT || event == EVENT_TIMEOUT_AGAIN) {
		if (event == EVENT_TIMEOUT) {
			law->undo_cwnd = law->cwnd;
			law->undo_ssthresh = law->ssthresh;
			law->undo_kept = 1;
			law->ssthresh = most(times(PLAYOUT_LEFT, law->cwnd), PLAYOUT_LEAST_WINDOW);
		}
		law->cwnd = ONE;
		law->empty_rounds = 0;
		return;
	}
	if (event == EVENT_LOSS && !is_congested(law))
		return;
	left = event == EVENT_MARK ? PLAYOUT_LEFT_BY_MARK
	       : law->crowded_rounds >= PLAYOUT_OTHERS_ROUNDS ? PLAYOUT_LEFT_BESIDE
							      : PLAYOUT_LEFT;
	law->undo_cwnd = law->cwnd;
	law->undo_ssthresh = law->ssthresh;
	law->undo_kept = 1;
	law->cwnd = most(times(left, law->cwnd), PLAYOUT_LEAST_WINDOW);
	law->empty_rounds = 0;
	end_slow_start(law);
}

INLINE void law_repaired(struct law *law)
{
}

INLINE void law_spurious(struct law *law)
{
	if (!law->undo_kept)
		return;
	law->undo_kept = 0;
	law->cwnd = most(law->cwnd, law->undo_cwnd);
	law->ssthresh = law->undo_ssthresh;
}

INLINE u64 law_pacing(const struct law *law, const struct ack *ack)
{
	u64 bytes = times(law->cwnd, ack->mss);
	u64 gain = in_slow_start(law) ? PLAYOUT_SLOW_START_RATIO : PLAYOUT_AVOIDANCE_RATIO;

	/* Thousandths of a second, so that the product of a large window stays in 64 bits. */
	return most(times(bytes * 1000, gain) * 1000 / most(law->srtt_us ? law->srtt_us : 1000, 1), 1);
}

LAW(playout);
