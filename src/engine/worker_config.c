/* What a caller asks of a worker, as the core reads it. */
#include "engine/worker_config.h"

#include <limits.h>
#include <string.h>
#include <unistd.h>

#include "base/error.h"
#include "base/json/json.h"
#include "base/limits.h"
#include "base/str.h"
#include "base/time/clock.h"
#include "store/jobs.h"

enum {
    CONCURRENCY_MAX = 1024,
    DRAIN_MS_DEFAULT = 25000,
    LEASE_BEATS = 3, /* of the default instance lease */
    QUIET_BEATS = 3, /* two of an idle worker: see core_life_beat_ms */
    REST_POLLS = 16, /* jobs rest longer than messages: the store says when the next is due */
    BATCH_GROWTH = 5,
    WEIGHT_MAX = 100
};

struct range {
    const char *name;
    int64_t value, min, max;
};

static pawl_status check_ranges(const struct range *ranges, size_t count, pawl_error *err) {
    for (size_t i = 0; i < count; i++) {
        const struct range *r = &ranges[i];
        if (r->value < r->min || r->value > r->max)
            return error_set(err, PAWL_INVALID, "worker", "%s is %lld; it must be from %lld to %lld", r->name,
                             (long long)r->value, (long long)r->min, (long long)r->max);
    }
    return PAWL_OK;
}

static int64_t or_default(int64_t value, int64_t fallback) { return value != 0 ? value : fallback; }

/* "messages=3,jobs=1,perspectives=1"; what is left out has the weight 1. */
static pawl_status read_weights(pawl_str text, int weights[CHANNEL_COUNT], pawl_error *err) {
    static const char *const names[CHANNEL_COUNT] = {"messages=", "jobs=", "perspectives="};
    pawl_str rest = text;
    while (rest.len > 0) {
        const char *comma = memchr(rest.ptr, ',', rest.len);
        pawl_str part = {rest.ptr, comma != NULL ? (size_t)(comma - rest.ptr) : rest.len};
        size_t used = comma != NULL ? part.len + 1 : part.len;
        rest = (pawl_str){rest.ptr + used, rest.len - used};
        part = str_trim(part);
        bool known = false;
        for (int i = 0; i < CHANNEL_COUNT && !known; i++) {
            size_t len = strlen(names[i]);
            int64_t weight = 0;
            known = str_starts_with(part, str_from(names[i])) && weights[i] == 0 &&
                    str_to_i64(str_trim((pawl_str){part.ptr + len, part.len - len}), 1, WEIGHT_MAX, &weight);
            if (known)
                weights[i] = (int)weight;
        }
        if (!known)
            return error_set(err, PAWL_INVALID, "worker",
                             "the weights are '%.*s', and '%.*s' is none; give messages, jobs and "
                             "perspectives numbers from 1 to %d, such as messages=3,jobs=1",
                             STR_ARG(text), STR_ARG(part), WEIGHT_MAX);
    }
    return PAWL_OK;
}

static void fill(struct engine_config *engine, const pawl_worker_config *in) {
    engine->slots = (int)or_default(in->concurrency, PAWL_CONCURRENCY_DEFAULT);
    engine->batch = (int)or_default(in->batch, PAWL_BATCH_DEFAULT);
    engine->batch_max = in->batch == 0 ? BATCH_GROWTH * PAWL_BATCH_DEFAULT : in->batch;
    engine->lease_ms = or_default(in->lease_ms, PAWL_LEASE_MS_DEFAULT);
    engine->heartbeat_ms = or_default(in->heartbeat_ms, PAWL_HEARTBEAT_MS_DEFAULT);
    engine->instance_lease_ms = in->instance_lease_ms;
    if (in->instance_lease_ms == 0 && engine->heartbeat_ms * LEASE_BEATS > PAWL_INSTANCE_LEASE_MS_DEFAULT)
        engine->instance_lease_ms = engine->heartbeat_ms * LEASE_BEATS;
    engine->poll_ms = or_default(in->poll_ms, PAWL_POLL_MS_DEFAULT);
    /* A little before an idle worker's second beat, which it then replaces. */
    engine->quiet_poll_ms = engine->heartbeat_ms * QUIET_BEATS - engine->heartbeat_ms / 50;
    engine->rest_ms = engine->quiet_poll_ms * REST_POLLS;
    engine->job_lease_ms = or_default(in->job_lease_ms, PAWL_JOB_LEASE_MS_DEFAULT);
    engine->cleanup_ms = or_default(in->cleanup_ms, PAWL_CLEANUP_MS_DEFAULT);
    engine->drain_ms = or_default(in->drain_ms, DRAIN_MS_DEFAULT);
    engine->idle_polls = (int)or_default(in->idle_polls, 2);
    engine->max_attempts = in->max_attempts;
    engine->debug = in->debug;
    engine->strategy = (struct engine_strategy){(enum engine_strategy_type)in->strategy, in->flush, in->self};
    engine->instance.pid = (int)getpid();
    engine->instance.max_partitions = in->max_partitions;
    engine->instance.slots = engine->slots;
    bool all = !in->outbox && !in->inbox && !in->jobs && !in->perspectives;
    if (in->observe)
        return;
    engine->instance.kinds = (all || in->outbox ? KIND_BIT(KIND_OUTBOX) : 0) |
                             (all || in->inbox ? KIND_BIT(KIND_INBOX) : 0) |
                             (all || in->jobs ? KIND_BIT_JOBS : 0) |
                             (in->perspectives ? KIND_BIT(KIND_PERSPECTIVE) : 0);
}

