// SPDX-License-Identifier: MIT OR GPL-2.0-only
/*
 * The Quick-Start function of a router's outgoing interface (RFC 4782 §3.3 and appendix D; Scharf et al. 2008, §IV-D)
 *
 * It does what crates/net/src/parts/quick_start.rs and crates/wire/src/forward.rs do, by the same whole numbers: on the same
 * packets at the same times both leave the same bytes. There is no state of flows. Of a packet without the option only the
 * length is counted, a number for each processor, so that packets without the option share nothing.
 *
 * As XDP it may be the whole router (`forwards`): it checks the header, counts the TTL down and hands the packet to the
 * outgoing device. As tc it stands at that device, behind the kernel's own forwarding, and changes the option alone.
 */
#include "packet.h"

#define MOST_SLOTS 256

enum { ADMIT = 0, APPROVE = 1, DENY = 2, CHEAT = 3, ABSENT = 4 };

/* The verifier knows these two by name. */
struct bpf_spin_lock {
	u32 val;
};

struct bpf_timer {
	u64 opaque[2];
} __attribute__((aligned(8)));

/* Read and written by src/router.rs. */
struct router {
	struct bpf_spin_lock lock;
	u32 behaviour;
	u64 threshold_bps;
	u64 slot_ns;
	u32 history;
	u32 samples;
	u32 most;
	u32 cheat_to;
	u32 deletes;
	u32 forwards;
	/* Bytes in front of the IP header. */
	u32 lead;
	/* 0: the kernel forwards. */
	u32 out_ifindex;
	u32 addresses[3];
	/* True if decisions go to the ring buffer. */
	u32 tells;
	u64 slot_ends_ns;
	/* What the interface had carried when the slot began. */
	u64 carried;
	u64 measured_bps;
	u64 reserved_bps;
	/* The state of xoshiro256++. */
	u64 random[4];
	u32 rate_at;
	u32 approval_at;
	/* Slots to be ended now. */
	u32 longest;
	u32 unused;
	u64 rates[MOST_SLOTS];
	u64 approvals[MOST_SLOTS];
};

struct counts {
	u64 bytes;
	u64 packets;
	u64 requests;
	u64 approved;
	u64 denied;
	u64 dropped;
	/* A number on its way past the verifier (`unknown`). */
	u64 scratch;
};

struct clock {
	struct bpf_timer timer;
};

/* A decision over a request, and the packet's source. */
struct decision {
	u64 time_ns;
	u64 measured_bps;
	u64 reserved_bps;
	u32 source[4];
	u8 asked;
	u8 approved;
	u8 deleted;
	u8 version;
	u32 padding;
};

_Static_assert(sizeof(struct decision) == 48, "src/router.rs reads 48 bytes");

struct {
	UINT(type, MAP_TYPE_ARRAY);
	UINT(max_entries, 1);
	TYPE(key, u32);
	TYPE(value, struct router);
} router SEC(".maps");

struct {
	UINT(type, MAP_TYPE_PERCPU_ARRAY);
	UINT(max_entries, 1);
	TYPE(key, u32);
	TYPE(value, struct counts);
} counts SEC(".maps");

struct {
	UINT(type, MAP_TYPE_ARRAY);
	UINT(max_entries, 1);
	TYPE(key, u32);
	TYPE(value, struct clock);
} clock SEC(".maps");

/* Bytes that the interface carried without a packet here: a path's cross-traffic. */
struct {
	UINT(type, MAP_TYPE_ARRAY);
	UINT(max_entries, 1);
	TYPE(key, u32);
	TYPE(value, u64);
} beside SEC(".maps");

struct {
	UINT(type, MAP_TYPE_RINGBUF);
	UINT(max_entries, 1 << 20);
} decisions SEC(".maps");

static long (*bpf_redirect)(u32 ifindex, u64 flags) = (void *)23;
static long (*bpf_skb_pull_data)(struct __sk_buff *skb, u32 len) = (void *)39;
static long (*bpf_spin_lock)(struct bpf_spin_lock *lock) = (void *)93;
static long (*bpf_spin_unlock)(struct bpf_spin_lock *lock) = (void *)94;
static long (*bpf_timer_init)(struct bpf_timer *timer, void *map, u64 flags) = (void *)169;
static long (*bpf_timer_set_callback)(struct bpf_timer *timer, void *callback) = (void *)170;
static long (*bpf_timer_start)(struct bpf_timer *timer, u64 nsecs, u64 flags) = (void *)171;
static void *(*bpf_map_lookup_percpu_elem)(void *map, const void *key, u32 cpu) = (void *)195;

