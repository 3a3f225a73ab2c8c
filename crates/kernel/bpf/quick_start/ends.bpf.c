// SPDX-License-Identifier: MIT OR GPL-2.0-only
/*
 * Quick-Start's end points on the kernel's own TCP (RFC 4782 §4), over IPv4
 *
 * tc writes and reads the option of the IP header, sockops that of the TCP header. A SYN or SYN-ACK that asks carries the
 * request, and so does the first data after silence; the peer answers with its next segment; the end that asked judges the
 * answer when its connection is there or when the answer comes, sets its window and its pacing, and reports with its next
 * data. What is judged, and in which order, is as in crates/tcp/src/endpoint/quick_start.rs.
 *
 * sockops may set a window before anything was sent, and no threshold. After that a law may: `ack_jump` sets both when a
 * connection is given to it, and gives it back to its own law at once, which begins anew.
 *
 * sockops programs stand at the machine's root cgroup: sockets of network namespaces that are not in `hosts` are let alone.
 */
#include "packet.h"

static long (*bpf_setsockopt)(void *context, int level, int name, void *value, int len) =
	(void *)49;
static long (*bpf_getsockopt)(void *context, int level, int name, void *value, int len) =
	(void *)57;
static struct tcp_sock *(*bpf_skc_to_tcp_sock)(void *sk) = (void *)137;
static long (*bpf_skb_adjust_room)(struct __sk_buff *skb, s32 more, u32 mode, u64 flags) =
	(void *)50;
static long (*bpf_sock_ops_cb_flags_set)(void *context, int flags) = (void *)59;
static u64 (*bpf_get_netns_cookie)(void *context) = (void *)122;
static long (*bpf_skb_pull_data)(struct __sk_buff *skb, u32 len) = (void *)39;
static long (*bpf_load_hdr_opt)(void *context, void *to, u32 len, u64 flags) = (void *)142;
static long (*bpf_store_hdr_opt)(void *context, const void *from, u32 len, u64 flags) =
	(void *)143;
static long (*bpf_reserve_hdr_opt)(void *context, u32 len, u64 flags) = (void *)144;

/* The context of sockops (include/uapi/linux/bpf.h), as far as it is read. */
struct bpf_sock_ops {
	u32 op;
	u32 args[4];
	u32 family;
	u32 remote_ip4;
	u32 local_ip4;
	u32 remote_ip6[4];
	u32 local_ip6[4];
	u32 remote_port;
	u32 local_port;
	u32 is_fullsock;
	u32 snd_cwnd;
	u32 srtt_us;
	u32 bpf_sock_ops_cb_flags;
	u32 state;
	u32 rtt_min;
	u32 snd_ssthresh;
	u32 rcv_nxt;
	u32 snd_nxt;
	u32 snd_una;
};

enum {
	CONNECT = 3,
	ACTIVE_ESTABLISHED = 4,
	PASSIVE_ESTABLISHED = 5,
	RETRANSMITTED = 9,
	LISTENS = 11,
	MEASURED_RTT = 12,
	OPTION_CAME = 13,
	OPTION_LEN_ASKED = 14,
	OPTION_WRITTEN = 15,
};

enum {
	TELL_RETRANSMISSIONS = 1 << 1,
	TELL_RTT = 1 << 3,
	TELL_UNKNOWN_OPTIONS = 1 << 5,
	WRITES_OPTIONS = 1 << 6,
};
enum { SOL_SOCKET = 1, SOL_TCP = 6, CONGESTION = 13, MAX_PACING_RATE = 47, FIRST_WINDOW = 1001 };
enum { ROOM_BEHIND_IP = 0, NO_CHECKSUM_RESET = 1 << 5 };
enum { AF_INET = 2, TCP = 6, SYN_FLAG = 2 };

#define RESPONSE 27
#define ETHERTYPE_IPV4 0x0800

/* The steps of a request, as src/ends.rs reads them. */
enum step {
	ASKED = 1,
	APPROVED,
	NOT_NEEDED,
	UNANSWERED,
	TTL_MISMATCH,
	NONCE_MISMATCH,
	RATE_TOO_HIGH,
	LOST_PACKET,
};

