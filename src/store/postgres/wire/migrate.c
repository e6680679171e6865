/* Creating or upgrading the PostgreSQL schema: one transaction, one migrator at a time. */
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/limits.h"
#include "base/str.h"
#include "store/postgres/calls.h"
#include "store/postgres/wire/schema.h"

#define OP "store_migrate"

/* Migrating waits for other migrators, and those may take a while. */
enum { MIGRATE_LOCK_MS = 120000 };

struct migration {
    struct postgres *self;
    struct arena *arena;
    struct buf text;
    char sqlstate[6];
    pawl_error *err;
};

/* Runs SQL text that uses the schema name pawl. */
static pawl_status script(struct migration *m, const char *text) {
    buf_reset(&m->text);
    pg_schema_substitute(&m->text, text, m->self->schema);
    TRY(buf_status(&m->text, OP, m->err));
    return pg_script_run(m->self, OP, m->text.ptr, m->sqlstate, m->err);
}

static pawl_status query(struct migration *m, enum postgres_query id) {
    return pg_script_run(m->self, OP, m->self->queries[id], m->sqlstate, m->err);
}

static pawl_status limits_lift(struct migration *m) {
    struct statement statement = pg_statement_new(POSTGRES_Q_SESSION_LIMITS, m->arena);
    const pawl_str wait_ms = str_from(arena_printf(m->arena, "%d", MIGRATE_LOCK_MS));
    PARAMS(&statement.params, wait_ms, wait_ms, wait_ms);
    pawl_status status = pg_step_run(m->self, OP, &statement, m->err);
    pg_statement_clear(&statement);
    return status;
}

/* What was applied must be the beginning of what this program has, unchanged. */
static pawl_status applied_check(const struct migration *m, const PGresult *rows) {
    int known = (int)sql_postgres_migrations_count;
    for (int i = 0; i < PQntuples(rows); i++) {
        int version = (int)pg_cell_int((struct cell){rows, i, 0});
        if (version > known)
            return error_set(m->err, PAWL_CONFLICT, OP,
                             "the schema has version %d, this program knows up to %d: upgrade pawl",
                             (int)pg_cell_int((struct cell){rows, PQntuples(rows) - 1, 0}), known);
        const struct sql_file *file = &sql_postgres_migrations[version - 1];
        if (strcmp(PQgetvalue(rows, i, 2), file->sha256) != 0)
            return error_set(
                m->err, PAWL_CONFLICT, OP,
                "migration %s was applied with another text than this program has; use the program that "
                "made the schema, or restore the file",
                file->name);
    }
    return PAWL_OK;
}

static pawl_status migration_apply(struct migration *m, int version) {
    const struct sql_file *file = &sql_postgres_migrations[version - 1];
    pawl_status status = script(m, file->text);
    if (status != PAWL_OK)
        return status;
    struct statement statement = pg_statement_new(POSTGRES_Q_MIGRATE_RECORD, m->arena);
    PARAMS(&statement.params, version, str_from(file->name), str_from(file->sha256));
    status = pg_step_run(m->self, OP, &statement, m->err);
    pg_statement_clear(&statement);
    return status;
}

static pawl_status migrations_apply(struct migration *m, int *applied) {
    struct statement list = pg_statement_new(POSTGRES_Q_MIGRATE_LIST, m->arena);
    pawl_status status = pg_step_run(m->self, OP, &list, m->err);
    if (status == PAWL_OK)
        status = applied_check(m, list.result);
    int version = status == PAWL_OK ? PQntuples(list.result) : 0;
    pg_statement_clear(&list);
    for (; status == PAWL_OK && version < (int)sql_postgres_migrations_count; version++) {
        status = migration_apply(m, version + 1);
        *applied += status == PAWL_OK ? 1 : 0;
    }
    return status;
}

static pawl_status signatures(struct migration *m, const char *name, PGresult **rows) {
    struct statement statement = pg_statement_new(POSTGRES_Q_FUNCTION_SIGNATURES, m->arena);
    PARAMS(&statement.params, str_from(name));
    pawl_status status = pg_step_run(m->self, OP, &statement, m->err);
    *rows = statement.result;
    return status;
}

