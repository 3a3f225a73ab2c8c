/* Reno (RFC 5681) as a law of one's own, in C.
 *
 *   cc -O2 -shared -fPIC -I "$(python -c 'import ackclock; print(ackclock.get_include())')" -o libmine.so reno.c
 *   ackclock run FILE --law mine=./libmine.so
 *
 * It leaves the same bytes as the built-in `reno`, which a test holds it to.
 */
#include <stdlib.h>

#include "ackclock_law.h"

typedef struct {
    uint64_t cwnd, ssthresh;
} window;

typedef struct {
    window now;
    /* Acknowledged bytes that have not yet bought a segment. */
    uint64_t acked;
    /* The window before the last reduction. */
    window before;
    int can_undo;
} reno;

static void *init(const ackclock_start *start) {
    reno *state = calloc(1, sizeof *state);
    if (state) {
        state->now.cwnd = start->cwnd_bytes;
        state->now.ssthresh = start->ssthresh_bytes;
    }
    return state;
}

static void ack(void *of, const ackclock_ack *ack) {
    reno *state = of;
    if (ack->in_slow_start) {
        state->now.cwnd += ack->slow_start_increase_bytes;
        if (ack->slow_start_ends)
            state->now.ssthresh = state->now.cwnd;
        state->acked += ack->slow_start_left_over_bytes;
        return;
    }
    /* One segment each time a window of data has been acknowledged (section 3.1). */
    state->acked += ack->newly_acked_bytes;
    if (state->acked >= state->now.cwnd) {
        state->acked -= state->now.cwnd;
        state->now.cwnd += ack->mss_bytes;
    }
}

static uint64_t most(uint64_t one, uint64_t other) { return one > other ? one : other; }
static uint64_t least(uint64_t one, uint64_t other) { return one < other ? one : other; }

static void remember(reno *state) {
    state->acked = 0;
    state->before = state->now;
    state->can_undo = 1;
}

static void congestion(void *of, const ackclock_congestion *event) {
    reno *state = of;
    uint64_t two = 2 * (uint64_t)event->mss_bytes;
    uint64_t left = event->signal == ACKCLOCK_ECN_ABE ? event->reduce_from_bytes * 4 / 5
                                                      : event->reduce_from_bytes / 2;
    remember(state);
    state->now.ssthresh = state->now.cwnd = most(left, two);
}

static void timeout(void *of, const ackclock_timeout *event) {
    reno *state = of;
    if (event->consecutive == 1) {
        remember(state);
        state->now.ssthresh = most(event->reduce_from_bytes / 2, 2 * (uint64_t)event->mss_bytes);
    }
    state->acked = 0;
    state->now.cwnd = event->mss_bytes;
}

static void recovery_end(void *of, const ackclock_recovery_end *end) {
    reno *state = of;
    state->now.cwnd = least(state->now.cwnd, end->at_most_bytes);
}

static void spurious(void *of) {
    reno *state = of;
    if (!state->can_undo)
        return;
    state->can_undo = 0;
    state->now.cwnd = most(state->now.cwnd, state->before.cwnd);
    state->now.ssthresh = most(state->now.ssthresh, state->before.ssthresh);
}

static void idle(void *of, const ackclock_proposal *proposal) {
    reno *state = of;
    if (proposal->cwnd_bytes != ACKCLOCK_UNKNOWN)
        state->now.cwnd = proposal->cwnd_bytes;
    if (proposal->ssthresh_bytes != ACKCLOCK_UNKNOWN)
        state->now.ssthresh = proposal->ssthresh_bytes;
}

static uint64_t cwnd(const void *of) { return ((const reno *)of)->now.cwnd; }
static uint64_t ssthresh(const void *of) { return ((const reno *)of)->now.ssthresh; }

static const ackclock_law law = {
    .version = ACKCLOCK_LAW_VERSION,
    .size_bytes = sizeof(ackclock_law),
    .init = init,
    .destroy = free,
    .ack = ack,
    .congestion = congestion,
    .timeout = timeout,
    .idle = idle,
    .cwnd_bytes = cwnd,
    .ssthresh_bytes = ssthresh,
    .recovery_end = recovery_end,
    .spurious = spurious,
};

const ackclock_law *ackclock_law_v1(void) { return &law; }