/* An end that takes part, by its address; written by src/ends.rs. */
struct end {
	/* The code that it asks for; 0: none. */
	u32 asks;
	u32 answers;
	/* The code of the most that it lets the peer have. */
	u32 most;
	/* The code that a lying receiver answers with; 0: none. */
	u32 lies;
	/* Bytes of a full packet, and of its payload. */
	u32 packet;
	u32 payload;
	/* True if the threshold becomes the approved window. */
	u32 threshold;
	/* True if the SYN or SYN-ACK asks, and the first data after silence. */
	u32 at_setup;
	u32 after_idle;
};

struct between {
	u32 local;
	u32 remote;
};

/* A connection, as one end sees it. */
struct state {
	u64 asked_ns;
	u32 asked;
	u32 nonce;
	u8 ttl_diff;
	/* The response that waits for a segment: true, TTL difference, code, nonce. */
	u8 responds;
	u8 response_ttl_diff;
	u8 response_rate;
	u32 response_nonce;
	/* True if the next data carries a Report, of this code. */
	u8 reports;
	u8 report_rate;
	/* True from a jump to the first ACK of what was sent then. */
	u8 jumps;
	u8 syn_sent;
	/* True if what was sent in a jump is not all acknowledged. */
	u8 watches;
	/* True if nothing is asked for any more (§4.4, §4.6). */
	u8 refuses;
	/* True if data asked, up to `asked_end`. */
	u8 on_data;
	u8 sets_threshold;
	u32 asked_end;
	/* What was sent in a jump: from the first number to that before the second. */
	u32 jump_from;
	u32 jump_to;
	/* The window that the jump's law sets. */
	u32 window;
	/* When data went out last. */
	u64 sent_ns;
};

struct event {
	u64 time_ns;
	struct between between;
	u8 step;
	u8 asked;
	u8 approved;
	u8 unused;
	u32 rtt_us;
	u32 window;
	u32 padding;
};

_Static_assert(sizeof(struct event) == 32, "src/ends.rs reads 32 bytes");

struct {
	UINT(type, MAP_TYPE_HASH);
	UINT(max_entries, 1024);
	TYPE(key, u64);
	TYPE(value, u32);
} hosts SEC(".maps");

struct {
	UINT(type, MAP_TYPE_HASH);
	UINT(max_entries, 4096);
	TYPE(key, u32);
	TYPE(value, struct end);
} ends SEC(".maps");

struct {
	UINT(type, MAP_TYPE_HASH);
	UINT(max_entries, 4096);
	TYPE(key, struct between);
	TYPE(value, struct state);
} connections SEC(".maps");

struct {
	UINT(type, MAP_TYPE_RINGBUF);
	UINT(max_entries, 1 << 20);
} events SEC(".maps");

struct law_name {
	char name[16];
};

/* The name of this object's law; written by src/ends.rs. */
struct {
	UINT(type, MAP_TYPE_ARRAY);
	UINT(max_entries, 1);
	TYPE(key, u32);
	TYPE(value, struct law_name);
} law SEC(".maps");

INLINE void tell(const struct between *between, u8 step, u8 asked, u8 approved, u32 rtt_us,
		 u32 window)
{
	struct event *event = bpf_ringbuf_reserve(&events, sizeof(struct event), 0);

	if (!event)
		return;
	event->time_ns = bpf_ktime_get_ns();
	event->between = *between;
	event->step = step;
	event->asked = asked;
	event->approved = approved;
	event->unused = 0;
	event->rtt_us = rtt_us;
	event->window = window;
	event->padding = 0;
	bpf_ringbuf_submit(event, 0);
}

/* The connection's state, which is made if it is not there. */
INLINE struct state *state_of(const struct between *between)
{
	struct state *state = bpf_map_lookup_elem(&connections, between);
	struct state fresh = {};

	if (state)
		return state;
	bpf_map_update_elem(&connections, between, &fresh, 1);
	return bpf_map_lookup_elem(&connections, between);
}

