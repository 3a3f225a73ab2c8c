/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* The functions of a law that keeps a `struct window` (modules.h); after frame.h. */
#pragma once

INLINE u64 law_window(const struct law *law)
{
	return (u64)law->window.cwnd << Q;
}

INLINE u64 law_ssthresh(const struct law *law)
{
	return (u64)law->window.ssthresh << Q;
}

INLINE void law_begin(struct law *law, u64 window)
{
	struct law fresh = { .window = { .cwnd = window >> Q } };

	*law = fresh;
}

INLINE void law_congestion(struct law *law, u8 event, u64 reduce_from)
{
	struct window *window = &law->window;

	window->cnt = 0;
	if (event != EVENT_TIMEOUT_AGAIN) {
		window->undo_kept = 1;
		window->undo_cwnd = window->cwnd;
		window->undo_ssthresh = current_ssthresh(window);
		window->ssthresh = most(law_reduced(law), 2);
	}
	window->reducing = event == EVENT_LOSS || event == EVENT_MARK;
	window->cwnd = window->reducing ? window->ssthresh : 1;
}

/* In whole packets, as the module counts. */
INLINE void law_rebase(struct law *law, u64 window, u64 ssthresh)
{
	if (ssthresh)
		law->window.ssthresh = most(ssthresh >> Q, 2);
	if (window)
		law->window.cwnd = most(window >> Q, 1);
}

/* `tcp_cong_avoid_ai`: a credit saved up while a packet cost more buys one, not many. */
INLINE void avoid(struct window *window, u32 cost, u32 acked)
{
	if (window->cnt >= cost) {
		window->cnt = 0;
		window->cwnd++;
	}
	window->cnt += acked;
	window->cwnd += window->cnt / cost;
	window->cnt %= cost;
}

/* `tcp_end_cwnd_reduction` */
INLINE void law_repaired(struct law *law)
{
	if (law->window.reducing)
		law->window.cwnd = law->window.ssthresh;
	law->window.reducing = 0;
}

/* `tcp_undo_cwnd_reduction` */
INLINE void law_spurious(struct law *law)
{
	struct window *window = &law->window;

	window->reducing = 0;
	if (!window->undo_kept)
		return;
	window->undo_kept = 0;
	window->cwnd = most(window->cwnd, window->undo_cwnd);
	window->ssthresh =
		window->undo_ssthresh ? most(window->ssthresh, window->undo_ssthresh) : 0;
}
