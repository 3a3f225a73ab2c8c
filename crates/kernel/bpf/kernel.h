/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * The kernel's structures and helpers, as far as the laws touch them.
 *
 * Each structure has only the fields that are used here, in any order: the loader moves every access to where the
 * field is in the running kernel (CO-RE, by its BTF). No header of a kernel is needed or copied. A law that is a part of
 * a kernel that we build has that kernel's own (built_in.h).
 */
#pragma once

#ifdef ACKCLOCK_BUILT_IN
#include "built_in.h"
#else

typedef unsigned char u8;
typedef unsigned short u16;
typedef unsigned int u32;
typedef unsigned long long u64;
typedef signed int s32;
typedef signed long long s64;
typedef _Bool bool;

#define SEC(name) __attribute__((section(name), used))
/* A hook of the kernel; its arguments come as 64-bit words. */
#define HOOK SEC("struct_ops") int
/* Seen by the verifier by itself, and not once for each path that leads to it. */
#define ALONE __attribute__((noinline))
/* Numbers that the loader writes before the law is registered. */
#define SETTING(kind, name) const volatile struct kind name SEC(".rodata." #name)
#define INLINE static inline __attribute__((always_inline))
#define KFUNC __attribute__((section(".ksyms")))

/* Maps are declared by their types, which the loader reads. */
#define UINT(name, value) int (*name)[value]
#define TYPE(name, value) typeof(value) *name
/* What is kept of each connection, and the records of all. */
#define STATES(kind)                           \
	struct {                               \
		UINT(type, MAP_TYPE_SK_STORAGE); \
		UINT(map_flags, F_NO_PREALLOC);  \
		TYPE(key, int);                \
		TYPE(value, struct kind);      \
	} states SEC(".maps")
#define RECORDS(bytes)                       \
	struct {                             \
		UINT(type, MAP_TYPE_RINGBUF); \
		UINT(max_entries, bytes);    \
	} records SEC(".maps")

enum { MAP_TYPE_SK_STORAGE = 24, MAP_TYPE_RINGBUF = 27 };
enum { F_NO_PREALLOC = 1, SK_STORAGE_CREATE = 1 };

/* The helpers, by their numbers in include/uapi/linux/bpf.h. */
static void *(*bpf_sk_storage_get)(void *map, void *sk, void *value, u64 flags) = (void *)107;
static void *(*bpf_ringbuf_reserve)(void *map, u64 size, u64 flags) = (void *)131;
static void (*bpf_ringbuf_submit)(void *data, u64 flags) = (void *)132;
static u32 (*bpf_get_prandom_u32)(void) = (void *)7;

#pragma clang attribute push(__attribute__((preserve_access_index)), apply_to = record)

struct sock_common {
	u32 skc_daddr;
	u32 skc_rcv_saddr;
	u16 skc_dport;
	u16 skc_num;
};

struct sock {
	struct sock_common __sk_common;
	u32 sk_pacing_status;
	unsigned long sk_pacing_rate;
	unsigned long sk_max_pacing_rate;
};

struct inet_sock {
	struct sock sk;
};

struct inet_connection_sock {
	struct inet_sock icsk_inet;
	u8 icsk_ca_state : 5;
};

struct tcp_options_received {
	u16 snd_wscale : 4;
};

struct tcp_sock {
	struct inet_connection_sock inet_conn;
	struct tcp_options_received rx_opt;
	u32 snd_una;
	u32 snd_nxt;
	u32 snd_cwnd;
	u32 snd_cwnd_clamp;
	u32 snd_ssthresh;
	u32 prior_cwnd;
	u32 prr_out;
	u32 packets_out;
	u32 max_packets_out;
	u32 sacked_out;
	u32 lost_out;
	u32 retrans_out;
	u32 delivered;
	u32 lost;
	u32 mss_cache;
	u32 srtt_us;
	u32 rttvar_us;
	u32 mdev_us;
	u32 snd_wnd;
	u32 total_retrans;
	u64 bytes_retrans;
	u64 tcp_mstamp;
	u64 tcp_wstamp_ns;
	u8 is_cwnd_limited : 1;
};

struct rate_sample {
	u32 prior_delivered;
	s32 delivered;
	long interval_us;
	long rtt_us;
	int losses;
	u32 acked_sacked;
	u32 prior_in_flight;
	bool is_app_limited;
	bool is_ack_delayed;
};

struct ack_sample {
	u32 pkts_acked;
	s32 rtt_us;
	u32 in_flight;
};

#pragma clang attribute pop

enum tcp_ca_event { CA_EVENT_TX_START = 0 };

/* The loader finds the members by their names, and the kernel's own structure has more. */
struct tcp_congestion_ops {
	u32 (*ssthresh)(struct sock *sk);
	void (*cong_avoid)(struct sock *sk, u32 ack, u32 acked);
	void (*set_state)(struct sock *sk, u8 state);
	void (*cwnd_event)(struct sock *sk, enum tcp_ca_event event);
	void (*pkts_acked)(struct sock *sk, const struct ack_sample *sample);
	void (*cong_control)(struct sock *sk, u32 ack, int flag, const struct rate_sample *sample);
	u32 (*undo_cwnd)(struct sock *sk);
	u32 (*sndbuf_expand)(struct sock *sk);
	u32 (*min_tso_segs)(struct sock *sk);
	char name[16];
	u32 flags;
	void (*init)(struct sock *sk);
	void (*release)(struct sock *sk);
};

/* `tcp_ca_state` */
enum { OPEN = 0, DISORDER = 1, CWR = 2, RECOVERY = 3, LOSS = 4 };
/* `TCP_INFINITE_SSTHRESH` */
#define NO_SSTHRESH 0x7fffffff
/* `FLAG_ECE` of net/ipv4/tcp_input.c: the ACK echoes a mark. */
#define FLAG_ECE 0x40
#define PACING_NEEDED 1

/* A field of less than a byte, by what the loader says of its place. */
#define BITFIELD(object, field)                                                                 \
	({                                                                                      \
		const void *at = (const void *)(object) +                                       \
				 __builtin_preserve_field_info((object)->field, 0);             \
		u64 value = 0;                                                                  \
		switch (__builtin_preserve_field_info((object)->field, 1)) {                    \
		case 1:                                                                         \
			value = *(const u8 *)at;                                                \
			break;                                                                  \
		case 2:                                                                         \
			value = *(const u16 *)at;                                               \
			break;                                                                  \
		case 4:                                                                         \
			value = *(const u32 *)at;                                               \
			break;                                                                  \
		case 8:                                                                         \
			value = *(const u64 *)at;                                               \
			break;                                                                  \
		}                                                                               \
		value <<= __builtin_preserve_field_info((object)->field, 4);                    \
		value >> __builtin_preserve_field_info((object)->field, 5);                     \
	})

/* The arguments of a struct_ops program come as an array of 64-bit words. */
#define ARGUMENT(ctx, n, type) ((type)((ctx)[n]))

/* The helpers for storage and ring buffers are open to programs whose licence a GPL kernel takes. */
char LICENSE[] SEC("license") = "Dual MIT/GPL";
#endif