#define TIMER_ABSOLUTE 1
#define MONOTONIC 1
#define MOST_PROCESSORS 512

INLINE u64 rotated(u64 word, u32 by)
{
	return word << by | word >> (64 - by);
}

/* xoshiro256++, as crates/units/src/random.rs; thirty bits. */
INLINE u32 draw(struct router *it)
{
	u64 a = it->random[0], b = it->random[1], c = it->random[2], d = it->random[3];
	u64 result = rotated(a + d, 23) + a;
	u64 c2 = c ^ a, d2 = d ^ b;

	it->random[0] = a ^ d2;
	it->random[1] = b ^ c2;
	it->random[2] = c2 ^ b << 17;
	it->random[3] = rotated(d2, 45);
	return result >> 34;
}

/* floor(bytes * 8e9 / nanos) without 128 bits: the quotient and the rest are multiplied step by step. */
INLINE u64 rate_of(u64 bytes, u64 nanos)
{
	u64 quotient, rest;

	if (!nanos)
		return 0;
	quotient = bytes / nanos;
	rest = bytes % nanos * 8000;
	quotient = quotient * 8000 + rest / nanos;
	rest = rest % nanos * 1000;
	quotient = quotient * 1000 + rest / nanos;
	rest = rest % nanos * 1000;
	return quotient * 1000 + rest / nanos;
}

/*
 * A number that is read anew each time. The verifier would remember what a comparison said of one in a register, and follow
 * each of a loop's ends from there; for the same reason these loops have no `break`.
 */
#define FRESH(field) (*(volatile u32 *)&(field))

/* Ends the slots that are over at `now`, under the lock. */
INLINE void end_slots(struct router *it, u64 now, u64 carried)
{
	u64 over, rate, measured = 0, reserved = 0;
	u32 longest;

	if (!it->slot_ns || now < it->slot_ends_ns)
		return;
	over = 1 + (now - it->slot_ends_ns) / it->slot_ns;
	rate = rate_of(carried - it->carried, it->slot_ns * over);
	longest = it->samples > it->history ? it->samples : it->history;
	it->longest = over < longest ? over : longest;
	for (u32 n = 0; n < MOST_SLOTS; n++) {
		if (n < FRESH(it->longest)) {
			it->rate_at = it->rate_at + 1 < it->samples ? it->rate_at + 1 : 0;
			it->approval_at = it->approval_at + 1 < it->history ? it->approval_at + 1 : 0;
			it->rates[it->rate_at & (MOST_SLOTS - 1)] = rate;
			it->approvals[it->approval_at & (MOST_SLOTS - 1)] = 0;
		}
	}
	for (u32 n = 0; n < MOST_SLOTS; n++) {
		if (n < FRESH(it->samples) && it->rates[n] > measured)
			measured = it->rates[n];
		if (n < FRESH(it->history))
			reserved += it->approvals[n];
	}
	it->measured_bps = measured;
	it->reserved_bps = reserved;
	it->carried = carried;
	it->slot_ends_ns += it->slot_ns * over;
}

INLINE u64 all_carried(void)
{
	u32 key = 0;
	u64 *more = bpf_map_lookup_elem(&beside, &key);
	u64 sum = more ? *more : 0;

	for (u32 cpu = 0; cpu < MOST_PROCESSORS; cpu++) {
		struct counts *of = bpf_map_lookup_percpu_elem(&counts, &key, cpu);

		if (!of)
			break;
		sum += of->bytes;
	}
	return sum;
}

static int on_slot_end(void *map, u32 *key, struct clock *clock)
{
	u32 zero = 0;
	struct router *it = bpf_map_lookup_elem(&router, &zero);
	u64 now = bpf_ktime_get_ns();
	u64 carried = all_carried();
	u64 next;

	if (!it)
		return 0;
	bpf_spin_lock(&it->lock);
	end_slots(it, now, carried);
	next = it->slot_ends_ns;
	bpf_spin_unlock(&it->lock);
	bpf_timer_start(&clock->timer, next, TIMER_ABSOLUTE);
	return 0;
}

