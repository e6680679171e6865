/* Series: what they are made of, and how finely they are kept. */
#include "domain/series.h"

#include <string.h>

#include "base/str.h"

static void add_cell(struct series_point *point, const struct rollup_cell *cell) {
    if (cell->measure == ROLLUP_WAIT)
        point->wait[cell->bucket] += cell->count;
    if (cell->measure != ROLLUP_HANDLE)
        return;
    point->handle[cell->bucket] += cell->count;
    if (cell->result == ROLLUP_DONE)
        point->done += cell->count;
    if (cell->result == ROLLUP_RETRY || cell->result == ROLLUP_PERMANENT)
        point->failed += cell->count;
}

size_t series_of_kinds(const struct rollup_cell *cells, size_t count, struct series_point *points) {
    struct series_point *of_kind[ROLLUP_KINDS] = {NULL};
    size_t made = 0;
    for (size_t i = 0; i < count; i++) {
        const struct rollup_cell *cell = &cells[i];
        if (cell->measure != ROLLUP_HANDLE && cell->measure != ROLLUP_WAIT)
            continue;
        if (of_kind[cell->kind] == NULL) {
            of_kind[cell->kind] = &points[made];
            points[made++] = (struct series_point){.scope = SERIES_KIND, .kind = cell->kind, .name = STR("")};
        }
        add_cell(of_kind[cell->kind], cell);
    }
    return made;
}

int64_t series_step_ms(int64_t step_ms, int64_t ago_ms) {
    /* What is about to be folded may have been already. */
    int64_t kept_ms = ago_ms > SERIES_MINUTE_KEPT_MS - SERIES_QUARTER_MS ? SERIES_QUARTER_MS
                      : ago_ms > SERIES_STEP_KEPT_MS - SERIES_MINUTE_MS  ? SERIES_MINUTE_MS
                                                                         : SERIES_STEP_MS;
    return (step_ms + kept_ms - 1) / kept_ms * kept_ms;
}

/* ---- What a worker counts by name */

enum { SUM_FREE, SUM_NAMING, SUM_NAMED };

static bool is_of(const struct series_sum *sum, const struct series_name *name) {
    return sum->scope == name->scope && sum->kind == name->kind && sum->len == name->name.len &&
           memcmp(sum->name, name->name.ptr, sum->len) == 0;
}

/* Two threads that give a new name at the same moment make two sums of it: the store adds them up. */
static bool name_it(struct series_sum *sum, const struct series_name *name) {
    int before = SUM_FREE;
    if (!atomic_compare_exchange_strong(&sum->state, &before, SUM_NAMING))
        return false;
    sum->scope = name->scope;
    sum->kind = name->kind;
    sum->len = name->name.len;
    memcpy(sum->name, name->name.ptr, sum->len);
    atomic_store_explicit(&sum->state, SUM_NAMED, memory_order_release);
    return true;
}

static struct series_sum *sum_of(struct series_sums *sums, const struct series_name *name) {
    bool fits = name->name.len > 0 && name->name.len <= SERIES_NAME_BYTES;
    for (size_t i = 2; fits && i < 2 + SERIES_SUMS_MAX; i++) {
        struct series_sum *sum = &sums->sums[i];
        int state = atomic_load_explicit(&sum->state, memory_order_acquire);
        if (state == SUM_NAMED && is_of(sum, name))
            return sum;
        if (state == SUM_FREE && name_it(sum, name))
            return sum;
    }
    return &sums->sums[name->scope == SERIES_QUEUE ? 0 : 1];
}

static void add(_Atomic int64_t *to, int64_t count) {
    atomic_fetch_add_explicit(to, count, memory_order_relaxed);
}

void series_waited(struct series_sums *sums, const struct series_name *name, int64_t took_us) {
    add(&sum_of(sums, name)->wait[rollup_bucket(took_us)], 1);
}

void series_handled(struct series_sums *sums, const struct series_name *name, enum rollup_result result,
                    int64_t took_us) {
    struct series_sum *sum = sum_of(sums, name);
    add(&sum->handle[rollup_bucket(took_us)], 1);
    if (result == ROLLUP_DONE)
        add(&sum->done, 1);
    if (result == ROLLUP_RETRY || result == ROLLUP_PERMANENT)
        add(&sum->failed, 1);
}

static int64_t take(_Atomic int64_t *from, bool *any) {
    if (atomic_load_explicit(from, memory_order_relaxed) == 0)
        return 0;
    *any = true;
    return atomic_exchange_explicit(from, 0, memory_order_relaxed);
}

size_t series_take(struct series_sums *sums, struct series_point *points) {
    size_t made = 0;
    for (size_t i = 0; i < 2 + SERIES_SUMS_MAX; i++) {
        struct series_sum *sum = &sums->sums[i];
        bool any = false;
        if (i >= 2 && atomic_load_explicit(&sum->state, memory_order_acquire) != SUM_NAMED)
            continue;
        struct series_point *point = &points[made];
        *point = (struct series_point){.scope = i >= 2   ? sum->scope
                                                : i == 0 ? SERIES_QUEUE
                                                         : SERIES_HANDLER,
                                       .kind = sum->kind,
                                       .name = {sum->name, sum->len},
                                       .done = take(&sum->done, &any),
                                       .failed = take(&sum->failed, &any)};
        for (int bucket = 0; bucket < ROLLUP_BUCKETS; bucket++) {
            point->handle[bucket] = take(&sum->handle[bucket], &any);
            point->wait[bucket] = take(&sum->wait[bucket], &any);
        }
        made += any;
    }
    return made;
}

void series_put_back(struct series_sums *sums, const struct series_point *points, size_t count) {
    for (size_t i = 0; i < count; i++) {
        const struct series_point *point = &points[i];
        struct series_sum *sum = sum_of(sums, &(struct series_name){point->scope, point->kind, point->name});
        add(&sum->done, point->done);
        add(&sum->failed, point->failed);
        for (int bucket = 0; bucket < ROLLUP_BUCKETS; bucket++) {
            add(&sum->handle[bucket], point->handle[bucket]);
            add(&sum->wait[bucket], point->wait[bucket]);
        }
    }
}
