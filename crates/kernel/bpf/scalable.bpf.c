// SPDX-License-Identifier: MIT OR GPL-2.0-only
/*
 * Scalable TCP as Linux has it, a hundredth of a packet for each acknowledged, for kernels without that module
 *
 * Model: crates/laws/src/growth/scalable_linux.rs
 * Words: scalable
 */
#include "kernel.h"
#include "constants.h"
#include "modules.h"

#define PROPORTIONAL

struct law {
	struct window window;
};

#include "frame.h"
#include "modules_law.h"

INLINE void law_ack(struct law *law, const struct ack *ack)
{
	struct window *window = &law->window;
	u32 acked = ack->delivered_now >> Q;
	u32 cost;

	if (!ack->grows)
		return;
	if (in_slow_start(law)) {
		u32 step = slow_start_step(law, ack) >> Q;

		/* Of an ACK that ends slow start the rest counts. */
		window->cwnd += step;
		acked -= step;
	}
	if (!acked)
		return;
	cost = most(least(window->cwnd, SCALABLE_COST), 1);
	avoid(window, cost, acked);
}

INLINE u32 law_reduced(struct law *law)
{
	return law->window.cwnd - (law->window.cwnd >> SCALABLE_SHIFT);
}

LAW(scalable);
