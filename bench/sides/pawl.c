/* pawl itself as a contestant, through the seam and nothing below it. */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/error.h"
#include "base/limits.h"
#include "base/str.h"
#include "base/uuid.h"
#include "bench.h"
#include "pg.h"

struct own_side {
    struct side side;
    struct store *store;
    struct arena *arena; /* of one call */
    struct instance_new instance;
    struct complete_item done[BENCH_BATCH_MAX]; /* what the next drain completes */
    size_t done_count;
};

static struct store_config config_of(const struct bench_options *options) {
    return (struct store_config){
        .url = options->url,
        .durability = options->durable ? DURABILITY_FULL : DURABILITY_NORMAL,
        .statement_timeout_ms = PAWL_TIMEOUT_MS_MAX,
    };
}

static pawl_status own_prepare(const struct bench_options *options, pawl_error *err) {
    if (bench_is_postgres(options->url)) {
        PGconn *conn = NULL;
        pawl_status status = pg_connect(options->url, &conn, err);
        if (status == PAWL_OK)
            status = pg_run_file(conn, options, "postgres/drop_all", err);
        PQfinish(conn);
        if (status != PAWL_OK)
            return status;
    } else {
        bench_unlink_sqlite(options->url);
    }
    struct store_config config = config_of(options);
    struct migrate_config migrate = {0};
    struct migrate_result result = {0};
    return store_migrate(&config, &migrate, &result, err);
}

static void own_close(struct side *side) {
    struct own_side *self = (struct own_side *)side;
    if (self == NULL)
        return;
    if (self->store != NULL && self->instance.kinds != 0) {
        pawl_error ignored;
        /* The measurement is over; an instance that stays registered is dropped with the schema. */
        (void)!self->store->ops->core.instance_deregister(self->store, self->instance.id, &ignored);
    }
    store_close(self->store);
    arena_free(self->arena);
    free(self);
}

static pawl_status own_open(const struct bench_options *options, int index, int count, struct side **side,
                            pawl_error *err) {
    (void)index;
    (void)count;
    struct own_side *self = calloc(1, sizeof(*self));
    struct store_config config = config_of(options);
    if (self == NULL || (self->arena = arena_create(0)) == NULL) {
        own_close((struct side *)self);
        return error_set(err, PAWL_NO_MEMORY, "bench", "out of memory");
    }
    self->side.options = options;
    pawl_status status = store_open(&config, &self->store, err);
    if (status != PAWL_OK)
        own_close(&self->side);
    else
        *side = &self->side;
    return status;
}

static pawl_status own_put(struct side *side, const pawl_outgoing *messages, size_t count, pawl_error *err) {
    struct own_side *self = (struct own_side *)side;
    struct messages_put in = {.kind = KIND_OUTBOX, .messages = messages, .count = count};
    struct put_result out = {0};
    arena_reset(self->arena);
    pawl_status status = self->store->ops->core.messages_put(self->store, &in, self->arena, &out, err);
    if (status != PAWL_OK)
        return status;
    for (size_t i = 0; i < count; i++) {
        if (out.answers[i] != ANSWER_APPLIED)
            return error_set(err, PAWL_INTERNAL, "put", "message %zu was answered %d", i,
                             (int)out.answers[i]);
    }
    return PAWL_OK;
}

/* All of them go to the stream of the first: one append. */
static pawl_status own_append(struct side *side, const pawl_outgoing *messages, size_t count,
                              pawl_error *err) {
    struct own_side *self = (struct own_side *)side;
    struct append_result out = {0};
    arena_reset(self->arena);
    pawl_event *events = arena_array(self->arena, count, sizeof(*events));
    if (events == NULL)
        return error_set(err, PAWL_NO_MEMORY, "append", "out of memory");
    for (size_t i = 0; i < count; i++)
        events[i] = (pawl_event){.type = messages[i].type, .payload = messages[i].payload};
    struct events_append in = {
        .stream = messages[0].stream, .expected = EXPECT_ANY, .events = events, .count = count};
    pawl_status status = self->store->ops->events.events_append(self->store, &in, self->arena, &out, err);
    if (status == PAWL_OK && out.answer != ANSWER_APPLIED)
        status = error_set(err, PAWL_INTERNAL, "append", "an append was answered %d", (int)out.answer);
    return status;
}

