// SPDX-License-Identifier: MIT OR GPL-2.0-only
/*
 * CCP and CCPD, the path's storage less its backlog, and its derivative (Watanabe et al. 2013, equations 5 and 6)
 *
 * Model: crates/laws/src/growth/ccp.rs, crates/laws/src/growth/ccp/capacity.rs
 * Words: ccp ccpd
 */
#include "kernel.h"
#include "constants.h"

/* The numbers in the parentheses of the law's word, set before it is loaded. */
struct settings {
	u32 proportional_thousandths;
	/* 0 of CCP, which has no derivative. */
	u32 derivative_us;
	u32 literal;
	u32 buffer;
};

SETTING(settings, settings) = { 1000, 0, 0, 0 };

struct pair {
	/* Both round-trip times together; 0 if there is no pair. */
	u64 delay_us;
	u64 rate;
};

struct law {
	u64 cwnd;
	u64 ssthresh;
	/* The window before a timeout; 0 if there is none. */
	u64 undo;
	u32 controls;
	u32 least_rtt_us;
	u32 largest_rtt_us;
	/* The ACK before, if it can be one of a pair. */
	u32 has_previous;
	u64 previous_us;
	u64 previous_rtt_us;
	struct pair before;
	struct pair best;
	u64 began_us;
	u64 delivery_rate;
	/* The values on which the derivative looks back; 0 us if there are none. */
	u64 last_us;
	u64 last_load;
};

#include "frame.h"

INLINE u64 law_window(const struct law *law)
{
	return law->cwnd;
}

INLINE u64 law_ssthresh(const struct law *law)
{
	return law->ssthresh;
}

INLINE void law_begin(struct law *law, u64 window)
{
	struct law fresh = { .cwnd = window };

	*law = fresh;
}

INLINE void end_slow_start(struct law *law)
{
	if (law->controls)
		return;
	law->controls = 1;
	law->ssthresh = most(law->cwnd, CCP_LEAST_WINDOW);
}

/* Packet pairs, of which those count that met the least queue. */
INLINE void see_arrival(struct law *law, const struct ack *ack)
{
	bool counts = !ack->repairing && !ack->ack_delayed;
	bool had = law->has_previous;
	u64 before_us = law->previous_us;
	u64 before_rtt_us = law->previous_rtt_us;
	u64 spread, apart;
	struct pair pair;

	law->has_previous = counts;
	law->previous_us = ack->now_us;
	law->previous_rtt_us = ack->rtt_us;
	if (!had || !counts)
		return;
	spread = less(ack->now_us, before_us);
	if (!spread || !ack->delivered_now)
		return;
	apart = spread + before_rtt_us > ack->rtt_us ? spread + before_rtt_us - ack->rtt_us
						     : ack->rtt_us - spread - before_rtt_us;
	if (apart * 2 > spread)
		return;
	pair.delay_us = before_rtt_us + ack->rtt_us;
	pair.rate = (ack->delivered_now << (RATE - Q)) / spread;
	if (!law->began_us)
		law->began_us = ack->now_us;
	if (ack->now_us - law->began_us > CCP_SPAN_US) {
		law->began_us = ack->now_us;
		law->before = law->best;
		law->best.delay_us = 0;
	}
	if (!law->best.delay_us || pair.delay_us < law->best.delay_us)
		law->best = pair;
}

INLINE u64 capacity(const struct law *law)
{
	if (law->before.delay_us &&
	    (!law->best.delay_us || law->best.delay_us >= law->before.delay_us))
		return law->before.rate;
	return law->best.delay_us ? law->best.rate : law->delivery_rate;
}

/* Segments that `rate` carries in a time. */
INLINE u64 volume(u64 rate, u64 us)
{
	return (rate * us) >> (RATE - Q);
}

INLINE void control(struct law *law, const struct ack *ack)
{
	u64 rate = capacity(law);
	u64 waiting, storage, flight, top, floor;
	s64 target;

	if (!rate || !law->least_rtt_us || !ack->srtt_us)
		return;
	waiting = volume(rate, less(ack->srtt_us, law->least_rtt_us));
	storage = settings.buffer ? volume(rate, less(law->largest_rtt_us, law->least_rtt_us))
				  : volume(rate, law->largest_rtt_us);
	flight = ack->in_flight + ack->delivered_now;
	if (!settings.derivative_us) {
		target = (thousandths((s64)storage - (s64)waiting, settings.proportional_thousandths) -
			  (s64)flight) >>
			 1;
	} else {
		u64 load = waiting + flight;

		target = thousandths((s64)storage - (s64)load, settings.proportional_thousandths);
		if (law->last_us) {
			/* At least a segment's time. */
			u64 passed_ns = most(less(ack->now_us, law->last_us) * 1000,
					     (1000ULL << RATE) / rate);
			u64 change = law->last_load > load ? law->last_load - load
							   : load - law->last_load;

			change = least(change, 1ULL << 33) * (settings.derivative_us * 1000ULL) /
				 most(passed_ns, 1);
			target += law->last_load > load ? (s64)change : -(s64)change;
		}
		law->last_us = ack->now_us;
		law->last_load = load;
	}
	if (!settings.literal)
		target += (s64)flight;
	/* Guards: no faster than slow start, and never so little that the ACKs stop. */
	top = law->cwnd + ack->delivered_now;
	floor = least(CCP_LEAST_WINDOW, top);
	law->cwnd = target < (s64)floor ? floor : least(target, top);
}

INLINE void law_ack(struct law *law, const struct ack *ack)
{
	if (ack->grows && !law->controls && in_slow_start(law))
		law->cwnd += slow_start_step(law, ack);
	if (ack->sample && ack->sample_us)
		law->delivery_rate =
			most(law->delivery_rate, ((u64)ack->sample_delivered << RATE) / ack->sample_us);
	if (ack->rtt_us) {
		law->least_rtt_us =
			law->least_rtt_us ? least(law->least_rtt_us, ack->rtt_us) : ack->rtt_us;
		if (!ack->ack_delayed)
			law->largest_rtt_us = most(law->largest_rtt_us, ack->rtt_us);
		see_arrival(law, ack);
	}
	if (!law->controls && in_slow_start(law))
		return;
	end_slow_start(law);
	control(law, ack);
}

INLINE void law_congestion(struct law *law, u8 event, u64 reduce_from)
{
	/* "Packet loss does not trigger any special cwnd adjustment", but it ends slow start. */
	if (event == EVENT_TIMEOUT || event == EVENT_TIMEOUT_AGAIN) {
		if (event == EVENT_TIMEOUT)
			law->undo = law->cwnd;
		law->cwnd = ONE;
		law->last_us = 0;
	}
	end_slow_start(law);
}

INLINE void law_repaired(struct law *law)
{
}

INLINE void law_spurious(struct law *law)
{
	law->cwnd = most(law->cwnd, law->undo);
	law->undo = 0;
}

LAW(ccp);
