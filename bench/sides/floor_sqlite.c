/* The SQLite floor: the same table and indexes, the same batches, no coordination at all. */
#include <sqlite3.h>
#include <stdlib.h>

#include "base/error.h"
#include "base/hash.h"
#include "base/limits.h"
#include "base/time/clock.h"
#include "bench.h"

enum floor_statement { FLOOR_BEGIN, FLOOR_COMMIT, FLOOR_PUT, FLOOR_READ, FLOOR_DELETE, FLOOR_STATEMENTS };

static const char *const statement_files[FLOOR_STATEMENTS] = {
    "sqlite/begin", "sqlite/commit", "sqlite/put", "sqlite/read", "sqlite/delete",
};

enum { BUSY_MS = 60000, KIND = KIND_OUTBOX };

struct floor_side {
    struct side side;
    sqlite3 *db;
    sqlite3_stmt *statements[FLOOR_STATEMENTS];
    int64_t next_seq;
    int index, count; /* this connection reads the lanes index, index + count, … */
    int lane;
    int64_t cursors[PAWL_LANES_DEFAULT];
    int64_t got[BENCH_BATCH_MAX]; /* sequence numbers read from got_lane, to be deleted */
    int got_count, got_lane;
};

static pawl_status fault(struct floor_side *self, pawl_error *err) {
    return error_set(err, PAWL_INTERNAL, "sqlite", "%s", sqlite3_errmsg(self->db));
}

/* The table is pawl's own, in a file of its own: it cannot drift. */
static pawl_status floor_prepare(const struct bench_options *options, pawl_error *err) {
    return side_pawl.prepare(options, err);
}

static void floor_close(struct side *side) {
    struct floor_side *self = (struct floor_side *)side;
    if (self == NULL)
        return;
    for (int i = 0; i < FLOOR_STATEMENTS; i++)
        sqlite3_finalize(self->statements[i]);
    sqlite3_close(self->db);
    free(self);
}

static pawl_status open_statements(struct floor_side *self, const struct bench_options *options,
                                   pawl_error *err) {
    struct arena *arena = arena_create(0);
    const char *sql = NULL;
    pawl_status status = bench_sql(
        options, arena, options->durable ? "sqlite/connect_full" : "sqlite/connect_normal", &sql, err);
    if (status == PAWL_OK && sqlite3_exec(self->db, sql, NULL, NULL, NULL) != SQLITE_OK)
        status = fault(self, err);
    for (int i = 0; status == PAWL_OK && i < FLOOR_STATEMENTS; i++) {
        status = bench_sql(options, arena, statement_files[i], &sql, err);
        if (status == PAWL_OK && sqlite3_prepare_v3(self->db, sql, -1, SQLITE_PREPARE_PERSISTENT,
                                                    &self->statements[i], NULL) != SQLITE_OK)
            status = fault(self, err);
    }
    arena_free(arena);
    return status;
}

static pawl_status floor_open(const struct bench_options *options, int index, int count, struct side **side,
                              pawl_error *err) {
    struct floor_side *self = calloc(1, sizeof(*self));
    if (self == NULL)
        return error_set(err, PAWL_NO_MEMORY, "bench", "out of memory");
    self->side.options = options;
    self->index = index;
    self->count = count;
    self->lane = index;
    self->next_seq = index + 1;
    pawl_status status = PAWL_OK;
    if (sqlite3_open(bench_sqlite_path(options->url), &self->db) != SQLITE_OK)
        status = fault(self, err);
    else
        sqlite3_busy_timeout(self->db, BUSY_MS);
    if (status == PAWL_OK)
        status = open_statements(self, options, err);
    if (status != PAWL_OK)
        floor_close(&self->side);
    else
        *side = &self->side;
    return status;
}

/* Runs a statement that gives no rows. */
static pawl_status step(struct floor_side *self, enum floor_statement which, pawl_error *err) {
    int code = sqlite3_step(self->statements[which]);
    sqlite3_reset(self->statements[which]);
    return code == SQLITE_DONE ? PAWL_OK : fault(self, err);
}

static void bind_text(sqlite3_stmt *statement, int column, pawl_str text) {
    if (text.ptr == NULL)
        sqlite3_bind_null(statement, column);
    else
        sqlite3_bind_text(statement, column, text.ptr, (int)text.len, SQLITE_STATIC);
}

