// SPDX-License-Identifier: MIT OR GPL-2.0-only
/*
 * Reno as Linux has it, a packet a window, for the parts that the kernel's own does not take
 *
 * Model: crates/laws/src/growth/reno_linux.rs
 * Words: reno(linux)
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

	if (!ack->grows)
		return;
	if (in_slow_start(law)) {
		u32 step = slow_start_step(law, ack) >> Q;

		window->cwnd += step;
		acked -= step;
	}
	if (acked)
		avoid(window, most(window->cwnd, 1), acked);
}

INLINE u32 law_reduced(struct law *law)
{
	return law->window.cwnd / 2;
}

LAW(reno_linux);
