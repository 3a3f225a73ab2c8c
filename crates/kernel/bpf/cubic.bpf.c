// SPDX-License-Identifier: MIT OR GPL-2.0-only
/*
 * The kernel's CUBIC, recorded
 *
 * Wraps: cubic
 */
#include "kernel.h"
#include "recorder.h"

extern void cubictcp_init(struct sock *sk) KFUNC;
extern void cubictcp_cong_avoid(struct sock *sk, u32 ack, u32 acked) KFUNC;
extern u32 cubictcp_recalc_ssthresh(struct sock *sk) KFUNC;
extern void cubictcp_state(struct sock *sk, u8 state) KFUNC;
extern void cubictcp_cwnd_event(struct sock *sk, enum tcp_ca_event event) KFUNC;
extern void cubictcp_acked(struct sock *sk, const struct ack_sample *sample) KFUNC;
extern u32 tcp_reno_undo_cwnd(struct sock *sk) KFUNC;

HOOK cubic_init(u64 *ctx)
{
	struct sock *sk = ARGUMENT(ctx, 0, struct sock *);

	cubictcp_init(sk);
	begin(sk);
	return 0;
}

HOOK cubic_ssthresh(u64 *ctx)
{
	return cubictcp_recalc_ssthresh(ARGUMENT(ctx, 0, struct sock *));
}

HOOK cubic_undo(u64 *ctx)
{
	return tcp_reno_undo_cwnd(ARGUMENT(ctx, 0, struct sock *));
}

HOOK cubic_event(u64 *ctx)
{
	cubictcp_cwnd_event(ARGUMENT(ctx, 0, struct sock *), ARGUMENT(ctx, 1, enum tcp_ca_event));
	return 0;
}

HOOK cubic_state(u64 *ctx)
{
	struct sock *sk = ARGUMENT(ctx, 0, struct sock *);
	u8 to = ARGUMENT(ctx, 1, u8);

	cubictcp_state(sk, to);
	note_state(sk, to);
	return 0;
}

HOOK cubic_acked(u64 *ctx)
{
	struct sock *sk = ARGUMENT(ctx, 0, struct sock *);
	const struct ack_sample *sample = ARGUMENT(ctx, 1, const struct ack_sample *);

	cubictcp_acked(sk, sample);
	keep_rtt(sk, sample->rtt_us);
	if (in_repair(sk))
		note_ack(sk, sample->pkts_acked, sample->rtt_us);
	return 0;
}

HOOK cubic_avoid(u64 *ctx)
{
	struct sock *sk = ARGUMENT(ctx, 0, struct sock *);
	u32 acked = ARGUMENT(ctx, 2, u32);

	cubictcp_cong_avoid(sk, ARGUMENT(ctx, 1, u32), acked);
	note_ack(sk, acked, kept_rtt(sk));
	return 0;
}

SEC(".struct_ops.link")
struct tcp_congestion_ops ack_cubic = {
	.init = (void *)cubic_init,
	.ssthresh = (void *)cubic_ssthresh,
	.undo_cwnd = (void *)cubic_undo,
	.cwnd_event = (void *)cubic_event,
	.set_state = (void *)cubic_state,
	.pkts_acked = (void *)cubic_acked,
	.cong_avoid = (void *)cubic_avoid,
	.name = "ack_cubic",
};
