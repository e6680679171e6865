/* Rollups and series on PostgreSQL. */
#include <stdio.h>

#include "base/json/json.h"
#include "base/str.h"
#include "store/postgres/calls.h"

static void write_buckets(struct json_writer *json, const char *name,
                          const int64_t counts[static ROLLUP_BUCKETS]) {
    char key[16];
    for (int i = 0; i < ROLLUP_BUCKETS; i++) {
        snprintf(key, sizeof key, "%s_%d", name, i);
        if (counts[i] != 0)
            json_put_int(json, key, counts[i]);
    }
}

/* The points as an array of objects, without their zeros: most of their columns are. */
static pawl_status write_points(const struct rollups_new *in, struct arena *arena, pawl_str *out,
                                pawl_error *err) {
    struct buf buf;
    struct json_writer json;
    buf_init(&buf, 0);
    json_writer_init(&json, &buf);
    json_begin_array(&json);
    for (size_t i = 0; i < in->point_count; i++) {
        const struct series_point *point = &in->points[i];
        json_begin_object(&json);
        json_put_int(&json, "scope", point->scope);
        json_put_int(&json, "kind", point->kind);
        json_put_str(&json, "name", point->name);
        json_put_int(&json, "done", point->done);
        json_put_int(&json, "failed", point->failed);
        write_buckets(&json, "handle", point->handle);
        write_buckets(&json, "wait", point->wait);
        json_end_object(&json);
    }
    json_end_array(&json);
    return str_keep(arena, &buf, "rollups_add", out, err);
}

/* In one transaction, and one round trip. */
pawl_status postgres_rollups_add(struct store *store, const struct rollups_new *in, pawl_error *err) {
    struct statement statements[] = {{.result = NULL}, {.result = NULL}};
    struct postgres *self = postgres_of(store);
    size_t used = 0;
    pawl_status status = check_rollups(in, err);
    if (status != PAWL_OK)
        return status;
    arena_reset(self->scratch);
    if (in->count > 0) {
        statements[used] = pg_statement_new(POSTGRES_Q_ROLLUPS_ADD, self->scratch);
        PARAMS(&statements[used++].params, ROWS_OF(rollup_shape, in->cells, in->count));
    }
    if (in->point_count > 0) {
        pawl_str points = {NULL, 0};
        status = write_points(in, self->scratch, &points, err);
        statements[used] = pg_statement_new(POSTGRES_Q_SERIES_POINTS_ADD, self->scratch);
        PARAMS(&statements[used++].params, JSON_OF(points));
    }
    if (status == PAWL_OK && used == 1)
        status = pg_statement_run(self, "rollups_add", statements, EFFECT_WRITE, err);
    else if (status == PAWL_OK && used > 1)
        status = pg_statements_run(self, "rollups_add", statements, used, EFFECT_WRITE, err);
    for (size_t i = 0; i < used; i++)
        pg_statement_clear(&statements[i]);
    return status;
}