/* Begins the first slot of a router that lives by the kernel's clock: now, or at the time that the packet tells. */
SEC("tc")
int router_start(struct __sk_buff *skb)
{
	u64 *data = (u64 *)(long)skb->data;
	u32 zero = 0;
	struct clock *at = bpf_map_lookup_elem(&clock, &zero);
	struct router *it = bpf_map_lookup_elem(&router, &zero);

	if (!at || !it || (void *)(data + 1) > (void *)(long)skb->data_end)
		return 1;
	it->slot_ends_ns = (data[0] ? data[0] : bpf_ktime_get_ns()) + it->slot_ns;
	if (bpf_timer_init(&at->timer, &clock, MONOTONIC))
		return 2;
	if (bpf_timer_set_callback(&at->timer, on_slot_end))
		return 3;
	return bpf_timer_start(&at->timer, it->slot_ends_ns, TIMER_ABSOLUTE) ? 4 : 0;
}

/* Ends slots for a clock of somebody else's: the packet is the time in ns and the bytes carried. */
SEC("tc")
int router_advance(struct __sk_buff *skb)
{
	u64 *data = (u64 *)(long)skb->data;
	u32 zero = 0;
	struct router *it = bpf_map_lookup_elem(&router, &zero);
	u64 now, carried;

	if ((void *)(data + 2) > (void *)(long)skb->data_end || !it)
		return 1;
	now = data[0];
	carried = data[1];
	bpf_spin_lock(&it->lock);
	end_slots(it, now, carried);
	bpf_spin_unlock(&it->lock);
	return 0;
}

/* The code that a request of code `asked` gets, under the lock. */
INLINE u32 approve(struct router *it, u32 asked)
{
	u64 left, used;
	u32 code, at;

	if (it->behaviour == DENY)
		return 0;
	if (it->behaviour == APPROVE)
		return asked;
	used = it->measured_bps + it->reserved_bps;
	left = it->threshold_bps > used ? it->threshold_bps - used : 0;
	code = code_at_most(left);
	if (code > it->most)
		code = it->most;
	if (code > asked)
		code = asked;
	if (code) {
		at = it->approval_at & (MOST_SLOTS - 1);
		it->approvals[at] += UNIT_BPS << code;
		it->reserved_bps += UNIT_BPS << code;
	}
	return code;
}

/* Tells the laboratory of a decision; `source` is the address in the packet from `ip` on. */
INLINE void tell_of(const struct decision *told, const u8 *ip, const u8 *end)
{
	struct decision *decision = bpf_ringbuf_reserve(&decisions, sizeof(struct decision), 0);

	if (!decision)
		return;
	*decision = *told;
	decision->time_ns = bpf_ktime_get_ns();
	if (told->version == 4 && ip + IPV4_HEADER <= end)
		decision->source[0] = *(const u32 *)(ip + 12);
	if (told->version == 6 && ip + IPV6_HEADER <= end)
		for (int n = 0; n < 4; n++)
			decision->source[n] = *(const u32 *)(ip + 8 + 4 * n);
	bpf_ringbuf_submit(decision, 0);
}

/* The option after the decision on the request that it is, of the packet from `ip` on. */
INLINE struct option decide(struct router *it, struct counts *of, struct option option,
			    const u8 *ip, const u8 *end, u8 version)
{
	u32 asked = option.head >> 8 & 15;
	u32 approved, random, steps;
	u8 ttl = option.head - 1;
	u64 measured, reserved;
	bool deletes;

	bpf_spin_lock(&it->lock);
	measured = it->measured_bps;
	reserved = it->reserved_bps;
	approved = approve(it, asked);
	deletes = !approved && it->deletes;
	if (it->behaviour == CHEAT && asked) {
		approved = it->cheat_to > asked ? it->cheat_to : asked;
		random = approved > asked ? draw(it) : 0;
	} else {
		random = approved && approved < asked ? draw(it) : 0;
	}
	bpf_spin_unlock(&it->lock);
	if (it->tells) {
		struct decision told = { 0, measured, reserved, {}, asked, approved, deletes, version };

		tell_of(&told, ip, end);
	}
	of->requests++;
	if (approved)
		of->approved++;
	else
		of->denied++;
	if (deletes)
		return (struct option){ NOPS, NOPS };
	if (!approved)
		return (struct option){ option.head & 0xffff0000, 0 };
	/* The fields of the steps between are random, whichever way the rate went. */
	steps = (field_mask(asked) ^ field_mask(approved)) << 2;
	option.head = (option.head & 0xffff0000) | approved << 8 | ttl;
	option.nonce = ((option.nonce & ~steps) | (random << 2 & steps)) & ~3U;
	return option;
}

