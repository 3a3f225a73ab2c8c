/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* The record that a law leaves of an event, read by src/record.rs: 136 bytes without holes. */
#pragma once

#include "kernel.h"

enum event {
	EVENT_BEGIN = 0,
	EVENT_ACK = 1,
	EVENT_LOSS = 2,
	EVENT_MARK = 3,
	EVENT_TIMEOUT = 4,
	EVENT_TIMEOUT_AGAIN = 5,
	EVENT_REPAIRED = 6,
	EVENT_SPURIOUS = 7,
	/* Told to laws that heed states. */
	EVENT_STATE = 8,
	/* Data goes out while nothing is outstanding; likewise. */
	EVENT_SEND_START = 9,
	/* Told to idle rules: a burst ended at `time_us`, and new data goes out while nothing is outstanding. */
	EVENT_USED = 10,
	EVENT_BEFORE_SEND = 11,
};

enum {
	/* The law was asked to grow. */
	MARK_GROWS = 1,
	MARK_SLOW_START = 2,
	MARK_CWND_LIMITED = 4,
	MARK_ACK_DELAYED = 8,
	/* There is a rate sample. */
	MARK_SAMPLE = 16,
	MARK_APP_LIMITED = 32,
	/* The window was full enough to grow: of a law that grows in others, too. */
	MARK_LIMITED = 64,
	/* The idle rule was asked for growth. */
	MARK_ASKS = 128,
};

/* Limits of the sender, and its state. */
enum {
	USAGE_BY_PEER = 1,
	USAGE_UNDISTURBED = 2,
	USAGE_FROM_RECOVERY = 4,
};

struct record {
	u64 time_us;
	/* After the event: of the law, in Q20. */
	u64 window;
	u64 reduce_from;
	u32 connection;
	u32 saddr;
	u32 daddr;
	u16 sport;
	u16 dport;
	u8 event;
	u8 state;
	u8 marks;
	/* The last bits of the record's number, of its connection: a gap shows records without room. */
	u8 count;
	u32 una;
	u32 nxt;
	u32 mss;
	/* Bytes that the ACK acknowledged, segments that it delivered. */
	u32 acked;
	u32 delivered_now;
	/* -1 if there is none. */
	s32 rtt_us;
	u32 srtt_us;
	u32 in_flight;
	u32 cwnd;
	u32 ssthresh;
	/* Segments since the connection began. */
	u32 delivered;
	u32 lost;
	/* The rate sample: segments, microseconds, and the segments before it. */
	s32 sample_delivered;
	s32 sample_us;
	u32 sample_prior;
	/* The use of the window: bytes out, offered, sent again and (segments) of the first window; times; limits. */
	u32 outstanding;
	u32 peer_window;
	u32 sent_again;
	u32 initial;
	u32 rto_us;
	u32 unclamped_us;
	/* Since data was last sent; -1 before the first. */
	s32 idle_us;
	u32 usage;
};

_Static_assert(sizeof(struct record) == 136, "src/record.rs reads 136 bytes");

/* Eight megabytes: a minute at 1000 ACKs a second. */
RECORDS(8 << 20);
