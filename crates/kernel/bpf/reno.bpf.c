// SPDX-License-Identifier: MIT OR GPL-2.0-only
/*
 * The kernel's Reno, recorded
 *
 * Wraps: reno
 */
#include "kernel.h"
#include "recorder.h"

extern void tcp_reno_cong_avoid(struct sock *sk, u32 ack, u32 acked) KFUNC;
extern u32 tcp_reno_ssthresh(struct sock *sk) KFUNC;
extern u32 tcp_reno_undo_cwnd(struct sock *sk) KFUNC;

HOOK reno_init(u64 *ctx)
{
	begin(ARGUMENT(ctx, 0, struct sock *));
	return 0;
}

HOOK reno_ssthresh(u64 *ctx)
{
	return tcp_reno_ssthresh(ARGUMENT(ctx, 0, struct sock *));
}

HOOK reno_undo(u64 *ctx)
{
	return tcp_reno_undo_cwnd(ARGUMENT(ctx, 0, struct sock *));
}

HOOK reno_state(u64 *ctx)
{
	note_state(ARGUMENT(ctx, 0, struct sock *), ARGUMENT(ctx, 1, u8));
	return 0;
}

HOOK reno_acked(u64 *ctx)
{
	struct sock *sk = ARGUMENT(ctx, 0, struct sock *);
	const struct ack_sample *sample = ARGUMENT(ctx, 1, const struct ack_sample *);

	keep_rtt(sk, sample->rtt_us);
	if (in_repair(sk))
		note_ack(sk, sample->pkts_acked, sample->rtt_us);
	return 0;
}

HOOK reno_avoid(u64 *ctx)
{
	struct sock *sk = ARGUMENT(ctx, 0, struct sock *);
	u32 acked = ARGUMENT(ctx, 2, u32);

	tcp_reno_cong_avoid(sk, ARGUMENT(ctx, 1, u32), acked);
	note_ack(sk, acked, kept_rtt(sk));
	return 0;
}

SEC(".struct_ops.link")
struct tcp_congestion_ops ack_reno = {
	.init = (void *)reno_init,
	.ssthresh = (void *)reno_ssthresh,
	.undo_cwnd = (void *)reno_undo,
	.set_state = (void *)reno_state,
	.pkts_acked = (void *)reno_acked,
	.cong_avoid = (void *)reno_avoid,
	.name = "ack_reno",
};