/* Bytes in front of the IP header: none on TUN. */
INLINE u32 lead_of(struct __sk_buff *skb)
{
	u8 *data = (u8 *)(long)skb->data, *end = (u8 *)(long)skb->data_end;

	if (data + 14 > end)
		return 0;
	return half_at(data + 12) == ETHERTYPE_IPV4 && data[0] >> 4 != 4 ? 14 : 0;
}

INLINE bool is_before(u32 number, u32 other)
{
	return (s32)(number - other) < 0;
}

/*
 * True if this is the first data after silence, and the rate fills more than the window that was left. Linux's timeout is
 * at least 200 ms, which `rttvar_us` has.
 */
INLINE bool may_ask(struct __sk_buff *skb, const struct state *state, const struct end *at)
{
	struct sock *sk = skb->sk;
	struct tcp_sock *tp;
	u64 silence_ns, fills;

	if (!at->asks || !at->after_idle || state->asked || state->jumps || state->refuses || !state->sent_ns)
		return 0;
	silence_ns = bpf_ktime_get_ns() - state->sent_ns;
	if (silence_ns < 200 * 1000000 || !sk || !at->packet)
		return 0;
	tp = bpf_skc_to_tcp_sock(sk);
	/* The packet itself is counted when it has gone out. */
	if (!tp || tp->packets_out)
		return 0;
	if (silence_ns < ((u64)(tp->srtt_us >> 3) + tp->rttvar_us) * 1000)
		return 0;
	fills = (UNIT_BPS << (at->asks & 15)) * (tp->srtt_us >> 3) / 8000000 / at->packet;
	return fills > tp->snd_cwnd;
}

/* Notes that a packet asks, and makes its option. */
INLINE struct option ask(struct state *state, const struct between *between, const struct end *at,
			 u8 ip_ttl)
{
	u8 ttl = bpf_get_prandom_u32();
	struct option option = { OPTION_HEAD | REQUEST << 12 | (at->asks & 15) << 8 | ttl, 0 };

	state->asked = at->asks;
	state->asked_ns = bpf_ktime_get_ns();
	state->nonce = bpf_get_prandom_u32() & ~3U;
	state->ttl_diff = ip_ttl - ttl;
	option.nonce = state->nonce;
	tell(between, ASKED, state->asked, 0, 0, 0);
	return option;
}

/* Puts `option` behind an IP header of twenty bytes. */
INLINE void insert(struct __sk_buff *skb, u32 lead, struct option option)
{
	u8 *data, *end, *ip;
	u64 sum = 0;
	u32 checksum;

	if (bpf_skb_adjust_room(skb, OPTION_LEN, ROOM_BEHIND_IP, NO_CHECKSUM_RESET))
		return;
	data = (u8 *)(long)skb->data;
	end = (u8 *)(long)skb->data_end;
	ip = data + (lead & 15);
	if (ip + IPV4_HEADER + OPTION_LEN > end)
		return;
	ip[0] = 0x40 | (IPV4_HEADER + OPTION_LEN) / 4;
	*(u16 *)(ip + 2) = __builtin_bswap16(half_at(ip + 2) + OPTION_LEN);
	put_word(ip + IPV4_HEADER, option.head);
	put_word(ip + IPV4_HEADER + 4, option.nonce);
	*(u16 *)(ip + 10) = 0;
	for (int n = 0; n < IPV4_HEADER + OPTION_LEN; n += 4)
		sum += word_at(ip + n);
	checksum = ~folded(sum);
	*(u16 *)(ip + 10) = __builtin_bswap16(checksum);
}

