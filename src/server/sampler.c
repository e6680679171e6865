/* Sampling the state of the system about once a second, and keeping the series. */
#include "server/sampler.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/limits.h"
#include "base/str.h"
#include "base/time/clock.h"
#include "server/http/call.h"
#include "server/http/stream.h"
#include "server/server.h"
#include "view/status/overview.h"

enum { SAMPLES_KEPT = 300, SAMPLES_REPLAYED = 30, LOOK_MS = 1000, REST_MS = 5000, WANTED_MS = 15000 };

/* One point of the charts. */
struct point {
    int64_t number, at_ms, ready, dead, oldest_age_ms;
    int64_t done, failed; /* totals */
    struct latency_p95 p95;
};

struct sampler {
    struct pool_task pool_task; /* first */
    struct server *server;
    pthread_mutex_t lock; /* of what follows down to text */
    struct point points[SAMPLES_KEPT];
    size_t point_count; /* the oldest is points[number % SAMPLES_KEPT] when full */
    int64_t number;
    struct overview now, before;
    struct latency_past past;
    bool known;                    /* before has been read */
    char *texts[SAMPLES_REPLAYED]; /* of the latest samples, by number */
    pawl_error err;
    bool failed;
    /* The loop's own. */
    bool running;
    int64_t started_ms, wanted_ms;
};

struct sampler *sampler_new(struct server *server) {
    struct sampler *sampler = calloc(1, sizeof *sampler);
    if (sampler == NULL)
        return NULL;
    sampler->server = server;
    sampler->wanted_ms = INT64_MIN / 2;
    sampler->started_ms = INT64_MIN / 2;
    pthread_mutex_init(&sampler->lock, NULL);
    return sampler;
}

void sampler_free(struct sampler *sampler) {
    if (sampler == NULL)
        return;
    for (size_t i = 0; i < SAMPLES_REPLAYED; i++)
        free(sampler->texts[i]);
    pthread_mutex_destroy(&sampler->lock);
    free(sampler);
}

/* The counts of a kind of message and of a queue of jobs have the same fields, but not the same type. */
#define ADD_COUNTS(point, oldest_ms, counts)                                                                 \
    do {                                                                                                     \
        (point).ready += (counts)->ready;                                                                    \
        (point).dead += (counts)->dead;                                                                      \
        (point).done += (counts)->done;                                                                      \
        (point).failed += (counts)->failed;                                                                  \
        if ((counts)->oldest_ready_ms > 0 && ((oldest_ms) == 0 || (counts)->oldest_ready_ms < (oldest_ms)))  \
            (oldest_ms) = (counts)->oldest_ready_ms;                                                         \
    } while (0)

static void add_point(struct sampler *sampler, const struct latency *while_ago) {
    const struct overview *now = &sampler->now;
    struct point point = {.number = ++sampler->number, .at_ms = now->counts.now_ms};
    int64_t oldest_ms = 0;
    for (int kind = KIND_OUTBOX; kind <= KIND_COUNT; kind++)
        ADD_COUNTS(point, oldest_ms, &now->counts.kind[kind]);
    for (size_t i = 0; i < now->queue_count; i++)
        ADD_COUNTS(point, oldest_ms, &now->queues[i].counts);
    point.oldest_age_ms = oldest_ms > 0 && point.at_ms > oldest_ms ? point.at_ms - oldest_ms : 0;
    point.p95 = latency_p95(&now->latency, while_ago);
    sampler->points[point.number % SAMPLES_KEPT] = point;
    if (sampler->point_count < SAMPLES_KEPT)
        sampler->point_count++;
}

/* The sample as the data of an event. */
static void make_text(struct sampler *sampler, const struct latency *while_ago) {
    struct json_writer json;
    const struct overview *before = sampler->known ? &sampler->before : NULL;
    AUTO_BUF(buf, 0);
    json_writer_init(&json, &buf);
    json_begin_object(&json);
    json_key(&json, "sample");
    json_int(&json, sampler->number);
    overview_write(&json, &sampler->now, before, while_ago);
    overview_changes(&json, &sampler->now, before);
    json_end_object(&json);
    char **text = &sampler->texts[sampler->number % SAMPLES_REPLAYED];
    free(*text);
    *text = buf.failed ? NULL : strdup(buf.ptr);
}

/* Runs in a thread of the pool. */
static void run(struct pool_task *pool_task, struct store *store, const pawl_error *err) {
    struct sampler *sampler = (struct sampler *)pool_task;
    struct arena *arena = arena_create(0);
    struct overview *fresh = arena != NULL ? arena_alloc(arena, sizeof *fresh) : NULL;
    struct instance_rows instances;
    pawl_error failure = *err;
    pawl_status status = PAWL_UNAVAILABLE;
    if (store != NULL && fresh != NULL)
        status = overview_read(store, arena, fresh, &instances, &failure);
    pthread_mutex_lock(&sampler->lock);
    sampler->failed = status != PAWL_OK;
    if (status == PAWL_OK) {
        sampler->before = sampler->now;
        sampler->now = *fresh;
        const struct latency *while_ago =
            latency_before(&sampler->past, &sampler->now.latency, sampler->now.counts.now_ms);
        add_point(sampler, while_ago);
        make_text(sampler, while_ago);
        sampler->known = true;
    } else {
        sampler->err = failure;
    }
    pthread_mutex_unlock(&sampler->lock);
    arena_free(arena);
    server_hand_back(sampler->server, pool_task);
}

