// SPDX-License-Identifier: MIT OR GPL-2.0-only
/*
 * HSTCP as Linux has it, by the table of RFC 3649 and ACK by ACK, for kernels without that module
 *
 * Model: crates/tcp/src/growth/highspeed_linux.rs
 * Words: highspeed
 */
#include "kernel.h"
#include "constants.h"

#define PROPORTIONAL

struct row {
	u32 window;
	/* The share that a loss costs, in 256ths. */
	u32 decrease;
};

static const struct row rows[] = HIGHSPEED_ROWS;

#define ROW_COUNT (sizeof(rows) / sizeof(rows[0]))

/* In whole segments, as the kernel counts. */
struct law {
	u32 cwnd;
	u32 ssthresh;
	/* ACKs that have not yet bought a segment, each for a(w). */
	u32 cnt;
	u32 row;
	u32 reducing;
	u32 undo_kept;
	u32 undo_cwnd;
	u32 undo_ssthresh;
};

#include "frame.h"

INLINE u64 law_window(const struct law *law)
{
	return (u64)law->cwnd << Q;
}

INLINE u64 law_ssthresh(const struct law *law)
{
	return (u64)law->ssthresh << Q;
}

INLINE void law_begin(struct law *law, u64 window)
{
	struct law fresh = { .cwnd = window >> Q };

	*law = fresh;
}

/* The first row whose window is not exceeded. */
INLINE u32 find_row(u32 cwnd)
{
	u32 low = 0;
	u32 high = ROW_COUNT - 1;

	for (int n = 0; n < 7; n++) {
		u32 middle = (low + high) / 2;

		if (middle >= ROW_COUNT)
			break;
		if (cwnd > rows[middle].window)
			low = least(middle + 1, high);
		else
			high = middle;
	}
	return high;
}

INLINE void law_ack(struct law *law, const struct ack *ack)
{
	if (!ack->grows)
		return;
	if (in_slow_start(law)) {
		/* Of an ACK that ends slow start the rest does not count. */
		law->cwnd += slow_start_step(law, ack) >> Q;
		return;
	}
	law->row = find_row(law->cwnd);
	law->cnt += law->row + 1;
	if (law->cnt >= law->cwnd) {
		law->cnt -= law->cwnd;
		law->cwnd++;
	}
}

INLINE void law_congestion(struct law *law, u8 event, u64 reduce_from)
{
	law->cnt = 0;
	if (event != EVENT_TIMEOUT_AGAIN) {
		u32 row = law->row;
		u32 decrease = 0;

		/* `tcp_current_ssthresh` */
		law->undo_kept = 1;
		law->undo_cwnd = law->cwnd;
		law->undo_ssthresh =
			law->ssthresh ? most(law->ssthresh, (law->cwnd >> 1) + (law->cwnd >> 2)) : 0;
		/* The row is not sought again: a loss in slow start costs what the last avoidance says. */
		if (row < ROW_COUNT)
			decrease = rows[row].decrease;
		law->ssthresh = most(law->cwnd - (((u64)law->cwnd * decrease) >> 8), 2);
	}
	law->reducing = event == EVENT_LOSS || event == EVENT_MARK;
	law->cwnd = law->reducing ? law->ssthresh : 1;
}

INLINE void law_repaired(struct law *law)
{
	if (law->reducing)
		law->cwnd = law->ssthresh;
	law->reducing = 0;
}

INLINE void law_spurious(struct law *law)
{
	law->reducing = 0;
	if (!law->undo_kept)
		return;
	law->undo_kept = 0;
	law->cwnd = most(law->cwnd, law->undo_cwnd);
	law->ssthresh = law->undo_ssthresh ? most(law->ssthresh, law->undo_ssthresh) : 0;
}

LAW(highspeed);
