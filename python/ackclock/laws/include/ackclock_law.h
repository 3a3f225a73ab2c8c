/* A congestion-control law for Ackclock, in a shared library. Interface version 1.
 *
 * The library exports one function, `ackclock_law_v1`, which returns a table of callbacks. Ackclock calls them for each
 * connection on one thread at a time; connections may run on several threads at once, so that a law keeps what it
 * remembers in its own state. Callbacks that are "optional" may be NULL.
 *
 *   ackclock run FILE --law mine=./libmine.so        then `variant = "mine"` in FILE
 *
 * Times are nanoseconds since the run began, volumes are bytes of payload, rates bits per second. A window is in bytes,
 * too: `mss_bytes` is a full segment. A field that is not known is ACKCLOCK_UNKNOWN.
 */
#ifndef ACKCLOCK_LAW_H
#define ACKCLOCK_LAW_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define ACKCLOCK_LAW_VERSION 1u
#define ACKCLOCK_UNKNOWN UINT64_MAX

/* The limit that kept the sender from sending more when the acknowledged data was in flight. */
enum { ACKCLOCK_LIMIT_APPLICATION, ACKCLOCK_LIMIT_CWND, ACKCLOCK_LIMIT_RWND, ACKCLOCK_LIMIT_PACING };

/* The handshake is done. `cwnd_bytes` is the first window, by the start rule. */
typedef struct {
    uint64_t cwnd_bytes;
    uint64_t ssthresh_bytes;
    uint64_t srtt_ns;
    /* The seed of whatever the law draws at random. */
    uint64_t seed;
    uint32_t mss_bytes;
    uint32_t unused;
} ackclock_start;

/* An ACK on which the window may grow. */
typedef struct {
    uint64_t now_ns;
    /* Data acknowledged for the first time, and data that it shows to have arrived, SACK included. The first is 0 on a
     * duplicate ACK that only SACKs, on which most laws do not grow. */
    uint64_t newly_acked_bytes;
    uint64_t newly_delivered_bytes;
    /* SND.UNA after it and SND.NXT, counted from the SYN: a round that begins now ends as `nxt_seq` is acknowledged. */
    uint64_t una_seq;
    uint64_t nxt_seq;
    uint64_t rtt_ns;
    uint64_t srtt_ns;
    uint64_t in_flight_before_bytes;
    uint64_t in_flight_bytes;
    /* In slow start: the growth that the slow-start law offers, and the acknowledged data beyond it. */
    uint64_t slow_start_increase_bytes;
    uint64_t slow_start_left_over_bytes;
    uint32_t mss_bytes;
    uint8_t limited_by;
    uint8_t in_recovery;
    uint8_t in_slow_start;
    /* Slow start ends with this ACK although nothing was lost: ssthresh becomes the window after it. */
    uint8_t slow_start_ends;
} ackclock_ack;

/* A round-trip time was measured, on any ACK. */
typedef struct {
    uint64_t now_ns;
    uint64_t rtt_ns;
} ackclock_rtt;

/* Data goes out while nothing is outstanding; of a law that models the path, while nothing else is in flight. */
typedef struct {
    uint64_t now_ns;
    uint64_t last_send_ns;
    uint64_t nxt_seq;
    /* 1 if the application had nothing to send. Only of a law that models the path. */
    uint32_t is_app_limited;
    uint32_t unused;
} ackclock_sent;

enum { ACKCLOCK_LOSS, ACKCLOCK_ECN, ACKCLOCK_ECN_ABE };

/* The network is congested: once an episode. The reduction starts from `reduce_from_bytes`. */
typedef struct {
    uint64_t now_ns;
    uint64_t reduce_from_bytes;
    uint32_t mss_bytes;
    uint32_t signal;
} ackclock_congestion;

/* The retransmission timer expired; `consecutive` counts timeouts in a row, from 1. */
typedef struct {
    uint64_t now_ns;
    uint64_t reduce_from_bytes;
    uint32_t mss_bytes;
    uint32_t consecutive;
} ackclock_timeout;

/* A segment was found lost. Only of a law that models the path. */
typedef struct {
    uint64_t now_ns;
    uint64_t start_seq;
    uint64_t end_seq;
    /* Data in flight when it was sent, itself included. */
    uint64_t tx_in_flight_bytes;
    /* Data found lost since it was sent, and data delivered since the connection began. */
    uint64_t lost_bytes;
    uint64_t delivered_bytes;
    uint32_t is_app_limited;
    uint32_t unused;
} ackclock_lost;

