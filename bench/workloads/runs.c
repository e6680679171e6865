/* runs: items through pages of a run; the floor does the same upserts in one process with no coordination. */
#include <inttypes.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/str.h"
#include "base/time/clock.h"
#include "base/uuid.h"
#include "pg.h"

enum { PARTITIONS = 32, KEY_BYTES = 32, PAYLOAD_BYTES = 96 };

/* One page of the source: as many items as it was asked for, until the partition's share is given. */
struct source {
    struct run_item *items;
    char (*keys)[KEY_BYTES];
    char (*payloads)[PAYLOAD_BYTES];
};

static bool source_open(struct source *s, int page_size) {
    s->items = calloc((size_t)page_size, sizeof *s->items);
    s->keys = calloc((size_t)page_size, sizeof *s->keys);
    s->payloads = calloc((size_t)page_size, sizeof *s->payloads);
    return s->items != NULL && s->keys != NULL && s->payloads != NULL;
}

static void source_close(struct source *s) {
    free(s->items);
    free(s->keys);
    free(s->payloads);
}

/* How many items partition part has. */
static int64_t share(const struct bench_options *options, int part) {
    return options->messages / PARTITIONS + (part < options->messages % PARTITIONS);
}

static size_t fetch(struct source *s, const struct bench_options *options, int part, int64_t offset) {
    size_t count = 0;
    for (int64_t n = offset; n < share(options, part) && count < (size_t)options->batch; n++, count++) {
        (void)snprintf(s->keys[count], KEY_BYTES, "%02d-%09" PRId64, part, n);
        (void)snprintf(s->payloads[count], PAYLOAD_BYTES,
                       "{\"sku\":\"%02d-%09" PRId64 "\",\"price\":%" PRId64 ",\"stock\":7}", part, n,
                       n % 1000);
        s->items[count] = (struct run_item){str_from(s->keys[count]), str_from(s->payloads[count])};
    }
    return count;
}

struct shared {
    const struct bench_options *options;
    atomic_int_fast64_t items;
    atomic_bool over;
};

struct hand {
    struct shared *shared;
    pthread_t thread;
    pawl_status status;
    pawl_error err;
};

static struct store_config config_of(const struct bench_options *options) {
    return (struct store_config){.url = options->url,
                                 .durability = options->durable ? DURABILITY_FULL : DURABILITY_NORMAL};
}

static pawl_status work_page(struct hand *hand, struct store *store, struct arena *arena, pawl_uuid id,
                             const struct job *job, struct source *source) {
    const struct bench_options *options = hand->shared->options;
    struct page_commit in = {.ref = {.instance = id, .job = {job->token, job->id}}, .fetch_ms = 1};
    struct page_result result;
    int64_t offset = 0;
    if (sscanf(job->payload.ptr,
               "{\"run\":%" SCNd64 ",\"part\":%d,\"generation\":%d,\"page\":%" SCNd64 ",\"offset\":%" SCNd64,
               &in.ref.run, &in.ref.part, &in.ref.generation, &in.ref.page, &offset) != 5)
        return error_set(&hand->err, PAWL_INTERNAL, "runs", "a page has another payload");
    in.items = source->items;
    in.count = fetch(source, options, in.ref.part, offset);
    in.more = offset + (int64_t)in.count < share(options, in.ref.part) ? MORE_YES : MORE_NO;
    pawl_status status = store->ops->runs->page_commit(store, &in, arena, &result, &hand->err);
    if (status == PAWL_OK && result.outcome != PAGE_ADVANCED && result.outcome != PAGE_FINISHED)
        status = error_set(&hand->err, PAWL_INTERNAL, "runs", "a page was answered %d", (int)result.outcome);
    if (status == PAWL_OK)
        (void)atomic_fetch_add(&hand->shared->items, (int_fast64_t)in.count);
    if (status == PAWL_OK && result.last)
        atomic_store(&hand->shared->over, true);
    return status;
}

static pawl_status work(struct hand *hand, struct store *store, struct arena *arena) {
    struct source source = {0};
    struct instance_grant grant;
    struct instance_new in = {.service = STR("bench"), .kinds = KIND_BIT_JOBS, .lease_ms = BENCH_LEASE_MS};
    pawl_status status = source_open(&source, hand->shared->options->batch)
                             ? uuid_next(&in.id, &hand->err)
                             : error_set(&hand->err, PAWL_NO_MEMORY, "runs", "out of memory");
    if (status == PAWL_OK)
        status = store->ops->core.instance_register(store, &in, &grant, &hand->err);
    while (status == PAWL_OK && !atomic_load(&hand->shared->over)) {
        struct jobs_claim claim = {.instance = in.id,
                                   .max = PARTITIONS / hand->shared->options->threads,
                                   .lease_ms = BENCH_LEASE_MS};
        struct job_list list = {0};
        arena_reset(arena);
        status = store->ops->jobs->claim(store, &claim, arena, &list, &hand->err);
        for (size_t i = 0; status == PAWL_OK && i < list.count; i++)
            status = work_page(hand, store, arena, in.id, &list.jobs[i], &source);
    }
    atomic_store(&hand->shared->over, true);
    source_close(&source);
    return status;
}

static void *hand_main(void *self) {
    struct hand *hand = self;
    struct store_config config = config_of(hand->shared->options);
    struct store *store = NULL;
    struct arena *arena = arena_create(0);
    hand->status = arena == NULL ? error_set(&hand->err, PAWL_NO_MEMORY, "runs", "out of memory")
                                 : store_open(&config, &store, &hand->err);
    if (hand->status == PAWL_OK)
        hand->status = work(hand, store, arena);
    store_close(store);
    arena_free(arena);
    return NULL;
}

