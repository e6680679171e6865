/* Quantiles of wait and handler times over the last minute. */
#include "view/status/latency.h"

struct latency latency_of(const struct rollup_cells *cells) {
    struct latency made;
    for (int kind = 0; kind < ROLLUP_KINDS; kind++) {
        made.handle[kind] = rollup_histogram(cells->cells, cells->count, ROLLUP_HANDLE, kind, -1);
        made.wait[kind] = rollup_histogram(cells->cells, cells->count, ROLLUP_WAIT, kind, -1);
    }
    return made;
}

const struct latency *latency_before(struct latency_past *past, const struct latency *now, int64_t now_ms) {
    size_t last = (past->first + past->count + LATENCY_KEPT - 1) % LATENCY_KEPT;
    if (past->count == 0 || now_ms - past->at_ms[last] >= LATENCY_STEP_MS) {
        if (past->count == LATENCY_KEPT) {
            past->first = (past->first + 1) % LATENCY_KEPT;
            past->count--;
        }
        size_t at = (past->first + past->count++) % LATENCY_KEPT;
        past->moments[at] = *now;
        past->at_ms[at] = now_ms;
    }
    /* After a pause there is no younger sample to compare with. */
    while (past->count > 2 && now_ms - past->at_ms[(past->first + 1) % LATENCY_KEPT] >= LATENCY_WINDOW_MS) {
        past->first = (past->first + 1) % LATENCY_KEPT;
        past->count--;
    }
    return past->count > 1 ? &past->moments[past->first] : NULL;
}

static struct rollup_histogram between(const struct rollup_histogram *now,
                                       const struct rollup_histogram *before) {
    return before != NULL ? rollup_since(now, before) : *now;
}

static void write_one(struct json_writer *json, const char *key, const struct rollup_histogram *sums) {
    static const struct {
        const char *key;
        int per_mille;
    } quantiles[] = {{"p50_ms", 500}, {"p95_ms", 950}, {"p99_ms", 990}};
    json_key(json, key);
    json_begin_object(json);
    json_key(json, "count");
    json_int(json, sums->count);
    for (size_t i = 0; i < sizeof quantiles / sizeof *quantiles; i++) {
        json_key(json, quantiles[i].key);
        if (sums->count > 0)
            json_double(json, rollup_quantile_ms(sums, quantiles[i].per_mille));
        else
            json_null(json);
    }
    json_end_object(json);
}

static void add(struct rollup_histogram *sum, const struct rollup_histogram *one) {
    for (int i = 0; i < ROLLUP_BUCKETS; i++)
        sum->counts[i] += one->counts[i];
    sum->count += one->count;
    sum->sum += one->sum;
}

/* What was counted of a kind since before. */
static struct rollup_histogram handled(const struct latency *now, const struct latency *before, int kind) {
    return between(&now->handle[kind], before != NULL ? &before->handle[kind] : NULL);
}
static struct rollup_histogram waited(const struct latency *now, const struct latency *before, int kind) {
    return between(&now->wait[kind], before != NULL ? &before->wait[kind] : NULL);
}

static void add_all(const struct latency *now, const struct latency *before, struct rollup_histogram *handle,
                    struct rollup_histogram *wait) {
    for (int kind = ROLLUP_OUTBOX; kind < ROLLUP_KINDS; kind++) {
        struct rollup_histogram one = handled(now, before, kind);
        add(handle, &one);
        one = waited(now, before, kind);
        add(wait, &one);
    }
}

struct latency_p95 latency_p95(const struct latency *now, const struct latency *before) {
    struct rollup_histogram handle = {.count = 0}, wait = {.count = 0};
    add_all(now, before, &handle, &wait);
    return (struct latency_p95){handle.count > 0 ? rollup_quantile_ms(&handle, 950) : -1,
                                wait.count > 0 ? rollup_quantile_ms(&wait, 950) : -1};
}

void latency_write(struct json_writer *json, const struct latency *now, const struct latency *before) {
    struct rollup_histogram handle = {.count = 0}, wait = {.count = 0};
    json_begin_object(json);
    json_key(json, "kinds");
    json_begin_array(json);
    for (int kind = ROLLUP_OUTBOX; kind < ROLLUP_KINDS; kind++) {
        struct rollup_histogram kind_handle = handled(now, before, kind);
        struct rollup_histogram kind_wait = waited(now, before, kind);
        json_begin_object(json);
        json_key(json, "kind");
        json_cstr(json, rollup_kind_name((enum rollup_kind)kind));
        write_one(json, "handle", &kind_handle);
        write_one(json, "wait", &kind_wait);
        json_end_object(json);
    }
    json_end_array(json);
    add_all(now, before, &handle, &wait);
    write_one(json, "handle", &handle);
    write_one(json, "wait", &wait);
    json_end_object(json);
}