enum { ACKCLOCK_NO_REPAIR, ACKCLOCK_IN_RECOVERY, ACKCLOCK_AFTER_TIMEOUT };

/* An ACK, new or duplicate, in recovery or not, with the delivery rate that it shows
 * (draft-ietf-ccwg-bbr section 4.1.2). Only of a law that models the path. */
typedef struct {
    uint64_t now_ns;
    uint64_t newly_delivered_bytes;
    uint64_t newly_lost_bytes;
    /* Since the connection began; lost twice, counted twice. */
    uint64_t delivered_bytes;
    uint64_t lost_bytes;
    uint64_t rtt_ns;
    uint64_t srtt_ns;
    uint64_t in_flight_before_bytes;
    uint64_t in_flight_bytes;
    /* The rate sample: so much was delivered in so long. The interval is ACKCLOCK_UNKNOWN if the sample is of no use. */
    uint64_t sample_delivered_bytes;
    uint64_t sample_interval_ns;
    /* Of the segment that the sample is of: data delivered when it was sent, in flight with it, and lost since. */
    uint64_t sample_prior_delivered_bytes;
    uint64_t sample_tx_in_flight_bytes;
    uint64_t sample_lost_bytes;
    uint32_t mss_bytes;
    uint8_t has_sample;
    uint8_t sample_is_app_limited;
    /* The window was in full use at some moment of the last round trip. */
    uint8_t is_cwnd_limited;
    uint8_t repair;
} ackclock_delivery;

/* All that was lost in an episode is repaired. */
typedef struct {
    uint64_t now_ns;
    uint64_t in_flight_bytes;
    uint64_t newly_delivered_bytes;
    /* The most that the window may be, if recovery says so. */
    uint64_t at_most_bytes;
    uint32_t mss_bytes;
    uint32_t unused;
} ackclock_recovery_end;

enum { ACKCLOCK_PROPOSED_AT_START, ACKCLOCK_PROPOSED_AFTER_IDLE, ACKCLOCK_PROPOSED_BY_JUMP };

/* Another rule proposes a window: the idle rule after silence, a jump past slow start. */
typedef struct {
    uint64_t cwnd_bytes;
    uint64_t ssthresh_bytes;
    uint32_t mss_bytes;
    uint32_t why;
} ackclock_proposal;

/* The law models the path, as BBR does: it hears of every delivery and loss, and owns the window during a repair. */
#define ACKCLOCK_MODELS_PATH 1u

typedef struct {
    /* ACKCLOCK_LAW_VERSION, and sizeof(ackclock_law). */
    uint32_t version;
    uint32_t size_bytes;
    /* 0, or ACKCLOCK_MODELS_PATH. */
    uint32_t flags;
    uint32_t unused;
    /* A state for a new connection. */
    void *(*init)(const ackclock_start *start);
    void (*destroy)(void *state);
    void (*ack)(void *state, const ackclock_ack *ack);
    void (*congestion)(void *state, const ackclock_congestion *congestion);
    void (*timeout)(void *state, const ackclock_timeout *timeout);
    /* Another rule proposes a window: after silence, or to jump past slow start. The law takes it, or leaves it. */
    void (*idle)(void *state, const ackclock_proposal *proposal);
    /* The congestion window, at least one segment. */
    uint64_t (*cwnd_bytes)(const void *state);
    /* ACKCLOCK_UNKNOWN while nothing has set it. Optional: then the law is never in slow start. */
    uint64_t (*ssthresh_bytes)(const void *state);
    /* The rate of payload at which segments leave; 0 paces nothing. Optional. */
    double (*pacing_rate_bps)(const void *state);
    /* Optional, as all that follow. */
    void (*rtt)(void *state, const ackclock_rtt *rtt);
    void (*sent)(void *state, const ackclock_sent *sent);
    void (*recovery_end)(void *state, const ackclock_recovery_end *end);
    /* The last reduction was for nothing: what seemed lost was only late. */
    void (*spurious)(void *state);
    /* Of a law that models the path: every ACK; every lost segment. */
    void (*delivery)(void *state, const ackclock_delivery *delivery);
    void (*lost)(void *state, const ackclock_lost *lost);
} ackclock_law;

/* Exported by the library. */
const ackclock_law *ackclock_law_v1(void);

#ifdef __cplusplus
}
#endif

#endif