/* One register for a place in a packet, so that what was compared is what is read. */
#define KEEP(place) asm volatile("" : "+r"(place))

/* `value`, of which the verifier does not know that it is one of a few: it would follow each to the end. */
INLINE u32 unknown(struct counts *of, u32 value)
{
	*(volatile u64 *)&of->scratch = value;
	return *(volatile u64 *)&of->scratch;
}

enum { GOES_ON, DROPPED };

/* The IPv4 packet from `ip` on. */
INLINE int through_ipv4(struct router *it, struct counts *of, u8 *ip, u8 *end)
{
	u32 header_len, total_len;
	u64 at = IPV4_HEADER;
	u8 *place;
	struct option option;
	u64 sum = 0, delta = 0;
	u32 checksum;

	if (ip + IPV4_HEADER > end)
		return DROPPED;
	header_len = (ip[0] & 15) * 4;
	if (it->forwards) {
		total_len = half_at(ip + 2);
		if (header_len < IPV4_HEADER || total_len < header_len || ip + total_len > end)
			return DROPPED;
		for (u32 n = 0; n < LONGEST_HEADER; n += 4) {
			if (n >= header_len || ip + n + 4 > end)
				break;
			sum += word_at(ip + n);
		}
		if (folded(sum) != 0xffff || ip[8] <= 1)
			return DROPPED;
		/* RFC 1624, equation 3: the TTL is the high byte of its word. */
		delta = (~half_at(ip + 8) & 0xffff) + half_at(ip + 8) - 0x100;
		ip[8]--;
		header_len = unknown(of, header_len);
	}
	if (header_len > IPV4_HEADER && it->behaviour != ABSENT) {
		for (u32 n = IPV4_HEADER; n < LONGEST_HEADER; n++) {
			at = n;
			if (ip + n + 1 > end || ip[n] != NOP)
				break;
		}
		at = unknown(of, at);
		if (at > LONGEST_HEADER - OPTION_LEN || at + OPTION_LEN > header_len)
			goto out;
		place = ip + at;
		KEEP(place);
		if (place + OPTION_LEN > end)
			goto out;
		option.head = word_at(place);
		if ((option.head & 0xfffff000) == (OPTION_HEAD | REQUEST << 12)) {
			option.nonce = word_at(place + 4);
			delta += ~sum_of_option(option, at & 1) & 0xffff;
			option = decide(it, of, option, ip, end, 4);
			delta += sum_of_option(option, at & 1);
			put_word(place, option.head);
			put_word(place + 4, option.nonce);
		}
	}
out:
	if (delta) {
		checksum = ~folded((~half_at(ip + 10) & 0xffff) + delta);
		*(u16 *)(ip + 10) = __builtin_bswap16(checksum);
	}
	return GOES_ON;
}

/* A hop-by-hop header has so many options of padding in front at most that they are skipped. */
#define MOST_PADDING 8
/* Type 0x26, length 6, and the function of a request. */
#define IPV6_REQUEST 0x26060

