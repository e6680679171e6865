/* The PostgreSQL floor: a table of the same shape and indexes, the same batches, no coordination at all. */
#include <endian.h>
#include <stdlib.h>

#include "base/error.h"
#include "base/hash.h"
#include "base/limits.h"
#include "base/uuid.h"
#include "pg.h"

enum { COLUMNS_PUT = 7, KIND = KIND_OUTBOX };

struct floor_side {
    struct side side;
    PGconn *conn;
    struct buf arrays[COLUMNS_PUT];
    struct buf seqs;  /* sequence numbers that were read, to be deleted */
    int index, count; /* this connection reads the lanes index, index + count, … */
    int lane, got_lane, got_count;
    int64_t got_first;
    int64_t cursors[PAWL_LANES_DEFAULT];
};

/* The table is made from pawl's own: it cannot drift. */
static pawl_status floor_prepare(const struct bench_options *options, pawl_error *err) {
    PGconn *conn = NULL;
    pawl_status status = side_pawl.prepare(options, err);
    if (status == PAWL_OK)
        status = pg_connect(options->url, &conn, err);
    if (status == PAWL_OK)
        status = pg_run_file(conn, options, "postgres/floor_table", err);
    PQfinish(conn);
    return status;
}

static void floor_close(struct side *side) {
    struct floor_side *self = (struct floor_side *)side;
    if (self == NULL)
        return;
    for (int i = 0; i < COLUMNS_PUT; i++)
        buf_free(&self->arrays[i]);
    buf_free(&self->seqs);
    PQfinish(self->conn);
    free(self);
}

static pawl_status floor_open(const struct bench_options *options, int index, int count, struct side **side,
                              pawl_error *err) {
    static const char *const statements[] = {"postgres/floor_put_one", "postgres/floor_put_batch",
                                             "postgres/floor_read", "postgres/floor_delete"};
    struct floor_side *self = calloc(1, sizeof(*self));
    if (self == NULL)
        return error_set(err, PAWL_NO_MEMORY, "bench", "out of memory");
    self->side.options = options;
    self->index = self->lane = index;
    self->count = count;
    for (int i = 0; i < COLUMNS_PUT; i++)
        buf_init(&self->arrays[i], 0);
    buf_init(&self->seqs, 0);
    pawl_status status = pg_connect(options->url, &self->conn, err);
    if (status == PAWL_OK)
        status = pg_run_file(self->conn, options, "postgres/floor_session", err);
    for (size_t i = 0; status == PAWL_OK && i < sizeof(statements) / sizeof(statements[0]); i++)
        status = pg_prepare_file(self->conn, options, statements[i], err);
    if (status == PAWL_OK && PQenterPipelineMode(self->conn) != 1)
        status = error_set(err, PAWL_INTERNAL, "bench", "no pipeline mode");
    if (status != PAWL_OK)
        floor_close(&self->side);
    else
        *side = &self->side;
    return status;
}

/* One prepared statement whose parameters are all in binary form. */
static pawl_status send(struct floor_side *self, const char *statement, int count, const char *const *values,
                        const int *lengths, pawl_error *err) {
    static const int binary[COLUMNS_PUT] = {1, 1, 1, 1, 1, 1, 1};
    if (PQsendQueryPrepared(self->conn, statement, count, values, lengths, binary, 1) != 1)
        return error_set(err, PAWL_INTERNAL, "sql", "%s", PQerrorMessage(self->conn));
    return PAWL_OK;
}

/* The next result, which belongs to the caller, and the NULL after it. */
static pawl_status receive(struct floor_side *self, PGresult **result, pawl_error *err) {
    PGresult *got = PQgetResult(self->conn);
    pawl_status status = pg_check(self->conn, got, err);
    if (status == PAWL_OK && PQresultStatus(got) != PGRES_PIPELINE_SYNC)
        PQclear(PQgetResult(self->conn));
    if (status == PAWL_OK && result != NULL)
        *result = got;
    else
        PQclear(got);
    return status;
}

static pawl_status sync_now(struct floor_side *self, pawl_error *err) {
    if (PQpipelineSync(self->conn) != 1)
        return error_set(err, PAWL_INTERNAL, "sql", "%s", PQerrorMessage(self->conn));
    return PAWL_OK;
}

static void fill_arrays(struct floor_side *self, const pawl_outgoing *messages, size_t count) {
    static const enum pg_oid types[COLUMNS_PUT] = {PG_OID_INT4, PG_OID_INT4, PG_OID_UUID, PG_OID_TEXT,
                                                   PG_OID_TEXT, PG_OID_TEXT, PG_OID_TEXT};
    for (int i = 0; i < COLUMNS_PUT; i++)
        pg_array_begin(&self->arrays[i], types[i], count);
    for (size_t i = 0; i < count; i++) {
        uint32_t partition = partition_of(messages[i].stream, PAWL_PARTITIONS_DEFAULT);
        pg_array_int4(&self->arrays[0], (int32_t)lane_of(partition, PAWL_LANES_DEFAULT));
        pg_array_int4(&self->arrays[1], (int32_t)partition);
        pg_array_bytes(&self->arrays[2], messages[i].id.b, sizeof(messages[i].id.b));
        pg_array_text(&self->arrays[3], messages[i].stream);
        pg_array_text(&self->arrays[4], messages[i].topic);
        pg_array_text(&self->arrays[5], messages[i].type);
        pg_array_text(&self->arrays[6], messages[i].payload);
    }
}

