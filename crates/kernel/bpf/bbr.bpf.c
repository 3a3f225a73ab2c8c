// SPDX-License-Identifier: MIT OR GPL-2.0-only
/*
 * The kernel's BBR, recorded
 *
 * Wraps: bbr1
 */
#include "kernel.h"
#include "recorder.h"

extern void bbr_init(struct sock *sk) KFUNC;
extern void bbr_main(struct sock *sk, u32 ack, int flag, const struct rate_sample *sample) KFUNC;
extern u32 bbr_sndbuf_expand(struct sock *sk) KFUNC;
extern u32 bbr_undo_cwnd(struct sock *sk) KFUNC;
extern void bbr_cwnd_event(struct sock *sk, enum tcp_ca_event event) KFUNC;
extern u32 bbr_ssthresh(struct sock *sk) KFUNC;
extern u32 bbr_min_tso_segs(struct sock *sk) KFUNC;
extern void bbr_set_state(struct sock *sk, u8 state) KFUNC;

/* `TCP_CONG_NON_RESTRICTED` */
#define FOR_EVERYBODY 1

HOOK own_init(u64 *ctx)
{
	struct sock *sk = ARGUMENT(ctx, 0, struct sock *);

	bbr_init(sk);
	begin(sk);
	return 0;
}

HOOK own_control(u64 *ctx)
{
	struct sock *sk = ARGUMENT(ctx, 0, struct sock *);
	const struct rate_sample *sample = ARGUMENT(ctx, 3, const struct rate_sample *);
	u32 delivered = sample->acked_sacked;
	s32 rtt_us = sample->rtt_us;

	bbr_main(sk, ARGUMENT(ctx, 1, u32), ARGUMENT(ctx, 2, int), sample);
	note_ack(sk, delivered, rtt_us > 0 ? rtt_us : -1);
	return 0;
}

HOOK own_expand(u64 *ctx)
{
	return bbr_sndbuf_expand(ARGUMENT(ctx, 0, struct sock *));
}

HOOK own_undo(u64 *ctx)
{
	return bbr_undo_cwnd(ARGUMENT(ctx, 0, struct sock *));
}

HOOK own_event(u64 *ctx)
{
	bbr_cwnd_event(ARGUMENT(ctx, 0, struct sock *), ARGUMENT(ctx, 1, enum tcp_ca_event));
	return 0;
}

HOOK own_ssthresh(u64 *ctx)
{
	return bbr_ssthresh(ARGUMENT(ctx, 0, struct sock *));
}

HOOK own_segments(u64 *ctx)
{
	return bbr_min_tso_segs(ARGUMENT(ctx, 0, struct sock *));
}

HOOK own_state(u64 *ctx)
{
	struct sock *sk = ARGUMENT(ctx, 0, struct sock *);
	u8 to = ARGUMENT(ctx, 1, u8);

	bbr_set_state(sk, to);
	note_state(sk, to);
	return 0;
}

SEC(".struct_ops.link")
struct tcp_congestion_ops ack_bbr = {
	.init = (void *)own_init,
	.cong_control = (void *)own_control,
	.sndbuf_expand = (void *)own_expand,
	.undo_cwnd = (void *)own_undo,
	.cwnd_event = (void *)own_event,
	.ssthresh = (void *)own_ssthresh,
	.min_tso_segs = (void *)own_segments,
	.set_state = (void *)own_state,
	.flags = FOR_EVERYBODY,
	.name = "ack_bbr",
};