static pawl_status functions_drop(struct migration *m, const PGresult *rows) {
    for (int i = 0; i < PQntuples(rows); i++)
        TRY(pg_script_run(m->self, OP, PQgetvalue(rows, i, 1), m->sqlstate, m->err));
    return PAWL_OK;
}

/* Replaces a function. When its result changed, the old one is dropped first; when its parameters changed, a
 * second one exists beside it, and the old one is dropped then. */
static pawl_status function_replace(struct migration *m, const struct sql_file *file) {
    PGresult *before = NULL, *after = NULL;
    pawl_status status = signatures(m, file->name, &before);
    if (status == PAWL_OK)
        status = query(m, POSTGRES_Q_SAVEPOINT);
    if (status != PAWL_OK)
        goto done;
    status = script(m, file->text);
    if (status != PAWL_OK && (strcmp(m->sqlstate, "42P13") == 0 || strcmp(m->sqlstate, "42P16") == 0)) {
        status = query(m, POSTGRES_Q_SAVEPOINT_ROLLBACK);
        if (status == PAWL_OK)
            status = functions_drop(m, before);
        if (status == PAWL_OK)
            status = script(m, file->text);
    } else if (status == PAWL_OK) {
        status = signatures(m, file->name, &after);
        if (status == PAWL_OK && PQntuples(after) > PQntuples(before))
            status = functions_drop(m, before);
    }
    if (status == PAWL_OK)
        status = query(m, POSTGRES_Q_SAVEPOINT_RELEASE);
done:
    PQclear(before);
    PQclear(after);
    return status;
}

static bool function_known(const PGresult *rows, const struct sql_file *file) {
    for (int i = 0; i < PQntuples(rows); i++) {
        if (strcmp(PQgetvalue(rows, i, 0), file->name) == 0)
            return strcmp(PQgetvalue(rows, i, 1), file->sha256) == 0;
    }
    return false;
}

/* Notes the texts of all functions as the current ones. */
static pawl_status functions_record(struct migration *m) {
    struct statement statement = pg_statement_new(POSTGRES_Q_FUNCTION_RECORD, m->arena);
    const size_t count = sql_postgres_functions_count;
    pawl_str *names = arena_array(m->arena, count, sizeof *names);
    pawl_str *hashes = arena_array(m->arena, count, sizeof *hashes);
    if (names == NULL || hashes == NULL)
        return pg_answer_no_memory(OP, m->err);
    for (size_t i = 0; i < count; i++) {
        names[i] = str_from(sql_postgres_functions[i].name);
        hashes[i] = str_from(sql_postgres_functions[i].sha256);
    }
    PARAMS(&statement.params, LIST(names, count), LIST(hashes, count));
    pawl_status status = pg_step_run(m->self, OP, &statement, m->err);
    pg_statement_clear(&statement);
    return status;
}

/* All functions of a new schema in one round trip. */
static pawl_status functions_make(struct migration *m) {
    buf_reset(&m->text);
    for (size_t i = 0; i < sql_postgres_functions_count; i++)
        pg_schema_substitute(&m->text, sql_postgres_functions[i].text, m->self->schema);
    TRY(buf_status(&m->text, OP, m->err));
    return pg_script_run(m->self, OP, m->text.ptr, m->sqlstate, m->err);
}

/* Functions whose text changed are created again, and then the grants are repeated. */
static pawl_status functions_apply(struct migration *m) {
    bool changed = false;
    struct statement list = pg_statement_new(POSTGRES_Q_FUNCTION_LIST, m->arena);
    pawl_status status = pg_step_run(m->self, OP, &list, m->err);
    if (status == PAWL_OK && PQntuples(list.result) == 0) {
        changed = true;
        status = functions_make(m);
    } else {
        for (size_t i = 0; status == PAWL_OK && i < sql_postgres_functions_count; i++) {
            if (function_known(list.result, &sql_postgres_functions[i]))
                continue;
            changed = true;
            status = function_replace(m, &sql_postgres_functions[i]);
        }
    }
    pg_statement_clear(&list);
    if (status == PAWL_OK && changed)
        status = functions_record(m);
    if (status == PAWL_OK && changed)
        status = query(m, POSTGRES_Q_MIGRATE_GRANTS);
    return status;
}

