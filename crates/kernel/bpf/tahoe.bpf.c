// SPDX-License-Identifier: MIT OR GPL-2.0-only
/*
 * Tahoe, 1/floor(W) segments an ACK and a window of one segment after a loss (Altman et al. 1997, equations 7 and 8)
 *
 * Model: crates/laws/src/growth/tahoe.rs
 * Words: tahoe
 *
 * The window of one segment after a loss, and the slow start from it, are the law's. What is sent again is the kernel's
 * scoreboard's: only what it holds for lost, where the paper goes back to the first lost segment and sends all.
 */
#include "kernel.h"
#include "constants.h"

/* Without a phase of recovery: ACKs of what is sent again count as any other. */
#define GROWS_IN_REPAIR

struct law {
	u64 w;
	u64 w_th;
};

#include "frame.h"

INLINE u64 law_window(const struct law *law)
{
	return law->w;
}

INLINE u64 law_ssthresh(const struct law *law)
{
	return law->w_th;
}

INLINE void law_begin(struct law *law, u64 window)
{
	law->w = window;
	law->w_th = 0;
}

INLINE void law_ack(struct law *law, const struct ack *ack)
{
	if (!ack->grows)
		return;
	if (in_slow_start(law))
		law->w += slow_start_step(law, ack);
	else
		law->w += ONE / most(law->w >> Q, 1);
}

INLINE void law_congestion(struct law *law, u8 event, u64 reduce_from)
{
	if (event != EVENT_TIMEOUT_AGAIN)
		law->w_th = most(reduce_from / 2, 2 * ONE);
	/* RFC 3168 §6.1.2: nothing is lost, so that there is no slow start. */
	law->w = event == EVENT_MARK ? law->w_th : ONE;
}

INLINE void law_repaired(struct law *law)
{
}

INLINE void law_spurious(struct law *law)
{
}

LAW(tahoe);
