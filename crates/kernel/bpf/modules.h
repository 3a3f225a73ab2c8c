/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * The common part of Linux's modules, as crates/laws/src/growth/linux.rs has it: a window in whole packets. A law has one as
 * `window`, and defines `law_reduced`, its `ssthresh`.
 */
#pragma once

/* Idle rules, and an answer to lost SYNs (idle.h). */
#define TAKES_PARTS

struct window {
	u32 cwnd;
	u32 ssthresh;
	u32 cnt;
	u32 reducing;
	u32 undo_kept;
	u32 undo_cwnd;
	u32 undo_ssthresh;
};

struct law;
static inline __attribute__((always_inline)) u32 law_reduced(struct law *law);

/* `tcp_current_ssthresh`, in no reduction; 0 if there is none. */
static inline __attribute__((always_inline)) u32 current_ssthresh(const struct window *window)
{
	u32 share = (window->cwnd >> 1) + (window->cwnd >> 2);

	if (!window->ssthresh)
		return 0;
	return window->ssthresh > share ? window->ssthresh : share;
}
