/* Running the invariants and the doctor's queries on SQLite: each must return no rows. */
#include <stdlib.h>
#include <string.h>

#include "base/str.h"
#include "store/sqlite/file/row.h"
#include "store/sqlite/messages/view.h"

/* Enough to see what is wrong; a broken database may break every row. */
enum { VIOLATIONS_MAX = 1000 };

static int add(struct violations *list, const struct sql_file *file, const char *detail,
               struct arena *arena) {
    char *copy = arena_strdup(arena, detail != NULL ? detail : "");
    if (copy == NULL)
        return SQLITE_NOMEM;
    list->rows[list->count++] = (struct violation){str_from(file->name), str_from(copy)};
    return SQLITE_OK;
}

/* *stmt is prepared when it is NULL; the caller finalizes it. */
static pawl_status run_one(struct operation *op, const struct sql_file *file, sqlite3_stmt **stmt,
                           struct arena *arena, struct violations *list) {
    int rc = SQLITE_OK;
    if (*stmt == NULL)
        rc = sqlite3_prepare_v3(op->store->db, file->text, -1, SQLITE_PREPARE_PERSISTENT, stmt, NULL);
    while (rc == SQLITE_OK && list->count < VIOLATIONS_MAX) {
        rc = sqlite3_step(*stmt);
        if (rc != SQLITE_ROW)
            break;
        rc = add(list, file, (const char *)sqlite3_column_text(*stmt, 0), arena);
    }
    pawl_status status =
        rc == SQLITE_OK || rc == SQLITE_DONE ? PAWL_OK : connection_failure(op->store, rc, op->name, op->err);
    sqlite3_reset(*stmt); /* repeats the failure that is already kept; takes NULL */
    return status;
}

/* The queries, after a check of the file itself: parts that they do not read may be damaged too. */
struct look {
    enum sqlite_query damage;
    const struct sql_file *files;
    size_t count;
    bool kept; /* its statements stay prepared */
};

/* The statements of a look, all NULL at first; NULL when out of memory. */
static sqlite3_stmt **statements_of(struct operation *op, const struct look *look) {
    if (!look->kept)
        return arena_array(op->scratch, look->count, sizeof(sqlite3_stmt *));
    if (op->store->invariants == NULL)
        op->store->invariants = calloc(look->count, sizeof(sqlite3_stmt *));
    return op->store->invariants;
}

static pawl_status look_run(struct store *store, const struct look *look, struct arena *arena,
                            struct violations *out, pawl_error *err) {
    struct operation op = operation_read(store, "check", PAWL_OK, err);
    if (op.status != PAWL_OK)
        return op.status;
    pawl_status status = PAWL_OK;
    struct violations list = {arena_array(arena, VIOLATIONS_MAX, sizeof(*list.rows)), 0};
    sqlite3_stmt **statements = statements_of(&op, look);
    if (list.rows == NULL || statements == NULL)
        status = operation_no_memory(&op);
    else
        status = connection_intact(op.store, look->damage, op.name, err);
    for (size_t i = 0; i < look->count && status == PAWL_OK; i++)
        status = run_one(&op, &look->files[i], &statements[i], arena, &list);
    for (size_t i = 0; !look->kept && statements != NULL && i < look->count; i++)
        sqlite3_finalize(statements[i]);
    return operation_give(&op, status, out, &list);
}

pawl_status sqlite_check(struct store *store, struct arena *arena, struct violations *out, pawl_error *err) {
    const struct look look = {SQLITE_Q_FILE_INTEGRITY, sql_sqlite_invariants, sql_sqlite_invariants_count,
                              true};
    return look_run(store, &look, arena, out, err);
}

pawl_status sqlite_problems(struct store *store, struct arena *arena, struct violations *out,
                            pawl_error *err) {
    const struct look look = {SQLITE_Q_FILE_DAMAGE, sql_sqlite_doctor, sql_sqlite_doctor_count, false};
    struct violations list;
    TRY(look_run(store, &look, arena, &list, err));
    TRY(problems_of_file(sqlite_store_of(store), arena, &list, err));
    *out = list;
    return PAWL_OK;
}

/* A file has no standby. */
pawl_status sqlite_durability(struct store *store, struct arena *arena, struct durability *out,
                              pawl_error *err) {
    struct durability found = {0};
    struct operation op = operation_read(store, "durability", PAWL_OK, err);
    if (op.status != PAWL_OK)
        return op.status;
    struct statement s = statement_begin(&op, SQLITE_Q_DURABILITY);
    if (statement_next(&s))
        row_read(&s, 0, &durability_shape, arena, &found);
    return operation_give(&op, statement_end(&s), out, &found);
}