/* For a single row the parameters are the elements themselves: the bytes after the array's header. */
static pawl_status floor_put(struct side *side, const pawl_outgoing *messages, size_t count,
                             pawl_error *err) {
    enum { ARRAY_HEADER_BYTES = 24 };
    struct floor_side *self = (struct floor_side *)side;
    const char *values[COLUMNS_PUT];
    int lengths[COLUMNS_PUT];
    int skip = count == 1 ? ARRAY_HEADER_BYTES : 0;
    fill_arrays(self, messages, count);
    for (int i = 0; i < COLUMNS_PUT; i++) {
        if (buf_status(&self->arrays[i], "put", err) != PAWL_OK)
            return PAWL_NO_MEMORY;
        values[i] = self->arrays[i].ptr + skip;
        lengths[i] = (int)self->arrays[i].len - skip;
    }
    pawl_status status = send(self, count == 1 ? "postgres/floor_put_one" : "postgres/floor_put_batch",
                              COLUMNS_PUT, values, lengths, err);
    if (status == PAWL_OK)
        status = sync_now(self, err);
    if (status == PAWL_OK)
        status = receive(self, NULL, err); /* the insert */
    if (status == PAWL_OK)
        status = receive(self, NULL, err); /* the sync */
    return status;
}

static pawl_status send_delete(struct floor_side *self, pawl_error *err) {
    int32_t lane = (int32_t)htobe32((uint32_t)self->got_lane);
    int64_t first = (int64_t)htobe64((uint64_t)self->got_first);
    int64_t last = (int64_t)htobe64((uint64_t)self->cursors[self->got_lane]);
    const char *values[] = {(const char *)&lane, self->seqs.ptr, (const char *)&first, (const char *)&last};
    int lengths[] = {4, (int)self->seqs.len, 8, 8};
    return send(self, "postgres/floor_delete", 4, values, lengths, err);
}

static pawl_status send_read(struct floor_side *self, int max, pawl_error *err) {
    int32_t lane = (int32_t)htobe32((uint32_t)self->lane);
    int64_t cursor = (int64_t)htobe64((uint64_t)self->cursors[self->lane]);
    int32_t limit = (int32_t)htobe32((uint32_t)max);
    const char *values[] = {(const char *)&lane, (const char *)&cursor, (const char *)&limit};
    int lengths[] = {4, 8, 4};
    return send(self, "postgres/floor_read", 3, values, lengths, err);
}

/* Keeps what was read; stays on a lane while it gives full batches. */
static void keep(struct floor_side *self, const PGresult *rows, int max) {
    self->got_count = PQntuples(rows);
    self->got_lane = self->lane;
    pg_array_begin(&self->seqs, PG_OID_INT8, (size_t)self->got_count);
    for (int i = 0; i < self->got_count; i++)
        pg_array_bytes(&self->seqs, PQgetvalue(rows, i, 0), 8);
    if (self->got_count > 0) {
        self->got_first = pg_get_int8(rows, 0, 0);
        self->cursors[self->lane] = pg_get_int8(rows, self->got_count - 1, 0);
    }
    if (self->got_count < max)
        self->lane = self->lane + self->count < PAWL_LANES_DEFAULT ? self->lane + self->count : self->index;
}

/* Deletes what was read before (when finish), reads the next (when max > 0), in one round trip and
 * transaction. */
static pawl_status turn(struct floor_side *self, bool finish, int max, pawl_error *err) {
    PGresult *rows = NULL;
    bool delete = finish && self->got_count > 0;
    pawl_status status = delete ? send_delete(self, err) : PAWL_OK;
    if (status == PAWL_OK && max > 0)
        status = send_read(self, max, err);
    if (status == PAWL_OK)
        status = sync_now(self, err);
    if (status == PAWL_OK && delete)
        status = receive(self, NULL, err);
    if (status == PAWL_OK && delete)
        self->got_count = 0;
    if (status == PAWL_OK && max > 0)
        status = receive(self, &rows, err);
    if (status == PAWL_OK && max > 0)
        keep(self, rows, max);
    PQclear(rows);
    return status == PAWL_OK ? receive(self, NULL, err) : status;
}

static pawl_status floor_drain(struct side *side, int max, struct drained *out, pawl_error *err) {
    struct floor_side *self = (struct floor_side *)side;
    int done = self->got_count;
    pawl_status status = turn(self, true, max, err);
    for (int tries = 0; status == PAWL_OK && self->got_count == 0 && tries < PAWL_LANES_DEFAULT;
         tries += self->count)
        status = turn(self, false, max, err);
    if (status == PAWL_OK)
        *out = (struct drained){.claimed = self->got_count, .done = done};
    return status;
}

static pawl_status floor_claim(struct side *side, int max, int *claimed, pawl_error *err) {
    struct floor_side *self = (struct floor_side *)side;
    pawl_status status = turn(self, false, max, err);
    if (status == PAWL_OK)
        *claimed = self->got_count;
    return status;
}

static pawl_status floor_finish(struct side *side, pawl_error *err) {
    return turn((struct floor_side *)side, true, 0, err);
}

const struct side_ops side_floor_postgres = {
    .prepare = floor_prepare,
    .open = floor_open,
    .close = floor_close,
    .put = floor_put,
    .drain = floor_drain,
    .claim = floor_claim,
    .finish = floor_finish,
};
