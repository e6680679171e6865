/* Requests that wait: claims for work, and others for the end of a job or a run. */
#include "server/claim_waits.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <unistd.h>

#include "base/error.h"
#include "base/limits.h"
#include "base/str.h"
#include "base/time/clock.h"
#include "base/uuid.h"
#include "server/http/exchange.h"
#include "server/server.h"
#include "server/stats.h"
#include "store/jobs.h"

enum {
    GAP_MS = 20,    /* between two tries of a group, however often it is woken */
    POLL_MS = 1000, /* between two tries without a wake-up: time alone makes retries and leases due */
    LOOK_MS =
        250, /* the most of what nothing wakes: the end of a job or a run; a read model that catches up */
    LATE_MS = 100,    /* until the store is asked again whether it will wake us */
    RETRY_MS = 10000, /* the same after it failed */
    GONE_MAX = 32
};

struct claim_waits {
    struct pool_task pool_task; /* first: asks the store to wake us */
    struct server *server;
    pawl_uuid self; /* under which it wakes us */
    struct exchange *first;
    size_t count;
    int gone_fd; /* an epoll of the clients that may go away */
    struct store_waker *waker;
    bool asking, ending;
    int64_t ask_ms; /* when to ask the store again */
    /* The thread's while it asks. */
    struct store_waker *opened;
    bool late, failed;
};

/* ---- Being woken */

/* In a thread of the pool. */
static void ask(struct pool_task *pool_task, struct store *store, const pawl_error *none) {
    struct claim_waits *waits = (struct claim_waits *)pool_task;
    struct server *server = waits->server;
    pawl_error err = *none;
    pawl_status status = store != NULL ? PAWL_OK : PAWL_UNAVAILABLE;
    if (status == PAWL_OK && waits->waker == NULL)
        status = store_waker_open(&server->lease_pool.config, &waits->opened, &err);
    if (status == PAWL_OK)
        status = store->ops->core.wait_begin(store, waits->self,
                                             KIND_BIT(KIND_OUTBOX) | KIND_BIT(KIND_INBOX) | KIND_BIT_JOBS,
                                             &waits->late, &err);
    waits->failed = status != PAWL_OK;
    if (waits->failed)
        log_failure(&server->config.log, LOG_LEVEL_DEBUG, "no_wake_up", &err);
    server_hand_back(server, pool_task);
}

/* What was put before the store knew of us did not wake us, so everything is tried once more. */
static void asked(struct pool_task *pool_task) {
    struct claim_waits *waits = (struct claim_waits *)pool_task;
    waits->asking = false;
    if (waits->opened != NULL)
        waits->waker = waits->opened;
    waits->opened = NULL;
    waits->ask_ms = clock_boot_ms() + (waits->failed ? RETRY_MS : waits->late ? LATE_MS : PAWL_WAIT_MS / 2);
    for (struct exchange *one = waits->first; one != NULL; one = one->wait.next)
        one->wait.due = true;
}

static void ask_again(struct claim_waits *waits) {
    waits->asking = true;
    waits->pool_task.run = ask;
    waits->pool_task.done = asked;
    store_pool_put(&waits->server->lease_pool, &waits->pool_task);
}

static void take_wake_ups(struct claim_waits *waits) {
    bool woken = false;
    pawl_error err;
    if (waits->waker == NULL || waits->asking)
        return;
    if (waits->waker->drain(waits->waker, &woken, &err) != PAWL_OK) {
        log_failure(&waits->server->config.log, LOG_LEVEL_INFO, "wake_up_lost", &err);
        store_waker_close(waits->waker);
        waits->waker = NULL;
        waits->ask_ms = 0;
    }
    for (struct exchange *one = waits->first; woken && one != NULL; one = one->wait.next)
        one->wait.due = true;
}

/* ---- Those that wait, the longest first */

static void count(struct claim_waits *waits, int change) {
    struct stats *stats = waits->server->stats;
    waits->count += (size_t)change;
    pthread_mutex_lock(&stats->lock);
    stats->claims_waiting = (int64_t)waits->count;
    pthread_mutex_unlock(&stats->lock);
}

