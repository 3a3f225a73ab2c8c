/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* Packets as programs see them, and the Quick-Start option in an IPv4 header (RFC 4782 §3.1). */
#pragma once

#include "../kernel.h"

enum { MAP_TYPE_HASH = 1, MAP_TYPE_ARRAY = 2, MAP_TYPE_PERCPU_ARRAY = 6 };

static void *(*bpf_map_lookup_elem)(void *map, const void *key) = (void *)1;
static long (*bpf_map_update_elem)(void *map, const void *key, const void *value, u64 flags) =
	(void *)2;
static long (*bpf_map_delete_elem)(void *map, const void *key) = (void *)3;
static u64 (*bpf_ktime_get_ns)(void) = (void *)5;

/* The contexts of XDP and tc (include/uapi/linux/bpf.h), which the verifier knows by their layout. */
struct xdp_md {
	u32 data;
	u32 data_end;
	u32 data_meta;
	u32 ingress_ifindex;
	u32 rx_queue_index;
	u32 egress_ifindex;
};

struct __sk_buff {
	u32 len;
	u32 pkt_type;
	u32 mark;
	u32 queue_mapping;
	u32 protocol;
	u32 vlan[3];
	u32 priority;
	u32 ingress_ifindex;
	u32 ifindex;
	u32 tc_index;
	u32 cb[5];
	u32 hash;
	u32 tc_classid;
	u32 data;
	u32 data_end;
	u32 napi_id;
	u32 family;
	u32 remote_ip4;
	u32 local_ip4;
	u32 remote_ip6[4];
	u32 local_ip6[4];
	u32 remote_port;
	u32 local_port;
	u32 data_meta;
	u64 flow_keys;
	u64 tstamp;
	u32 wire_len;
	u32 gso_segs;
	struct sock *sk;
};

enum { XDP_DROP = 1, XDP_PASS = 2 };
/* The next program of tc decides (`TCX_NEXT`). */
enum { TC_NEXT = -1, TC_SHOT = 2 };

#define IPV4_HEADER 20
#define IPV6_HEADER 40
#define LONGEST_HEADER 60
#define NOP 1
#define QUICK_START 25
#define OPTION_LEN 8
/* RFC 4782 §3.1: the functions. */
#define REQUEST 0
#define REPORT 8
/* 40,000 bit/s times 2 to the power of the code. */
#define UNIT_BPS 40000ULL
#define MOST_CODE 15

/*
 * The code of the largest rate that is at most `bps`; 0 below 80 kbit/s. The place of the highest one is a count of ones, so
 * that there is neither a division nor a branch, of which the verifier would follow each.
 */
INLINE u32 code_at_most(u64 bps)
{
	u64 ones = bps | UNIT_BPS;
	u32 code;

	ones |= ones >> 1;
	ones |= ones >> 2;
	ones |= ones >> 4;
	ones |= ones >> 8;
	ones |= ones >> 16;
	ones |= ones >> 32;
	/* 40,000 has sixteen bits. */
	code = __builtin_popcountll(ones) - 16;
	code -= (UNIT_BPS << code) > bps && code;
	return code > MOST_CODE ? MOST_CODE : code;
}

/* The 2 K bits of a nonce that a rate of code K may show (RFC 4782 §3.4). */
INLINE u32 field_mask(u32 code)
{
	return (1U << (2 * (code & 15))) - 1;
}

/* Numbers of packets, which have the highest byte first. */
INLINE u32 word_at(const u8 *at)
{
	return __builtin_bswap32(*(const u32 *)at);
}

INLINE void put_word(u8 *at, u32 word)
{
	*(u32 *)at = __builtin_bswap32(word);
}

INLINE u32 half_at(const u8 *at)
{
	return __builtin_bswap16(*(const u16 *)at);
}

INLINE u32 folded(u64 sum)
{
	sum = (sum >> 32) + (sum & 0xffffffff);
	sum = (sum >> 16) + (sum & 0xffff);
	sum = (sum >> 16) + (sum & 0xffff);
	sum = (sum >> 16) + (sum & 0xffff);
	return sum;
}

/* A Quick-Start option: type, length, function, rate and QS TTL, and the nonce above two bits without a meaning. */
struct option {
	u32 head;
	u32 nonce;
};

#define OPTION_HEAD (QUICK_START << 24 | OPTION_LEN << 16)
#define NOPS 0x01010101

/* What an option that begins at an even or odd place adds to a sum of 16-bit words (RFC 1071 §2B). */
INLINE u32 sum_of_option(struct option option, bool odd)
{
	u32 sum = folded((u64)option.head + option.nonce);

	return odd ? (sum << 8 | sum >> 8) & 0xffff : sum;
}