SEC("tcx/egress")
int ends_out(struct __sk_buff *skb)
{
	u32 lead = lead_of(skb), source, header, total, flags;
	struct option option = { OPTION_HEAD, 0 };
	struct between between;
	struct state *state;
	struct end *at;
	u8 *ip, *end;

	bpf_skb_pull_data(skb, lead + 2 * IPV4_HEADER);
	ip = (u8 *)(long)skb->data + (lead & 15);
	end = (u8 *)(long)skb->data_end;
	/* Behind other options of IP there is nothing of ours. */
	if (ip + 2 * IPV4_HEADER > end || ip[0] != 0x45 || ip[9] != TCP)
		return TC_NEXT;
	source = *(u32 *)(ip + 12);
	at = bpf_map_lookup_elem(&ends, &source);
	if (!at)
		return TC_NEXT;
	between.local = source;
	between.remote = *(u32 *)(ip + 16);
	flags = ip[IPV4_HEADER + 13];
	header = (ip[IPV4_HEADER + 12] >> 4) * 4;
	total = half_at(ip + 2);
	if (flags & SYN_FLAG) {
		state = state_of(&between);
		if (!state)
			return TC_NEXT;
		if (state->syn_sent) {
			/* §4.7: what was lost may have been dropped because of the option. */
			if (state->asked) {
				tell(&between, UNANSWERED, state->asked, 0, 0, 0);
				state->asked = 0;
			}
			return TC_NEXT;
		}
		state->syn_sent = 1;
		if (!at->asks || !at->at_setup)
			return TC_NEXT;
		option = ask(state, &between, at, ip[8]);
	} else {
		u32 number = word_at(ip + IPV4_HEADER + 4);
		u8 ttl = ip[8];

		if (total <= IPV4_HEADER + header)
			return TC_NEXT;
		state = bpf_map_lookup_elem(&connections, &between);
		if (!state)
			return TC_NEXT;
		if (state->reports) {
			state->reports = 0;
			option.head |= REPORT << 12 | (state->report_rate & 15) << 8;
			option.nonce = state->nonce;
		} else if (may_ask(skb, state, at)) {
			option = ask(state, &between, at, ttl);
			state->on_data = 1;
			state->asked_end = number + total - IPV4_HEADER - header;
		} else {
			state->sent_ns = bpf_ktime_get_ns();
			return TC_NEXT;
		}
		state->sent_ns = bpf_ktime_get_ns();
	}
	insert(skb, lead, option);
	return TC_NEXT;
}

SEC("tcx/ingress")
int ends_in(struct __sk_buff *skb)
{
	u32 lead = lead_of(skb), to, rate;
	struct between between;
	struct option option;
	struct state *state;
	struct end *at;
	u8 *ip, *end;

	bpf_skb_pull_data(skb, lead + IPV4_HEADER + OPTION_LEN);
	ip = (u8 *)(long)skb->data + (lead & 15);
	end = (u8 *)(long)skb->data_end;
	if (ip + IPV4_HEADER + OPTION_LEN > end || ip[0] >> 4 != 4 || (ip[0] & 15) < 7)
		return TC_NEXT;
	option.head = word_at(ip + IPV4_HEADER);
	option.nonce = word_at(ip + IPV4_HEADER + 4);
	if ((option.head & 0xfffff000) != (OPTION_HEAD | REQUEST << 12))
		return TC_NEXT;
	to = *(u32 *)(ip + 16);
	at = bpf_map_lookup_elem(&ends, &to);
	rate = option.head >> 8 & 15;
	/* §4.3: a denied request is not answered. */
	if (!at || !at->answers || !rate)
		return TC_NEXT;
	between.local = to;
	between.remote = *(u32 *)(ip + 12);
	state = state_of(&between);
	if (!state)
		return TC_NEXT;
	if (rate > at->most)
		rate = at->most;
	state->response_rate = at->lies ? at->lies : rate;
	state->response_ttl_diff = ip[8] - (option.head & 255);
	state->response_nonce = option.nonce & ~3U;
	state->responds = 1;
	return TC_NEXT;
}

INLINE void set_flags(struct bpf_sock_ops *ops, u32 add, u32 less)
{
	bpf_sock_ops_cb_flags_set(ops, (ops->bpf_sock_ops_cb_flags | add) & ~less);
}

/* Gives the connection to the law that sets its window, and back to its own. */
INLINE void set_window(struct bpf_sock_ops *ops)
{
	char own[16] = {};
	u32 zero = 0;
	struct law_name *jump = bpf_map_lookup_elem(&law, &zero);

	if (!jump || bpf_getsockopt(ops, SOL_TCP, CONGESTION, own, sizeof(own)))
		return;
	bpf_setsockopt(ops, SOL_TCP, CONGESTION, jump->name, sizeof(jump->name));
	bpf_setsockopt(ops, SOL_TCP, CONGESTION, own, sizeof(own));
}

