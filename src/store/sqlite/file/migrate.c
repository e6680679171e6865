/* Creating, checking and upgrading the SQLite schema. */
#include "store/sqlite/file/migrate.h"

#include <stdlib.h>

#include "base/error.h"
#include "base/limits.h"
#include "base/str.h"
#include "base/time/clock.h"
#include "store/sqlite/file/operation.h"

/* An operation without settings: the schema may not be there yet. */
static struct operation plain_operation(struct sqlite_store *store, const char *name, pawl_error *err) {
    arena_reset(store->scratch);
    connection_deadline_start(store);
    return (struct operation){.store = store, .scratch = store->scratch, .name = name, .err = err};
}

static pawl_status run(struct operation *op, enum sqlite_query query) {
    return statement_run(statement_begin(op, query));
}

static pawl_status ask(struct operation *op, enum sqlite_query query, bool *yes) {
    return statement_any(statement_begin(op, query), yes);
}

/* The number in front of a migration's name. */
static int version_of(size_t index) { return (int)strtol(sql_sqlite_migrations[index].name, NULL, 10); }

static int newest(void) { return version_of(sql_sqlite_migrations_count - 1); }

/* How many of our migrations are applied; any that is not ours or not the same is refused. */
static pawl_status read_applied(struct operation *op, size_t *applied) {
    pawl_status status = PAWL_OK;
    struct statement s = statement_begin(op, SQLITE_Q_SCHEMA_LIST);
    *applied = 0;
    while (status == PAWL_OK && statement_next(&s)) {
        int version = (int)column_int(&s, 0);
        if (*applied >= sql_sqlite_migrations_count)
            status =
                error_set(op->err, PAWL_CONFLICT, op->name,
                          "the database has schema version %d, this program knows up to %d: upgrade pawl",
                          version, newest());
        else if (version != version_of(*applied) ||
                 !str_equal_cstr(column_borrow(&s, 2), sql_sqlite_migrations[*applied].sha256))
            status =
                error_set(op->err, PAWL_CONFLICT, op->name,
                          "migration %d (%.*s) of the database is not the one of this program (%s): it was "
                          "changed, or comes from another build; use the pawl that made this database",
                          version, STR_ARG(column_borrow(&s, 1)), sql_sqlite_migrations[*applied].name);
        *applied += 1;
    }
    return statement_close(&s, status);
}

pawl_status migrate_check(struct sqlite_store *store, pawl_error *err) {
    struct operation op = plain_operation(store, "sqlite_open", err);
    bool exists = false, used = false;
    size_t applied = 0;
    TRY(ask(&op, SQLITE_Q_SCHEMA_EXISTS, &exists));
    if (!exists)
        TRY(ask(&op, SQLITE_Q_SCHEMA_USED, &used));
    if (used) /* by an application, or by a process that has created it just now */
        TRY(ask(&op, SQLITE_Q_SCHEMA_EXISTS, &exists));
    if (!exists && !used) /* another process may be creating it at this moment */
        return error_set(err, PAWL_NOT_FOUND, op.name, "the database at %s is empty: run pawl migrate",
                         store->path);
    if (!exists)
        return error_set(err, PAWL_CONFLICT, op.name, "the database %s has no schema: run pawl migrate",
                         store->path);
    TRY(read_applied(&op, &applied));
    if (applied < sql_sqlite_migrations_count)
        return error_set(err, PAWL_CONFLICT, op.name,
                         "the database has schema version %d, this program needs %d: run pawl migrate",
                         applied == 0 ? 0 : version_of(applied - 1), newest());
    return PAWL_OK;
}

static pawl_status check_counts(const struct migrate_config *migrate, pawl_error *err) {
    int partitions = migrate->partition_count != 0 ? migrate->partition_count : PAWL_PARTITIONS_DEFAULT;
    int lanes = migrate->lane_count != 0 ? migrate->lane_count : PAWL_LANES_DEFAULT;
    if (partitions < 1 || partitions > PAWL_PARTITIONS_MAX)
        return error_set(err, PAWL_INVALID, "sqlite_migrate", "partition_count %d is outside 1 … %d",
                         partitions, PAWL_PARTITIONS_MAX);
    if (lanes < 1 || lanes > PAWL_LANES_MAX)
        return error_set(err, PAWL_INVALID, "sqlite_migrate", "lane_count %d is outside 1 … %d", lanes,
                         PAWL_LANES_MAX);
    if (lanes > partitions)
        return error_set(err, PAWL_INVALID, "sqlite_migrate",
                         "lane_count %d is above partition_count %d: a lane without partitions has no work",
                         lanes, partitions);
    return PAWL_OK;
}

