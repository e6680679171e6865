/* Running the invariants and the doctor's queries on PostgreSQL: each must return no rows. */
#include <string.h>

#include "base/error.h"
#include "base/str.h"
#include "store/postgres/query.h"
#include "store/postgres/wire/schema.h"

enum { VIOLATIONS_MAX = 1000 };

static pawl_status violations_take(const struct sql_file *invariant, const PGresult *result,
                                   struct arena *arena, struct violations *out, pawl_error *err) {
    for (int row = 0; row < PQntuples(result) && out->count < VIOLATIONS_MAX; row++) {
        bool failed = false;
        out->rows[out->count++] = (struct violation){
            .invariant = str_from(arena_strdup(arena, invariant->name)),
            .detail = pg_cell_text((struct cell){result, row, 0}, arena, &failed),
        };
        if (failed)
            return pg_answer_no_memory("check", err);
    }
    return PAWL_OK;
}

static pawl_status files_run(struct store *store, const struct sql_file *files, size_t count,
                             struct arena *arena, struct violations *out, pawl_error *err) {
    struct postgres *self = postgres_of(store);
    struct violations list = {.rows = arena_array(arena, VIOLATIONS_MAX, sizeof *list.rows)};
    struct buf text;
    if (list.rows == NULL)
        return pg_answer_no_memory("check", err);
    buf_init(&text, 0);
    pawl_status status = PAWL_OK;
    for (size_t i = 0; status == PAWL_OK && i < count; i++) {
        buf_reset(&text);
        pg_schema_substitute(&text, files[i].text, self->schema);
        status = buf_status(&text, "check", err);
        if (status != PAWL_OK)
            break;
        PGresult *result = NULL;
        status = pg_query_run(self, "check", text.ptr, &result, err);
        if (status == PAWL_OK)
            status = violations_take(&files[i], result, arena, &list, err);
        PQclear(result);
    }
    buf_free(&text);
    if (status == PAWL_OK)
        *out = list;
    return status;
}

pawl_status postgres_check(struct store *store, struct arena *arena, struct violations *out,
                           pawl_error *err) {
    return files_run(store, sql_postgres_invariants, sql_postgres_invariants_count, arena, out, err);
}

pawl_status postgres_problems(struct store *store, struct arena *arena, struct violations *out,
                              pawl_error *err) {
    return files_run(store, sql_postgres_doctor, sql_postgres_doctor_count, arena, out, err);
}

pawl_status postgres_durability(struct store *store, struct arena *arena, struct durability *out,
                                pawl_error *err) {
    struct query q = pg_read(store, POSTGRES_Q_DURABILITY, "durability", arena, PAWL_OK);
    return pg_row(&q, &durability_shape, out, err);
}
