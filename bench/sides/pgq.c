/* PgQ as a contestant: a log that is read in batches between two snapshots and acknowledged whole. */
#include <stdlib.h>

#include "base/error.h"
#include "pg.h"

enum { COLUMNS_PUT = 3 };

struct pgq_side {
    struct side side;
    PGconn *conn;
    struct buf arrays[COLUMNS_PUT];
    char batch[24]; /* number of the batch in hand; empty: none */
    int got_count;
};

static pawl_status pgq_prepare(const struct bench_options *options, pawl_error *err) {
    PGconn *conn = NULL;
    pawl_status status = pg_connect(options->url, &conn, err);
    if (status == PAWL_OK)
        status = pg_run_file(conn, options, "postgres/drop_all", err);
    if (status == PAWL_OK)
        status = pg_run_file(conn, options, "postgres/pgq_queue", err);
    PQfinish(conn);
    return status;
}

static void pgq_close(struct side *side) {
    struct pgq_side *self = (struct pgq_side *)side;
    if (self == NULL)
        return;
    for (int i = 0; i < COLUMNS_PUT; i++)
        buf_free(&self->arrays[i]);
    PQfinish(self->conn);
    free(self);
}

static pawl_status pgq_open(const struct bench_options *options, int index, int count, struct side **side,
                            pawl_error *err) {
    static const char *const statements[] = {"postgres/pgq_put", "postgres/pgq_tick", "postgres/pgq_next",
                                             "postgres/pgq_events", "postgres/pgq_finish"};
    (void)index;
    (void)count;
    struct pgq_side *self = calloc(1, sizeof(*self));
    if (self == NULL)
        return error_set(err, PAWL_NO_MEMORY, "bench", "out of memory");
    self->side.options = options;
    for (int i = 0; i < COLUMNS_PUT; i++)
        buf_init(&self->arrays[i], 0);
    pawl_status status = pg_connect(options->url, &self->conn, err);
    for (size_t i = 0; status == PAWL_OK && i < sizeof(statements) / sizeof(statements[0]); i++)
        status = pg_prepare_file(self->conn, options, statements[i], err);
    if (status != PAWL_OK)
        pgq_close(&self->side);
    else
        *side = &self->side;
    return status;
}

/* One prepared statement; lengths are there when the parameters are binary. */
struct pgq_call {
    const char *statement;
    int count;
    const char *const *values;
    const int *lengths;
};

static pawl_status call(struct pgq_side *self, struct pgq_call in, PGresult **result, pawl_error *err) {
    static const int binary[COLUMNS_PUT] = {1, 1, 1};
    PGresult *got = PQexecPrepared(self->conn, in.statement, in.count, in.values, in.lengths,
                                   in.lengths != NULL ? binary : NULL, 0);
    pawl_status status = pg_check(self->conn, got, err);
    if (status == PAWL_OK && result != NULL)
        *result = got;
    else
        PQclear(got);
    return status;
}

/* Every put is followed by a tick, so that a consumer's batch is a producer's batch, as with the others. */
static pawl_status pgq_put(struct side *side, const pawl_outgoing *messages, size_t count, pawl_error *err) {
    struct pgq_side *self = (struct pgq_side *)side;
    const char *values[COLUMNS_PUT];
    int lengths[COLUMNS_PUT];
    for (int i = 0; i < COLUMNS_PUT; i++)
        pg_array_begin(&self->arrays[i], PG_OID_TEXT, count);
    for (size_t i = 0; i < count; i++) {
        pg_array_text(&self->arrays[0], messages[i].type);
        pg_array_text(&self->arrays[1], messages[i].payload);
        pg_array_text(&self->arrays[2], messages[i].stream);
    }
    for (int i = 0; i < COLUMNS_PUT; i++) {
        values[i] = self->arrays[i].ptr;
        lengths[i] = (int)self->arrays[i].len;
    }
    pawl_status status =
        call(self, (struct pgq_call){"postgres/pgq_put", COLUMNS_PUT, values, lengths}, NULL, err);
    if (status == PAWL_OK && count > 1)
        status = call(self, (struct pgq_call){.statement = "postgres/pgq_tick"}, NULL, err);
    return status;
}

static pawl_status pgq_drain(struct side *side, int max, struct drained *out, pawl_error *err) {
    struct pgq_side *self = (struct pgq_side *)side;
    const char *values[] = {self->batch};
    PGresult *result = NULL;
    pawl_status status = PAWL_OK;
    (void)max; /* a batch is what lies between two ticks */
    *out = (struct drained){.done = self->got_count};
    if (self->batch[0] != '\0')
        status = call(self, (struct pgq_call){"postgres/pgq_finish", 1, values, NULL}, NULL, err);
    self->got_count = 0;
    self->batch[0] = '\0';
    if (status == PAWL_OK)
        status = call(self, (struct pgq_call){.statement = "postgres/pgq_next"}, &result, err);
    if (status == PAWL_OK && !PQgetisnull(result, 0, 0))
        snprintf(self->batch, sizeof(self->batch), "%s", PQgetvalue(result, 0, 0));
    PQclear(result);
    result = NULL;
    if (status == PAWL_OK && self->batch[0] != '\0')
        status = call(self, (struct pgq_call){"postgres/pgq_events", 1, values, NULL}, &result, err);
    if (status == PAWL_OK && result != NULL)
        self->got_count = PQntuples(result);
    PQclear(result);
    out->claimed = self->got_count;
    return status;
}

const struct side_ops side_pgq = {
    .prepare = pgq_prepare,
    .open = pgq_open,
    .close = pgq_close,
    .put = pgq_put,
    .drain = pgq_drain,
};