static pawl_status own_join(struct side *side, pawl_error *err) {
    struct own_side *self = (struct own_side *)side;
    struct instance_grant grant = {0};
    self->instance = (struct instance_new){
        .service = STR("bench"),
        .host = STR("bench"),
        .pid = (int)getpid(),
        .kinds = KIND_BIT(KIND_OUTBOX),
        .lease_ms = BENCH_LEASE_MS,
    };
    pawl_status status = uuid_next(&self->instance.id, err);
    if (status != PAWL_OK)
        return status;
    return self->store->ops->core.instance_register(self->store, &self->instance, &grant, err);
}

static pawl_status own_settle(struct side *side, bool *settled, pawl_error *err) {
    struct own_side *self = (struct own_side *)side;
    struct beat_result beat = {0};
    pawl_status status = self->store->ops->core.heartbeat(self->store, self->instance.id, -1, &beat, err);
    if (status == PAWL_OK)
        *settled = beat.lanes_taken == 0 && beat.lanes_given == 0 && beat.lanes_owned[KIND_OUTBOX] > 0;
    return status;
}

static void remember(struct own_side *self, const struct item_list *claimed) {
    for (size_t i = 0; i < claimed->count; i++) {
        self->done[i] = (struct complete_item){
            .ref = {claimed->items[i].token, claimed->items[i].id},
            .status = BENCH_STATUS_DONE,
        };
    }
    self->done_count = claimed->count;
}

static pawl_status check_done(const struct answer_list *answers, size_t expected, pawl_error *err) {
    if (answers->count != expected)
        return error_set(err, PAWL_INTERNAL, "complete", "%zu answers for %zu completions", answers->count,
                         expected);
    for (size_t i = 0; i < expected; i++) {
        if (answers->answers[i] != ANSWER_APPLIED)
            return error_set(err, PAWL_INTERNAL, "complete", "item %zu of %zu was answered %d", i, expected,
                             (int)answers->answers[i]);
    }
    return PAWL_OK;
}

static pawl_status own_drain(struct side *side, int max, struct drained *out, pawl_error *err) {
    struct own_side *self = (struct own_side *)side;
    struct work_batch in = {.instance = self->instance, .lease_ms = BENCH_LEASE_MS};
    struct work_batch_result result = {0};
    in.completions[KIND_OUTBOX] = self->done;
    in.completion_count[KIND_OUTBOX] = self->done_count;
    in.claim_max[KIND_OUTBOX] = max;
    arena_reset(self->arena);
    pawl_status status = self->store->ops->core.batch_process(self->store, &in, self->arena, &result, err);
    if (status == PAWL_OK)
        status = check_done(&result.completed[KIND_OUTBOX], self->done_count, err);
    if (status != PAWL_OK)
        return status;
    *out = (struct drained){.claimed = (int)result.claimed[KIND_OUTBOX].count, .done = (int)self->done_count};
    remember(self, &result.claimed[KIND_OUTBOX]);
    return PAWL_OK;
}

static pawl_status own_claim(struct side *side, int max, int *claimed, pawl_error *err) {
    struct own_side *self = (struct own_side *)side;
    struct messages_claim in = {
        .instance = self->instance.id, .kind = KIND_OUTBOX, .max = max, .lease_ms = BENCH_LEASE_MS};
    struct item_list out = {0};
    arena_reset(self->arena);
    pawl_status status = self->store->ops->core.messages_claim(self->store, &in, self->arena, &out, err);
    if (status != PAWL_OK)
        return status;
    remember(self, &out);
    *claimed = (int)out.count;
    return PAWL_OK;
}

static pawl_status own_finish(struct side *side, pawl_error *err) {
    struct own_side *self = (struct own_side *)side;
    struct messages_complete in = {
        .instance = self->instance.id, .kind = KIND_OUTBOX, .items = self->done, .count = self->done_count};
    struct answer_list out = {0};
    arena_reset(self->arena);
    pawl_status status = self->store->ops->core.messages_complete(self->store, &in, self->arena, &out, err);
    if (status == PAWL_OK)
        status = check_done(&out, self->done_count, err);
    if (status == PAWL_OK)
        self->done_count = 0;
    return status;
}

const struct side_ops side_pawl = {
    .prepare = own_prepare,
    .open = own_open,
    .close = own_close,
    .put = own_put,
    .join = own_join,
    .settle = own_settle,
    .drain = own_drain,
    .claim = own_claim,
    .finish = own_finish,
};

const struct side_ops side_append_pawl = {
    .prepare = own_prepare,
    .open = own_open,
    .close = own_close,
    .put = own_append,
};