/* Ends the limit of the pacing. */
INLINE void end_pacing(struct bpf_sock_ops *ops)
{
	u32 unlimited = ~0U;

	bpf_setsockopt(ops, SOL_SOCKET, MAX_PACING_RATE, &unlimited, sizeof(unlimited));
}

/* The answer to the request, or none (§4.4). */
INLINE void judge(struct bpf_sock_ops *ops, const struct between *between, struct state *state,
		  const struct end *at, bool answered)
{
	u8 response[OPTION_LEN] = { RESPONSE, 0 };
	u32 asked = state->asked & 15, rate = 0, nonce;
	u32 rtt_us = (bpf_ktime_get_ns() - state->asked_ns) / 1000;
	u64 bps, window;
	u32 pace, first;
	u8 step;

	state->asked = 0;
	state->reports = 1;
	state->report_rate = 0;
	if (answered && bpf_load_hdr_opt(ops, response, sizeof(response), 0) == OPTION_LEN)
		rate = response[2] & 15;
	nonce = (u32)response[4] << 24 | (u32)response[5] << 16 | (u32)response[6] << 8 | response[7];
	if (!rate)
		step = UNANSWERED;
	else if (rate > asked)
		step = RATE_TOO_HIGH;
	else if (response[3] != state->ttl_diff)
		step = TTL_MISMATCH;
	else if ((nonce ^ state->nonce) >> 2 & field_mask(rate))
		step = NONCE_MISMATCH;
	else
		step = APPROVED;
	if (step != APPROVED) {
		/* §4.4: somebody on the way cheats. */
		state->refuses |= step == NONCE_MISMATCH;
		tell(between, step, asked, rate, rtt_us, 0);
		return;
	}
	state->report_rate = rate;
	bps = UNIT_BPS << rate;
	/* cwnd = R T / (MSS + H), in whole segments. */
	window = at->packet ? bps * rtt_us / 8000000 / at->packet : 0;
	if (window <= ops->snd_cwnd) {
		tell(between, NOT_NEEDED, asked, rate, rtt_us, window);
		return;
	}
	first = window;
	if (!state->on_data)
		bpf_setsockopt(ops, SOL_TCP, FIRST_WINDOW, &first, sizeof(first));
	if (state->on_data || at->threshold) {
		state->window = window;
		state->sets_threshold = at->threshold;
		set_window(ops);
	}
	/* TCP paces by payload. */
	pace = bps / 8 * at->payload / at->packet;
	bpf_setsockopt(ops, SOL_SOCKET, MAX_PACING_RATE, &pace, sizeof(pace));
	state->jumps = 1;
	state->watches = 0;
	state->jump_from = ops->snd_nxt;
	tell(between, APPROVED, asked, rate, rtt_us, window);
}