static pawl_status check(const pawl_worker_config *in, const struct engine_config *engine, pawl_error *err) {
    if (in->store.url == NULL || in->store.url[0] == '\0')
        return error_set(err, PAWL_INVALID, "worker",
                         "store.url is missing; name an SQLite file or postgres://…");
    if (in->strategy == PAWL_CUSTOM && in->flush == NULL)
        return error_set(err, PAWL_INVALID, "worker", "the custom strategy needs flush");
    struct range ranges[] = {
        {"concurrency", engine->slots, 1, CONCURRENCY_MAX},
        {"batch", engine->batch, 1, PAWL_BATCH_MAX},
        {"lease_ms", engine->lease_ms, PAWL_LEASE_MS_MIN, PAWL_LEASE_MS_MAX},
        {"heartbeat_ms", engine->heartbeat_ms, PAWL_HEARTBEAT_MS_MIN, PAWL_LEASE_MS_MAX / LEASE_BEATS},
        {"instance_lease_ms", engine->instance_lease_ms, 0, PAWL_LEASE_MS_MAX},
        {"poll_ms", engine->poll_ms, PAWL_POLL_MS_MIN, PAWL_TIMEOUT_MS_MAX},
        {"drain_ms", engine->drain_ms, 1, PAWL_LEASE_MS_MAX},
        {"idle_polls", engine->idle_polls, 1, INT_MAX},
        {"max_attempts", engine->max_attempts, 0, PAWL_ATTEMPTS_MAX},
        {"job_lease_ms", engine->job_lease_ms, PAWL_LEASE_MS_MIN, PAWL_LEASE_MS_MAX},
        {"strategy", (int64_t)in->strategy, PAWL_BATCHED, PAWL_CUSTOM},
    };
    pawl_status status = check_ranges(ranges, sizeof(ranges) / sizeof(*ranges), err);
    int64_t lease_ms = or_default(engine->instance_lease_ms, PAWL_INSTANCE_LEASE_MS_DEFAULT);
    if (status == PAWL_OK && engine->heartbeat_ms * 2 > lease_ms) {
        char beat[CLOCK_DURATION_BYTES], lease[CLOCK_DURATION_BYTES];
        return error_set(
            err, PAWL_INVALID, "worker",
            "--instance-lease is %s and --heartbeat is %s: a lease must last two heartbeats or more. "
            "Raise --instance-lease, lower --heartbeat, or leave --instance-lease out: then it follows "
            "the heartbeat",
            clock_format_duration(lease_ms, lease), clock_format_duration(engine->heartbeat_ms, beat));
    }
    if (status == PAWL_OK && in->metadata != NULL)
        status = json_check(str_from(in->metadata), "metadata", err);
    return status;
}

pawl_status worker_config_read(const pawl_worker_config *in, struct engine_config *engine, pawl_error *err) {
    struct engine_config read = {0};
    fill(&read, in);
    pawl_status status = check(in, &read, err);
    if (status == PAWL_OK && in->weights != NULL)
        status = read_weights(str_from(in->weights), read.weights, err);
    if (status == PAWL_OK)
        *engine = read;
    return status;
}
