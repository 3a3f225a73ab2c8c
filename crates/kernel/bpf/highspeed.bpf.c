// SPDX-License-Identifier: MIT OR GPL-2.0-only
/*
 * HSTCP as Linux has it, by the table of RFC 3649 and ACK by ACK, for kernels without that module
 *
 * Model: crates/laws/src/growth/highspeed_linux.rs
 * Words: highspeed
 */
#include "kernel.h"
#include "constants.h"
#include "modules.h"

#define PROPORTIONAL

struct row {
	u32 window;
	/* The share that a loss costs, in 256ths. */
	u32 decrease;
};

static const struct row rows[] = HIGHSPEED_ROWS;

#define ROW_COUNT (sizeof(rows) / sizeof(rows[0]))

struct law {
	struct window window;
	/* The row of the table in which the window was when it last might have grown in avoidance. */
	u32 row;
};

#include "frame.h"
#include "modules_law.h"

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
	struct window *window = &law->window;

	if (!ack->grows)
		return;
	if (in_slow_start(law)) {
		/* Of an ACK that ends slow start the rest does not count. */
		window->cwnd += slow_start_step(law, ack) >> Q;
		return;
	}
	/* Each ACK counts a(w), however much it acknowledges. */
	law->row = find_row(window->cwnd);
	window->cnt += law->row + 1;
	if (window->cnt >= window->cwnd) {
		window->cnt -= window->cwnd;
		window->cwnd++;
	}
}

/* The row is not sought again: a loss in slow start costs what the last avoidance says. */
INLINE u32 law_reduced(struct law *law)
{
	u32 row = law->row;
	u32 decrease = row < ROW_COUNT ? rows[row].decrease : 0;

	return law->window.cwnd - (((u64)law->window.cwnd * decrease) >> 8);
}

LAW(highspeed);