SEC("sockops")
int ends_socket(struct bpf_sock_ops *ops)
{
	struct between between;
	struct state *state;
	struct end *at;
	u32 op = ops->op;
	u64 cookie;
	u32 local;

	if (ops->family != AF_INET)
		return 1;
	cookie = bpf_get_netns_cookie(ops);
	if (!bpf_map_lookup_elem(&hosts, &cookie))
		return 1;
	if (op == LISTENS || op == CONNECT) {
		set_flags(ops, WRITES_OPTIONS, 0);
		return 1;
	}
	local = ops->local_ip4;
	at = bpf_map_lookup_elem(&ends, &local);
	if (!at)
		return 1;
	between.local = local;
	between.remote = ops->remote_ip4;
	state = bpf_map_lookup_elem(&connections, &between);
	if (!state)
		return 1;
	if (op == OPTION_LEN_ASKED) {
		if (state->responds)
			bpf_reserve_hdr_opt(ops, OPTION_LEN, 0);
	} else if (op == OPTION_WRITTEN) {
		u8 response[OPTION_LEN] = { RESPONSE, OPTION_LEN };

		if (!state->responds)
			return 1;
		response[2] = state->response_rate;
		response[3] = state->response_ttl_diff;
		response[4] = state->response_nonce >> 24;
		response[5] = state->response_nonce >> 16;
		response[6] = state->response_nonce >> 8;
		response[7] = state->response_nonce;
		state->responds = 0;
		bpf_store_hdr_opt(ops, response, sizeof(response), 0);
	} else if (op == ACTIVE_ESTABLISHED || op == PASSIVE_ESTABLISHED) {
		if (at->asks)
			set_flags(ops, TELL_RTT | TELL_RETRANSMISSIONS | TELL_UNKNOWN_OPTIONS, 0);
		if (state->asked)
			judge(ops, &between, state, at, 1);
	} else if (op == OPTION_CAME) {
		if (state->asked && state->on_data)
			judge(ops, &between, state, at, 1);
	} else if (op == MEASURED_RTT) {
		u32 acknowledged = ops->snd_una;

		/* The data that asked is acknowledged, without an answer. */
		if (state->asked && state->on_data && !is_before(acknowledged, state->asked_end))
			judge(ops, &between, state, at, 0);
		/* The first ACK of what was sent then: from now on the window alone bounds the rate. */
		if (state->jumps && is_before(state->jump_from, acknowledged)) {
			state->jumps = 0;
			state->watches = 1;
			state->jump_to = ops->snd_nxt;
			end_pacing(ops);
		} else if (state->watches && !is_before(acknowledged, state->jump_to)) {
			state->watches = 0;
		}
	} else if (op == RETRANSMITTED) {
		u32 number = ops->args[0];

		/* §4.7: the data that asked had to be sent again. */
		if (state->asked && state->on_data)
			judge(ops, &between, state, at, 0);
		if (!state->jumps && !state->watches)
			return 1;
		if (is_before(number, state->jump_from) ||
		    (state->watches && !is_before(number, state->jump_to)))
			return 1;
		if (state->jumps)
			end_pacing(ops);
		state->jumps = 0;
		state->watches = 0;
		/* §4.6: nothing is asked for any more. */
		state->refuses = 1;
		tell(&between, LOST_PACKET, state->report_rate, state->report_rate, 0, ops->snd_cwnd);
	}
	return 1;
}

/* The law of a moment: it sets a connection's window, and perhaps its threshold. */
SEC("struct_ops")
int jump_init(u64 *ctx)
{
	struct sock *sk = ARGUMENT(ctx, 0, struct sock *);
	struct tcp_sock *tp = (struct tcp_sock *)sk;
	struct between between = { sk->__sk_common.skc_rcv_saddr, sk->__sk_common.skc_daddr };
	struct state *state = bpf_map_lookup_elem(&connections, &between);
	u32 window;

	if (!state)
		return 0;
	window = state->window;
	if (window > tp->snd_cwnd_clamp)
		window = tp->snd_cwnd_clamp;
	if (window <= tp->snd_cwnd && !state->sets_threshold)
		return 0;
	tp->snd_cwnd = window;
	if (state->sets_threshold)
		tp->snd_ssthresh = window;
	return 0;
}

SEC("struct_ops")
int jump_ssthresh(u64 *ctx)
{
	struct tcp_sock *tp = ARGUMENT(ctx, 0, struct tcp_sock *);

	return tp->snd_cwnd / 2 > 2 ? tp->snd_cwnd / 2 : 2;
}

SEC("struct_ops")
int jump_control(u64 *ctx)
{
	return 0;
}

SEC("struct_ops")
int jump_undo(u64 *ctx)
{
	struct tcp_sock *tp = ARGUMENT(ctx, 0, struct tcp_sock *);

	return tp->snd_cwnd;
}

SEC(".struct_ops.link")
struct tcp_congestion_ops ack_jump = {
	.init = (void *)jump_init,
	.ssthresh = (void *)jump_ssthresh,
	.undo_cwnd = (void *)jump_undo,
	.cong_control = (void *)jump_control,
	.name = "ack_jump",
};