INLINE int through_ipv6(struct router *it, struct counts *of, u8 *ip, u8 *end)
{
	u64 at = IPV6_HEADER + 2;
	struct option option;
	u32 header_end;
	u8 *place;

	if (ip + IPV6_HEADER > end)
		return DROPPED;
	if (it->forwards) {
		if (ip + IPV6_HEADER + half_at(ip + 4) > end || ip[7] <= 1)
			return DROPPED;
		ip[7]--;
	}
	if (ip[6] != 0 || it->behaviour == ABSENT || ip + at > end)
		return GOES_ON;
	header_end = IPV6_HEADER + 8 * (1 + ip[IPV6_HEADER + 1]);
	for (u32 n = 0; n < MOST_PADDING; n++) {
		if (at > 2048 || at + 2 > header_end)
			return GOES_ON;
		place = ip + at;
		KEEP(place);
		if (place + 2 > end)
			return GOES_ON;
		if (place[0] > 1)
			break;
		at = unknown(of, at + (place[0] ? 2 + place[1] : 1));
	}
	at = unknown(of, at);
	if (at > 2048 || at + OPTION_LEN > header_end)
		return GOES_ON;
	place = ip + at;
	KEEP(place);
	if (place + OPTION_LEN > end)
		return GOES_ON;
	option.head = word_at(place);
	if (option.head >> 12 != IPV6_REQUEST)
		return GOES_ON;
	option.nonce = word_at(place + 4);
	option = decide(it, of, option, ip, end, 6);
	/* Padding in its place, of which type and length do not count. */
	if (option.head == NOPS)
		option = (struct option){ 0x01060000, 0 };
	put_word(place, option.head);
	put_word(place + 4, option.nonce);
	return GOES_ON;
}

INLINE int through(struct router *it, struct counts *of, u8 *ip, u8 *end)
{
	if (ip + 1 > end)
		return DROPPED;
	if (ip[0] >> 4 == 4)
		return through_ipv4(it, of, ip, end);
	if (ip[0] >> 4 == 6)
		return through_ipv6(it, of, ip, end);
	return DROPPED;
}

/* True if behind `lead` bytes of Ethernet there is IP. */
INLINE bool is_ip(const u8 *data, const u8 *end, u32 lead)
{
	u32 type;

	if (lead != 14)
		return 1;
	if (data + 14 > end)
		return 0;
	type = half_at(data + 12);
	return type == 0x0800 || type == 0x86dd;
}

SEC("xdp")
int router_xdp(struct xdp_md *xdp)
{
	u8 *data = (u8 *)(long)xdp->data, *end = (u8 *)(long)xdp->data_end;
	u32 zero = 0, lead, out;
	struct router *it = bpf_map_lookup_elem(&router, &zero);
	struct counts *of = bpf_map_lookup_elem(&counts, &zero);
	int fate;

	if (!it || !of)
		return XDP_PASS;
	lead = it->lead;
	if (lead > 14 || !is_ip(data, end, lead) || data + lead + 1 > end)
		return XDP_PASS;
	fate = through(it, of, data + lead, end);
	if (fate == DROPPED && it->forwards) {
		of->dropped++;
		return XDP_DROP;
	}
	of->packets++;
	of->bytes += end - data - lead;
	out = it->forwards ? it->out_ifindex : 0;
	if (!out)
		return XDP_PASS;
	if (data + 14 > end)
		return XDP_DROP;
	for (int n = 0; n < 3; n++)
		*(u32 *)(data + 4 * n) = it->addresses[n];
	return bpf_redirect(out, 0);
}

SEC("tcx/egress")
int router_tc(struct __sk_buff *skb)
{
	u32 zero = 0, lead, len = skb->len;
	struct router *it = bpf_map_lookup_elem(&router, &zero);
	struct counts *of = bpf_map_lookup_elem(&counts, &zero);
	u8 *data = (u8 *)(long)skb->data, *end = (u8 *)(long)skb->data_end;
	int fate;

	if (!it || !of)
		return TC_NEXT;
	lead = it->lead;
	if (lead > 14 || !is_ip(data, end, lead))
		return TC_NEXT;
	/* A header that is not all in front is rare: only then the packet is pulled together. */
	if (data + lead + LONGEST_HEADER > end && end - data < len) {
		bpf_skb_pull_data(skb, len < 128 ? len : 128);
		data = (u8 *)(long)skb->data;
		end = (u8 *)(long)skb->data_end;
	}
	if (data + lead + 1 > end)
		return TC_NEXT;
	fate = through(it, of, data + lead, end);
	if (fate == DROPPED && it->forwards) {
		of->dropped++;
		return TC_SHOT;
	}
	of->packets++;
	of->bytes += len - lead;
	return TC_NEXT;
}