static bool same_group(const struct exchange *one, const struct exchange *other) {
    return str_equal(one->call.wait_for, other->call.wait_for);
}

static void add(struct claim_waits *waits, struct exchange *exchange) {
    struct exchange **at = &waits->first;
    while (*at != NULL)
        at = &(*at)->wait.next;
    *at = exchange;
    count(waits, 1);
    exchange->wait.kept = true;
    struct epoll_event event = {.events = EPOLLRDHUP, .data.ptr = exchange};
    if (exchange->link != NULL)
        (void)epoll_ctl(waits->gone_fd, EPOLL_CTL_ADD, exchange->link->fd, &event);
}

static void leave_out(struct claim_waits *waits, struct exchange *exchange) {
    struct exchange **at = &waits->first;
    if (!exchange->wait.kept)
        return;
    while (*at != exchange)
        at = &(*at)->wait.next;
    *at = exchange->wait.next;
    count(waits, -1);
    exchange->wait.kept = false;
    if (exchange->link != NULL)
        (void)epoll_ctl(waits->gone_fd, EPOLL_CTL_DEL, exchange->link->fd, NULL);
}

void claim_waits_drop(struct claim_waits *waits, struct exchange *exchange) {
    if (waits != NULL)
        leave_out(waits, exchange);
}

/* With the empty answer of its last try. */
static void answer(struct claim_waits *waits, struct exchange *exchange) {
    leave_out(waits, exchange);
    http_answer(exchange);
}

/* One of a group is tried at a time, so that not all of them ask for one job. */
static void try_again(struct claim_waits *waits, struct exchange *exchange, int64_t now_ms) {
    for (struct exchange *other = waits->first; other != NULL; other = other->wait.next) {
        if (same_group(exchange, other)) {
            other->wait.due = false;
            other->wait.tried_ms = now_ms;
        }
    }
    exchange->wait.trying = true;
    exchange_again(exchange);
    store_pool_put(exchange_pool(exchange), &exchange->pool_task);
}

static bool group_tries(const struct claim_waits *waits, const struct exchange *exchange) {
    for (const struct exchange *other = waits->first; other != NULL; other = other->wait.next)
        if (other->wait.trying && same_group(exchange, other))
            return true;
    return false;
}

bool claim_waits_keep(struct claim_waits *waits, struct exchange *exchange) {
    struct call *call = &exchange->call;
    bool found = exchange->wait.kept && call->wait_ms == 0;
    int64_t now_ms = clock_boot_ms();
    exchange->wait.trying = false;
    if (!exchange->wait.kept)
        exchange->wait.since_ms = exchange->began_us / 1000;
    if (!exchange->wait.kept)
        exchange->wait.until_ms = exchange->wait.since_ms + call->wait_ms;
    bool waits_on = waits != NULL && call->wait_ms > 0 && !waits->ending && !exchange->wait.gone &&
                    now_ms < exchange->wait.until_ms;
    if (waits_on && !exchange->wait.kept && waits->count >= PAWL_HTTP_CLAIMS_WAITING_MAX) {
        pawl_error err;
        (void)error_set(&err, PAWL_BUSY, "leases", "%d others wait already, which is the limit",
                        PAWL_HTTP_CLAIMS_WAITING_MAX);
        exchange_failure(exchange, &err);
        waits_on = false;
    }
    /* What was put while it ran woke those that were kept, not this one. */
    if (waits_on && !exchange->wait.kept) {
        exchange->wait.due = true;
        add(waits, exchange);
    }
    if (waits_on)
        return true;
    if (waits == NULL)
        return false;
    /* There may be more where that came from: the next one need not keep the distance between tries. */
    for (struct exchange *other = found ? waits->first : NULL; other != NULL; other = other->wait.next) {
        if (!same_group(exchange, other))
            continue;
        other->wait.due = true;
        if (call->status < 400)
            other->wait.tried_ms = 0;
    }
    leave_out(waits, exchange);
    return false;
}

