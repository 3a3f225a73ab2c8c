/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * What kernel.h is to a law as BPF, for a law that is a part of a kernel that is built: `ackclock linux build` puts the
 * sources of this folder into it. Its structures are the kernel's own; storage and records are device.c's.
 */
#pragma once

#include <linux/bitops.h>
#include <linux/random.h>
#include <net/tcp.h>

#define INLINE static inline __attribute__((always_inline))
#define HOOK static int
#define ALONE static __attribute__((__noinline__))
#define ARGUMENT(ctx, n, type) ((type)((ctx)[n]))
#define BITFIELD(object, field) ((object)->field)
#define STATES(kind) _Static_assert(1, "kept by device.c")
#define RECORDS(bytes) _Static_assert(1, "kept by device.c")

/* Numbers of a law, which each registration has for its own. */
struct place {
	void *at;
	u32 size;
};

static const struct place place_settings, place_parts;

#define SETTING(kind, name)                                                   \
	static struct kind name;                                              \
	static const struct place place_##name = { &name, sizeof(name) };     \
	static struct kind name

enum { OPEN = TCP_CA_Open, DISORDER = TCP_CA_Disorder, CWR = TCP_CA_CWR, RECOVERY = TCP_CA_Recovery, LOSS = TCP_CA_Loss };
#define NO_SSTHRESH TCP_INFINITE_SSTHRESH
/* Of net/ipv4/tcp_input.c: the ACK echoes a mark. */
#define FLAG_ECE 0x40
#define PACING_NEEDED SK_PACING_NEEDED
#define SK_STORAGE_CREATE 1

/* The hooks of a law (frame.h), which device.c gives to the kernel. */
struct built_in {
	const char *name;
	int (*init)(u64 *ctx);
	int (*ssthresh)(u64 *ctx);
	int (*set_state)(u64 *ctx);
	int (*event)(u64 *ctx);
	int (*undo)(u64 *ctx);
	int (*control)(u64 *ctx);
	const struct place *settings;
	const struct place *parts;
	struct built_in *next;
};

void ack_offer(struct built_in *law);
void *ack_state(struct sock *sk, u32 size, bool create);
void *ack_reserve(u32 size);
void ack_submit(void);

#define bpf_sk_storage_get(map, sk, value, flags) \
	((struct state *)ack_state(sk, sizeof(struct state), (flags) & SK_STORAGE_CREATE))
#define bpf_ringbuf_reserve(map, size, flags) ack_reserve(size)
#define bpf_ringbuf_submit(data, flags) ack_submit()
#define bpf_get_prandom_u32 get_random_u32
/* The compiler's calls a function that the kernel does not have. */
#define __builtin_popcountll hweight64

#define LAW(law_name)                                     \
	static struct built_in offered = {                \
		.name = #law_name,                        \
		.init = law_init,                         \
		.ssthresh = law_asked,                    \
		.set_state = law_set_state,               \
		.event = HEEDS_EVENTS,                    \
		.undo = law_undo,                         \
		.control = law_control,                   \
		.settings = &place_settings,              \
		.parts = &place_parts,                    \
	};                                                \
	static int __init offers(void)                    \
	{                                                 \
		ack_offer(&offered);                      \
		return 0;                                 \
	}                                                 \
	fs_initcall(offers)