static pawl_status floor_put(struct side *side, const pawl_outgoing *messages, size_t count,
                             pawl_error *err) {
    struct floor_side *self = (struct floor_side *)side;
    sqlite3_stmt *put = self->statements[FLOOR_PUT];
    int64_t now_ms = clock_wall_ms();
    pawl_status status = step(self, FLOOR_BEGIN, err);
    for (size_t i = 0; status == PAWL_OK && i < count; i++) {
        uint32_t partition = partition_of(messages[i].stream, PAWL_PARTITIONS_DEFAULT);
        sqlite3_bind_int(put, 1, KIND);
        sqlite3_bind_int(put, 2, (int)lane_of(partition, PAWL_LANES_DEFAULT));
        sqlite3_bind_int64(put, 3, self->next_seq);
        sqlite3_bind_blob(put, 4, messages[i].id.b, sizeof(messages[i].id.b), SQLITE_STATIC);
        sqlite3_bind_int(put, 5, (int)partition);
        sqlite3_bind_int64(put, 6, now_ms);
        bind_text(put, 7, messages[i].stream);
        bind_text(put, 8, messages[i].topic);
        bind_text(put, 9, messages[i].type);
        bind_text(put, 10, messages[i].payload);
        status = step(self, FLOOR_PUT, err);
        self->next_seq += self->count;
    }
    return status == PAWL_OK ? step(self, FLOOR_COMMIT, err) : status;
}

static pawl_status delete_got(struct floor_side *self, pawl_error *err) {
    sqlite3_stmt *delete = self->statements[FLOOR_DELETE];
    pawl_status status = PAWL_OK;
    for (int i = 0; status == PAWL_OK && i < self->got_count; i++) {
        sqlite3_bind_int(delete, 1, KIND);
        sqlite3_bind_int(delete, 2, self->got_lane);
        sqlite3_bind_int64(delete, 3, self->got[i]);
        status = step(self, FLOOR_DELETE, err);
    }
    self->got_count = 0;
    return status;
}

/* Reads every column, as a consumer would; stays on a lane while it gives full batches. */
static pawl_status read_next(struct floor_side *self, int max, pawl_error *err) {
    sqlite3_stmt *read = self->statements[FLOOR_READ];
    for (int tries = 0; self->got_count == 0 && tries <= PAWL_LANES_DEFAULT; tries += self->count) {
        int code = SQLITE_OK;
        int64_t bytes = 0;
        sqlite3_bind_int(read, 1, KIND);
        sqlite3_bind_int(read, 2, self->lane);
        sqlite3_bind_int64(read, 3, self->cursors[self->lane]);
        sqlite3_bind_int(read, 4, max);
        while ((code = sqlite3_step(read)) == SQLITE_ROW) {
            self->got[self->got_count++] = sqlite3_column_int64(read, 0);
            bytes += sqlite3_column_int64(read, 1) + sqlite3_column_int64(read, 2);
            for (int column = 3; column < sqlite3_column_count(read); column++)
                bytes += sqlite3_column_blob(read, column) != NULL ? sqlite3_column_bytes(read, column) : 0;
        }
        sqlite3_reset(read);
        if (code != SQLITE_DONE)
            return fault(self, err);
        if (self->got_count > 0 && bytes == 0)
            return error_set(err, PAWL_INTERNAL, "sqlite", "empty messages");
        self->got_lane = self->lane;
        if (self->got_count > 0)
            self->cursors[self->lane] = self->got[self->got_count - 1];
        if (self->got_count < max)
            self->lane = self->lane + self->count < PAWL_LANES_DEFAULT ? self->lane + self->count
                                                                       : self->index;
    }
    return PAWL_OK;
}

static pawl_status floor_drain(struct side *side, int max, struct drained *out, pawl_error *err) {
    struct floor_side *self = (struct floor_side *)side;
    int done = self->got_count;
    pawl_status status = step(self, FLOOR_BEGIN, err);
    if (status == PAWL_OK)
        status = delete_got(self, err);
    if (status == PAWL_OK)
        status = read_next(self, max, err);
    if (status == PAWL_OK)
        status = step(self, FLOOR_COMMIT, err);
    if (status == PAWL_OK)
        *out = (struct drained){.claimed = self->got_count, .done = done};
    return status;
}

static pawl_status floor_claim(struct side *side, int max, int *claimed, pawl_error *err) {
    struct floor_side *self = (struct floor_side *)side;
    pawl_status status = read_next(self, max, err);
    if (status == PAWL_OK)
        *claimed = self->got_count;
    return status;
}

static pawl_status floor_finish(struct side *side, pawl_error *err) {
    struct floor_side *self = (struct floor_side *)side;
    pawl_status status = step(self, FLOOR_BEGIN, err);
    if (status == PAWL_OK)
        status = delete_got(self, err);
    return status == PAWL_OK ? step(self, FLOOR_COMMIT, err) : status;
}

const struct side_ops side_floor_sqlite = {
    .prepare = floor_prepare,
    .open = floor_open,
    .close = floor_close,
    .put = floor_put,
    .drain = floor_drain,
    .claim = floor_claim,
    .finish = floor_finish,
};