static void take_gone(struct claim_waits *waits) {
    struct epoll_event events[GONE_MAX];
    int count = epoll_wait(waits->gone_fd, events, GONE_MAX, 0);
    for (int i = 0; i < count; i++) {
        struct exchange *exchange = events[i].data.ptr;
        (void)epoll_ctl(waits->gone_fd, EPOLL_CTL_DEL, exchange->link->fd, NULL);
        exchange->wait.gone = true;
        if (!exchange->wait.trying)
            answer(waits, exchange);
    }
}

/* Most of what is waited for comes soon: the distance between two looks is a quarter of the time waited. */
static int64_t look_gap_ms(const struct exchange *exchange) {
    int64_t gap_ms = (exchange->wait.tried_ms - exchange->wait.since_ms) / 4;
    return gap_ms < GAP_MS ? GAP_MS : gap_ms > LOOK_MS ? LOOK_MS : gap_ms;
}

struct claim_wait_fds claim_waits_fds(const struct claim_waits *waits) {
    if (waits == NULL)
        return (struct claim_wait_fds){-1, -1};
    return (struct claim_wait_fds){waits->waker != NULL && !waits->asking ? waits->waker->fd : -1,
                                   waits->gone_fd};
}

int64_t claim_waits_turn(struct claim_waits *waits) {
    if (waits == NULL || waits->ending)
        return POLL_MS;
    take_gone(waits);
    take_wake_ups(waits);
    int64_t now_ms = clock_boot_ms(), next_ms = now_ms + POLL_MS;
    if (waits->count > 0 && waits->server->config.lease_api && !waits->asking && now_ms >= waits->ask_ms)
        ask_again(waits);
    for (struct exchange *one = waits->first, *next; one != NULL; one = next) {
        next = one->wait.next;
        if (one->wait.trying)
            continue;
        bool claims = one->match.route->pool == POOL_LEASE;
        int64_t due_ms = one->wait.tried_ms + (one->wait.due ? GAP_MS : claims ? POLL_MS : look_gap_ms(one));
        if (now_ms >= one->wait.until_ms)
            answer(waits, one);
        else if (group_tries(waits, one))
            continue; /* the turn after its answer decides */
        else if (now_ms >= due_ms)
            try_again(waits, one, now_ms);
        if (one->wait.kept && !one->wait.trying) {
            next_ms = due_ms < next_ms ? due_ms : next_ms;
            next_ms = one->wait.until_ms < next_ms ? one->wait.until_ms : next_ms;
        }
    }
    return next_ms > now_ms ? next_ms - now_ms : 0;
}

void claim_waits_end(struct claim_waits *waits) {
    if (waits == NULL)
        return;
    waits->ending = true;
    for (struct exchange *one = waits->first, *next; one != NULL; one = next) {
        next = one->wait.next;
        if (!one->wait.trying)
            answer(waits, one);
    }
}

pawl_status claim_waits_open(struct server *server, struct claim_waits **out, pawl_error *err) {
    struct claim_waits *waits = calloc(1, sizeof *waits);
    if (waits == NULL)
        return error_set(err, PAWL_NO_MEMORY, "server", "no memory for claims that wait");
    waits->server = server;
    waits->gone_fd = epoll_create1(EPOLL_CLOEXEC);
    pawl_status status = uuid_next(&waits->self, err);
    if (status == PAWL_OK && waits->gone_fd < 0)
        status = error_errno(err, PAWL_UNAVAILABLE, "server", errno, "cannot watch connections");
    if (status == PAWL_OK)
        *out = waits;
    else
        claim_waits_free(waits);
    return status;
}

void claim_waits_free(struct claim_waits *waits) {
    if (waits == NULL)
        return;
    store_waker_close(waits->waker);
    store_waker_close(waits->opened);
    if (waits->gone_fd >= 0)
        close(waits->gone_fd);
    free(waits);
}