static pawl_status start_run(const struct bench_options *options, pawl_error *err) {
    struct store_config config = config_of(options);
    struct store *store = NULL;
    struct partition_new parts[PARTITIONS];
    char names[PARTITIONS][8];
    struct run_started out;
    for (int i = 0; i < PARTITIONS; i++) {
        (void)snprintf(names[i], sizeof names[i], "p%d", i);
        parts[i] = (struct partition_new){.name = str_from(names[i]), .total = share(options, i)};
    }
    struct run_start in = {.name = STR("bench"),
                           .type = STR("page"),
                           .page_size = options->batch,
                           .partitions = parts,
                           .count = PARTITIONS};
    pawl_status status = store_open(&config, &store, err);
    if (status == PAWL_OK)
        status = store->ops->runs->start(store, &in, &out, err);
    store_close(store);
    return status;
}

static pawl_status by_pawl(const struct bench_options *options, int64_t *items, pawl_error *err) {
    struct shared shared = {.options = options};
    struct hand *hands = calloc((size_t)options->threads, sizeof *hands);
    if (hands == NULL)
        return error_set(err, PAWL_NO_MEMORY, "runs", "out of memory");
    int started = 0;
    pawl_status status = PAWL_OK;
    for (; status == PAWL_OK && started < options->threads; started++) {
        hands[started].shared = &shared;
        if (pthread_create(&hands[started].thread, NULL, hand_main, &hands[started]) != 0)
            status = error_set(err, PAWL_NO_MEMORY, "runs", "no more threads");
    }
    for (int i = 0; i < started; i++) {
        (void)pthread_join(hands[i].thread, NULL);
        if (status == PAWL_OK && hands[i].status != PAWL_OK) {
            status = hands[i].status;
            *err = hands[i].err;
        }
    }
    *items = atomic_load(&shared.items);
    free(hands);
    return status;
}

static pawl_status floor_page(PGconn *conn, const struct run_item *items, size_t count, int part,
                              struct buf *arrays, pawl_error *err) {
    static const int binary[] = {1, 1, 1};
    unsigned char number[4] = {0, 0, 0, (unsigned char)part};
    pg_array_begin(&arrays[0], PG_OID_TEXT, count);
    pg_array_begin(&arrays[1], PG_OID_TEXT, count);
    for (size_t i = 0; i < count; i++) {
        pg_array_text(&arrays[0], items[i].key);
        pg_array_text(&arrays[1], items[i].payload);
    }
    const char *const values[] = {(const char *)number, arrays[0].ptr, arrays[1].ptr};
    const int lengths[] = {4, (int)arrays[0].len, (int)arrays[1].len};
    PGresult *result = PQexecPrepared(conn, "postgres/floor_item_put", 3, values, lengths, binary, 1);
    pawl_status status = pg_check(conn, result, err);
    PQclear(result);
    return status;
}

/* One process, page by page, partition by partition: nothing but the upserts. */
static pawl_status by_floor(const struct bench_options *options, int64_t *items, int64_t *spent_us,
                            pawl_error *err) {
    struct source source = {0};
    struct buf arrays[2];
    PGconn *conn = NULL;
    buf_init(&arrays[0], 0);
    buf_init(&arrays[1], 0);
    pawl_status status = source_open(&source, options->batch)
                             ? pg_connect(options->url, &conn, err)
                             : error_set(err, PAWL_NO_MEMORY, "runs", "out of memory");
    if (status == PAWL_OK)
        status = pg_run_file(conn, options, "postgres/floor_item_table", err);
    if (status == PAWL_OK)
        status = pg_prepare_file(conn, options, "postgres/floor_item_put", err);
    int64_t begin_us = clock_boot_us();
    for (int part = 0; status == PAWL_OK && part < PARTITIONS; part++) {
        for (int64_t offset = 0; status == PAWL_OK && offset < share(options, part);) {
            size_t count = fetch(&source, options, part, offset);
            status = floor_page(conn, source.items, count, part, arrays, err);
            offset += (int64_t)count;
            *items += (int64_t)count;
        }
    }
    *spent_us = clock_boot_us() - begin_us;
    buf_free(&arrays[0]);
    buf_free(&arrays[1]);
    source_close(&source);
    PQfinish(conn);
    return status;
}

pawl_status workload_runs(const struct bench_options *options, pawl_error *err) {
    int64_t items = 0, spent_us = 1;
    bool floor = strcmp(options->side, "floor") == 0;
    if (!floor && strcmp(options->side, "pawl") != 0)
        return error_set(err, PAWL_INVALID, "runs", "--side is pawl or floor here, not %s", options->side);
    pawl_status status = side_pawl.prepare(options, err);
    if (status == PAWL_OK && !floor)
        status = start_run(options, err);
    if (status == PAWL_OK)
        status = bench_calm(options, err);
    if (status == PAWL_OK && floor)
        status = by_floor(options, &items, &spent_us, err);
    if (status == PAWL_OK && !floor) {
        int64_t begin_us = clock_boot_us();
        status = by_pawl(options, &items, err);
        spent_us = clock_boot_us() - begin_us;
    }
    if (status == PAWL_OK && items != options->messages)
        status = error_set(err, PAWL_INTERNAL, "runs", "%" PRId64 " items were stored, not %" PRId64, items,
                           options->messages);
    if (status == PAWL_OK)
        printf("{\"items\": %" PRId64 ", \"page\": %d, \"rate\": %.0f}\n", items, options->batch,
               (double)items * 1e6 / (double)spent_us);
    return status;
}