/* Runs in the loop. */
static void done(struct pool_task *pool_task) {
    struct sampler *sampler = (struct sampler *)pool_task;
    sampler->running = false;
    pthread_mutex_lock(&sampler->lock);
    const char *text = sampler->texts[sampler->number % SAMPLES_REPLAYED];
    if (sampler->failed)
        streams_send(sampler->server->streams, "unavailable", sampler->number, STR("{}"));
    else if (text != NULL)
        streams_send(sampler->server->streams, "overview", sampler->number, str_from(text));
    pthread_mutex_unlock(&sampler->lock);
}

static void start(struct sampler *sampler, int64_t now_ms) {
    sampler->running = true;
    sampler->started_ms = now_ms;
    sampler->pool_task.run = run;
    sampler->pool_task.done = done;
    store_pool_put(&sampler->server->query_pool, &sampler->pool_task);
}

void sampler_tick(struct sampler *sampler, int64_t now_ms) {
    bool looked = streams_count(sampler->server->streams) > 0 || now_ms - sampler->wanted_ms < WANTED_MS;
    if (!sampler->running && now_ms - sampler->started_ms >= (looked ? LOOK_MS : REST_MS) - LOOK_MS / 20)
        start(sampler, now_ms);
}

void sampler_wanted(struct sampler *sampler) {
    int64_t now_ms = clock_boot_ms();
    sampler->wanted_ms = now_ms;
    if (!sampler->running && now_ms - sampler->started_ms >= LOOK_MS)
        start(sampler, now_ms);
}

void sampler_replay(struct sampler *sampler, int64_t after, struct buf *out) {
    pthread_mutex_lock(&sampler->lock);
    int64_t first = sampler->number - SAMPLES_REPLAYED + 1;
    if (after >= first && after < sampler->number)
        first = after + 1;
    else if (after >= sampler->number)
        first = sampler->number;
    for (int64_t number = first < 1 ? 1 : first; number <= sampler->number; number++) {
        const char *text = sampler->texts[number % SAMPLES_REPLAYED];
        if (text != NULL)
            buf_printf(out, "event: overview\nid: %" PRId64 "\ndata: %s\n\n", number, text);
    }
    pthread_mutex_unlock(&sampler->lock);
}

/* The point made this many before the next one. */
static const struct point *point_back(const struct sampler *sampler, size_t back) {
    return &sampler->points[(sampler->number - (int64_t)back + 1) % SAMPLES_KEPT];
}

static void series(struct json_writer *json, const struct sampler *sampler, const char *key, size_t offset) {
    json_key(json, key);
    json_begin_array(json);
    for (size_t i = sampler->point_count; i > 0; i--) {
        int64_t value;
        memcpy(&value, (const char *)point_back(sampler, i) + offset, sizeof value);
        json_int(json, value);
    }
    json_end_array(json);
}

/* The same of a p95, null where nothing was counted. */
static void p95_series(struct json_writer *json, const struct sampler *sampler, const char *key,
                       size_t offset) {
    json_key(json, key);
    json_begin_array(json);
    for (size_t i = sampler->point_count; i > 0; i--) {
        double value;
        memcpy(&value, (const char *)point_back(sampler, i) + offset, sizeof value);
        if (value >= 0)
            json_double(json, value);
        else
            json_null(json);
    }
    json_end_array(json);
}

void sampler_write(struct sampler *sampler, struct call *call) {
    struct json_writer *json = &call->json;
    pthread_mutex_lock(&sampler->lock);
    json_begin_object(json);
    json_key(json, "sample");
    json_int(json, sampler->number);
    json_key(json, "available");
    json_bool(json, !sampler->failed && sampler->number > 0);
    json_key(json, "latest");
    json_raw(json, sampler->number > 0 ? str_from(sampler->texts[sampler->number % SAMPLES_REPLAYED])
                                       : (pawl_str){NULL, 0});
    json_key(json, "series");
    json_begin_object(json);
    series(json, sampler, "at_ms", offsetof(struct point, at_ms));
    series(json, sampler, "ready", offsetof(struct point, ready));
    series(json, sampler, "dead", offsetof(struct point, dead));
    series(json, sampler, "oldest_age_ms", offsetof(struct point, oldest_age_ms));
    series(json, sampler, "done", offsetof(struct point, done));
    series(json, sampler, "failed", offsetof(struct point, failed));
    p95_series(json, sampler, "handle_p95_ms", offsetof(struct point, p95.handle_ms));
    p95_series(json, sampler, "wait_p95_ms", offsetof(struct point, p95.wait_ms));
    json_end_object(json);
    json_end_object(json);
    pthread_mutex_unlock(&sampler->lock);
}