static pawl_status seed(struct migration *m, const struct migrate_config *config) {
    int partitions = config->partition_count > 0 ? config->partition_count : PAWL_PARTITIONS_DEFAULT;
    int lanes = config->lane_count > 0 ? config->lane_count : PAWL_LANES_DEFAULT;
    if (config->lane_count <= 0 && lanes > partitions)
        lanes = partitions;
    struct statement statement = pg_statement_new(POSTGRES_Q_MIGRATE_SEED, m->arena);
    PARAMS(&statement.params, partitions, lanes);
    pawl_status status = pg_step_run(m->self, OP, &statement, m->err);
    pg_statement_clear(&statement);
    return status;
}

static pawl_status owner_read(struct migration *m, bool *without_roles) {
    struct statement statement = pg_statement_new(POSTGRES_Q_MIGRATE_OWNER, m->arena);
    pawl_status status = pg_step_run(m->self, OP, &statement, m->err);
    if (status == PAWL_OK)
        *without_roles = pg_cell_bool((struct cell){statement.result, 0, 0});
    pg_statement_clear(&statement);
    return status;
}

static pawl_status migration_run(struct migration *m, const struct migrate_config *config,
                                 struct migrate_result *out) {
    const enum postgres_query beginning[] = {POSTGRES_Q_BEGIN, POSTGRES_Q_MIGRATE_SETTINGS};
    const enum postgres_query making[] = {POSTGRES_Q_MIGRATE_LOCK, POSTGRES_Q_MIGRATE_ROLES,
                                          POSTGRES_Q_MIGRATE_SCHEMA};
    for (size_t i = 0; i < sizeof beginning / sizeof beginning[0]; i++)
        TRY(query(m, beginning[i]));
    TRY(limits_lift(m));
    for (size_t i = 0; i < sizeof making / sizeof making[0]; i++)
        TRY(query(m, making[i]));
    TRY(migrations_apply(m, &out->applied));
    TRY(functions_apply(m));
    TRY(seed(m, config));
    TRY(query(m, POSTGRES_Q_MIGRATE_CONSTANTS));
    TRY(owner_read(m, &out->without_roles));
    return query(m, POSTGRES_Q_COMMIT);
}

static pawl_status counts_check(const struct migrate_config *config, pawl_error *err) {
    if (config->partition_count < 0 || config->partition_count > PAWL_PARTITIONS_MAX)
        return error_set(err, PAWL_INVALID, OP, "partition_count %d is outside 1 … %d",
                         config->partition_count, PAWL_PARTITIONS_MAX);
    if (config->lane_count < 0 || config->lane_count > PAWL_LANES_MAX)
        return error_set(err, PAWL_INVALID, OP, "lane_count %d is outside 1 … %d", config->lane_count,
                         PAWL_LANES_MAX);
    return PAWL_OK;
}

pawl_status postgres_migrate(const struct store_config *config, const struct migrate_config *migrate,
                             struct migrate_result *out, pawl_error *err) {
    struct migrate_result result = {.version = (int)sql_postgres_migrations_count};
    pawl_status status = counts_check(migrate, err);
    if (status != PAWL_OK)
        return status;
    struct postgres *self = calloc(1, sizeof *self);
    struct migration m = {.self = self, .arena = arena_create(0), .err = err};
    buf_init(&m.text, 0);
    if (self == NULL || m.arena == NULL) {
        status = error_set(err, PAWL_NO_MEMORY, OP, "no memory for a migration");
        goto done;
    }
    status = pg_connection_init(self, config, OP, err);
    if (status != PAWL_OK)
        goto done;
    self->statement_timeout_ms = self->statement_timeout_ms > MIGRATE_LOCK_MS ? self->statement_timeout_ms
                                                                              : MIGRATE_LOCK_MS;
    status = pg_connection_ready(self, OP, err);
    if (status == PAWL_OK)
        status = migration_run(&m, migrate, &result);
    if (status == PAWL_OK)
        *out = result;
done:
    buf_free(&m.text);
    arena_free(m.arena);
    if (self != NULL)
        pg_connection_free(self); /* an open transaction ends with its connection */
    free(self);
    return status;
}