/* The first rows: settings and lanes. */
static pawl_status create_rows(struct operation *op, const struct migrate_config *migrate) {
    pawl_uuid boot_id;
    char file_id[FILE_ID_BYTES];
    int lanes = migrate->lane_count != 0 ? migrate->lane_count : PAWL_LANES_DEFAULT;
    int64_t now_ms = clock_wall_ms();
    TRY(clock_boot_id(&boot_id, op->err));
    TRY(connection_file_id(op->store, file_id, op->err));
    TRY(statement_run(SQL(op, SQLITE_Q_SETTINGS_CREATE,
                          migrate->partition_count != 0 ? migrate->partition_count : PAWL_PARTITIONS_DEFAULT,
                          lanes, PAWL_INSTANCE_LEASE_MS_DEFAULT, PAWL_STALE_MS_DEFAULT, PAWL_ATTEMPTS_DEFAULT,
                          PAWL_DEDUPE_MS_DEFAULT, POLICY_SKIP, now_ms - clock_boot_ms(), boot_id,
                          str_from(file_id), now_ms)));
    return statement_run(SQL(op, SQLITE_Q_LANE_CREATE, lanes));
}

static pawl_status apply(struct operation *op, size_t index) {
    const struct sql_file *file = &sql_sqlite_migrations[index];
    int rc = sqlite3_exec(op->store->db, file->text, NULL, NULL, NULL);
    if (rc != SQLITE_OK)
        return connection_failure(op->store, rc, op->name, op->err);
    return statement_run(SQL(op, SQLITE_Q_SCHEMA_RECORD, version_of(index), str_from(file->name),
                             str_from(file->sha256), clock_wall_ms()));
}

/* The counts are fixed when the schema is made; another value is refused. */
static pawl_status compare_counts(struct operation *op, const struct migrate_config *migrate) {
    bool found = false;
    TRY(operation_read_settings(op, &found));
    if (migrate->partition_count != 0 && migrate->partition_count != op->settings.partition_count)
        return error_set(
            op->err, PAWL_CONFLICT, op->name,
            "the schema has partition_count %d, which is fixed: leave %d out, or use a new database",
            op->settings.partition_count, migrate->partition_count);
    if (migrate->lane_count != 0 && migrate->lane_count != op->settings.lane_count)
        return error_set(op->err, PAWL_CONFLICT, op->name,
                         "the schema has lane_count %d, which is fixed: leave %d out, or use a new database",
                         op->settings.lane_count, migrate->lane_count);
    return PAWL_OK;
}

/*
 * An application's file is accepted unless something in it has a name like our tables. Checked before the
 * file is switched to WAL, so that a refusal changes nothing.
 */
static pawl_status refuse_foreign(struct operation *op) {
    bool exists = false;
    pawl_status status = ask(op, SQLITE_Q_SCHEMA_EXISTS, &exists);
    if (status != PAWL_OK || exists)
        return status;
    struct statement s = statement_begin(op, SQLITE_Q_SCHEMA_FOREIGN);
    if (statement_next(&s) && !column_is_null(&s, 0))
        status = error_set(op->err, PAWL_CONFLICT, op->name,
                           "the database %s has %.*s, which pawl did not make: every name that begins with "
                           "pawl_ is pawl's, so rename that, or name a file of its own",
                           op->store->path, STR_ARG(column_borrow(&s, 0)));
    return statement_close(&s, status);
}

/* Inside the transaction: from nothing, or from an older version, to the newest. */
static pawl_status migrate_all(struct operation *op, const struct migrate_config *migrate,
                               struct migrate_result *result) {
    bool exists = false;
    size_t applied = 0;
    TRY(ask(op, SQLITE_Q_SCHEMA_EXISTS, &exists));
    if (exists)
        TRY(read_applied(op, &applied));
    for (size_t i = applied; i < sql_sqlite_migrations_count; i++) {
        TRY(apply(op, i));
        result->applied++;
    }
    TRY(exists ? compare_counts(op, migrate) : create_rows(op, migrate));
    result->version = newest();
    return PAWL_OK;
}

pawl_status migrate_run(struct sqlite_store *store, const struct migrate_config *migrate,
                        struct migrate_result *out, pawl_error *err) {
    struct migrate_result result = {0};
    struct operation op = plain_operation(store, "sqlite_migrate", err);
    pawl_status status = refuse_foreign(&op);
    if (status == PAWL_OK)
        status = connection_use_wal(store, err);
    if (status == PAWL_OK)
        status = run(&op, SQLITE_Q_TRANSACTION_BEGIN_WRITE);
    if (status != PAWL_OK)
        return status;
    status = migrate_all(&op, migrate, &result);
    if (status == PAWL_OK)
        status = run(&op, SQLITE_Q_TRANSACTION_COMMIT);
    if (status != PAWL_OK && sqlite3_get_autocommit(store->db) == 0) {
        op.err = NULL; /* the first failure is the one to report */
        (void)run(&op, SQLITE_Q_TRANSACTION_ROLLBACK);
    }
    if (status == PAWL_OK)
        *out = result;
    return status;
}

pawl_status sqlite_migrate(const struct store_config *config, const struct migrate_config *migrate,
                           struct migrate_result *out, pawl_error *err) {
    struct sqlite_store *store = NULL;
    pawl_status status = check_counts(migrate, err);
    if (status == PAWL_OK)
        status = connection_open(config, CONNECTION_CREATE, &store, err);
    if (status == PAWL_OK)
        status = migrate_run(store, migrate, out, err);
    connection_close(store);
    return status;
}
