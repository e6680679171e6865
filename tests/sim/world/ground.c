/* The ground that worlds stand on: emptying a database is much faster than making one, and what was prepared
 * for it stays so. */
#include "sim/world/ground.h"

#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sim/world/alloc.h"
#include "store/sqlite/file/connection.h"
#include "store/sqlite/file/memory.h"

enum { TABLES_MAX = 80, NAME_BYTES = 64, LANES_MAX = 8, STATEMENTS_MAX = 96 };

struct kept {
    const char *sql;
    sqlite3_stmt *stmt;
};

struct ground {
    struct store *store;
    sqlite3 *db;
    int64_t clock_ms;
    sqlite3_stmt *resets[2 * TABLES_MAX];
    size_t reset_count;
    struct kept kept[STATEMENTS_MAX];
    size_t kept_count;
    sqlite3_stmt *model;
    sqlite3_stmt *keeps[2 * TABLES_MAX + 2], *returns[2 * TABLES_MAX + 2];
    size_t keep_count;
};

static void must(struct ground *ground, int rc, const char *sql) {
    if (rc == SQLITE_OK)
        return;
    fprintf(stderr, "pawl-sim: %s: %s\n", sql, sqlite3_errmsg(ground->db));
    abort();
}

static sqlite3_stmt *prepare(struct ground *ground, const char *sql) {
    sqlite3_stmt *stmt = NULL;
    must(ground, sqlite3_prepare_v3(ground->db, sql, -1, SQLITE_PREPARE_PERSISTENT, &stmt, NULL), sql);
    return stmt;
}

static void run(struct ground *ground, sqlite3_stmt *stmt) {
    while (sqlite3_step(stmt) == SQLITE_ROW)
        continue;
    must(ground, sqlite3_reset(stmt), sqlite3_sql(stmt));
}

int64_t ground_run(struct ground *ground, const char *sql, const struct ground_values *values) {
    struct kept *kept = ground->kept;
    while (kept < ground->kept + ground->kept_count && strcmp(kept->sql, sql) != 0)
        kept++;
    if (kept == ground->kept + ground->kept_count) {
        if (ground->kept_count == STATEMENTS_MAX)
            abort();
        *kept = (struct kept){sql, prepare(ground, sql)};
        ground->kept_count++;
    }
    for (int i = 0; i < values->count; i++)
        must(ground, sqlite3_bind_int64(kept->stmt, i + 1, values->numbers[i]), sql);
    if (values->id != NULL)
        must(ground,
             sqlite3_bind_blob(kept->stmt, values->count + 1, values->id->b, sizeof(values->id->b),
                               SQLITE_TRANSIENT),
             sql);
    run(ground, kept->stmt);
    return sqlite3_changes64(ground->db);
}

void ground_model(struct ground *ground, const char *perspective, const char *stream, int64_t *fold,
                  int64_t *count) {
    must(ground, sqlite3_bind_text(ground->model, 1, perspective, -1, SQLITE_STATIC), perspective);
    must(ground, sqlite3_bind_text(ground->model, 2, stream, -1, SQLITE_STATIC), stream);
    bool any = sqlite3_step(ground->model) == SQLITE_ROW;
    *fold = any ? sqlite3_column_int64(ground->model, 0) : 0;
    *count = any ? sqlite3_column_int64(ground->model, 1) : 0;
    must(ground, sqlite3_reset(ground->model), "model");
}

/* The statement with the name of the table in it. */
static sqlite3_stmt *prepare_for(struct ground *ground, const char *before, const char *between,
                                 const char *table) {
    char *sql = between != NULL ? sqlite3_mprintf("%s%w%s%w", before, table, between, table)
                                : sqlite3_mprintf("%s%w", before, table);
    if (sql == NULL)
        abort();
    sqlite3_stmt *stmt = prepare(ground, sql);
    sqlite3_free(sql);
    return stmt;
}

static void add_reset(struct ground *ground, sqlite3_stmt *stmt) {
    if (ground->reset_count == 2 * TABLES_MAX)
        abort();
    ground->resets[ground->reset_count++] = stmt;
}

/* What the migration wrote is kept beside the database. */
static void keep_table(struct ground *ground, const char *table) {
    sqlite3_stmt *stmt = prepare_for(ground, "CREATE TABLE pristine.", " AS SELECT * FROM main.", table);
    run(ground, stmt);
    sqlite3_finalize(stmt);
}

static bool has_rows(struct ground *ground, const char *table) {
    sqlite3_stmt *stmt = prepare_for(ground, "SELECT 1 FROM pristine.", NULL, table);
    bool any = sqlite3_step(stmt) == SQLITE_ROW;
    sqlite3_finalize(stmt);
    return any;
}

static void prepare_resets(struct ground *ground) {
    char tables[TABLES_MAX][NAME_BYTES];
    size_t count = 0;
    const struct ground_values none = {0};
    ground_run(ground, "CREATE TEMP TABLE doomed (kind INTEGER NOT NULL, seq INTEGER NOT NULL)", &none);
    ground_run(ground,
               "CREATE TABLE main.sim_model (perspective TEXT, stream TEXT, fold INTEGER, count INTEGER,"
               " PRIMARY KEY (perspective, stream)) STRICT",
               &none);
    ground_run(ground, "ATTACH ':memory:' AS pristine", &none);
    sqlite3_stmt *list = prepare(
        ground, "SELECT name FROM main.sqlite_schema WHERE type = 'table' AND name <> 'sqlite_sequence'");
    while (sqlite3_step(list) == SQLITE_ROW && count < TABLES_MAX)
        sqlite3_snprintf(NAME_BYTES, tables[count++], "%s", sqlite3_column_text(list, 0));
    sqlite3_finalize(list);
    for (size_t i = 0; i < count; i++)
        keep_table(ground, tables[i]);
    for (size_t i = 0; i < count; i++)
        add_reset(ground, prepare_for(ground, "DELETE FROM main.", NULL, tables[i]));
    add_reset(ground, prepare(ground, "DELETE FROM main.sqlite_sequence"));
    add_reset(ground, prepare(ground, "DELETE FROM temp.doomed"));
    for (size_t i = 0; i < count; i++) {
        if (has_rows(ground, tables[i]))
            add_reset(ground,
                      prepare_for(ground, "INSERT INTO main.", " SELECT * FROM pristine.", tables[i]));
    }
}

/* Both ways: first everything is deleted, then copied. */
static void add_copies(struct ground *ground, const char *table) {
    sqlite3_stmt *made = prepare_for(ground, "CREATE TABLE kept.", " AS SELECT * FROM main.", table);
    run(ground, made);
    sqlite3_finalize(made);
    ground->keeps[ground->keep_count] = prepare_for(ground, "DELETE FROM kept.", NULL, table);
    ground->returns[ground->keep_count++] = prepare_for(ground, "DELETE FROM main.", NULL, table);
    ground->keeps[ground->keep_count] =
        prepare_for(ground, "INSERT INTO kept.", " SELECT * FROM main.", table);
    ground->returns[ground->keep_count++] =
        prepare_for(ground, "INSERT INTO main.", " SELECT * FROM kept.", table);
}

/* Prepared when a world first needs it: most do not. */
static void prepare_copies(struct ground *ground) {
    char tables[TABLES_MAX][NAME_BYTES];
    size_t count = 0;
    if (ground->keep_count > 0)
        return;
    ground_run(ground, "ATTACH ':memory:' AS kept", &(struct ground_values){0});
    /* What triggers write comes last, and is then as it was. */
    sqlite3_stmt *list = prepare(ground, "SELECT name FROM main.sqlite_schema WHERE type = 'table'"
                                         " ORDER BY name GLOB '*tally*', name");
    while (sqlite3_step(list) == SQLITE_ROW && count < TABLES_MAX)
        sqlite3_snprintf(NAME_BYTES, tables[count++], "%s", sqlite3_column_text(list, 0));
    sqlite3_finalize(list);
    for (size_t i = 0; i < count; i++) {
        if (strcmp(tables[i], "sqlite_sequence") != 0)
            add_copies(ground, tables[i]);
    }
}

static void run_all(struct ground *ground, sqlite3_stmt *const *statements) {
    const struct ground_values none = {0};
    ground_run(ground, "BEGIN", &none);
    for (size_t i = 0; i < ground->keep_count; i++)
        run(ground, statements[i]);
    ground_run(ground, "COMMIT", &none);
}

void ground_keep(struct ground *ground) {
    prepare_copies(ground);
    run_all(ground, ground->keeps);
}

void ground_go_back(struct ground *ground) { run_all(ground, ground->returns); }

struct ground *ground_new(void) {
    struct ground *ground = sim_alloc(sizeof(*ground));
    /* One thread, and nobody asks how much memory there is; refused once SQLite is in use. */
    (void)sqlite3_config(SQLITE_CONFIG_SINGLETHREAD);
    (void)sqlite3_config(SQLITE_CONFIG_MEMSTATUS, 0);
    struct migrate_config counts = {LANES_MAX, LANES_MAX};
    pawl_error error;
    if (sqlite_memory_open(&counts, &ground->clock_ms, &ground->store, &error) != PAWL_OK) {
        fprintf(stderr, "pawl-sim: %s\n", error.text);
        abort();
    }
    ground->db = sqlite_store_of(ground->store)->db;
    prepare_resets(ground);
    ground->model =
        prepare(ground, "SELECT fold, count FROM sim_model WHERE perspective = ?1 AND stream = ?2");
    return ground;
}

void ground_free(struct ground *ground) {
    if (ground == NULL)
        return;
    for (size_t i = 0; i < ground->reset_count; i++)
        sqlite3_finalize(ground->resets[i]);
    sqlite3_finalize(ground->model);
    for (size_t i = 0; i < ground->keep_count; i++) {
        sqlite3_finalize(ground->keeps[i]);
        sqlite3_finalize(ground->returns[i]);
    }
    for (size_t i = 0; i < ground->kept_count; i++)
        sqlite3_finalize(ground->kept[i].stmt);
    store_close(ground->store);
    free(ground);
}

struct store *ground_fresh(struct ground *ground, int partitions, int lanes) {
    const struct ground_values none = {0};
    ground_run(ground, "BEGIN", &none);
    for (size_t i = 0; i < ground->reset_count; i++)
        run(ground, ground->resets[i]);
    ground_run(ground, "UPDATE pawl_settings SET partition_count = ?1, lane_count = ?2",
               &(struct ground_values){.numbers = {partitions, lanes}, .count = 2});
    ground_run(ground, "DELETE FROM pawl_lane WHERE lane >= ?1",
               &(struct ground_values){.numbers = {lanes}, .count = 1});
    ground_run(ground, "COMMIT", &none);
    return ground->store;
}

void ground_clock(struct ground *ground, int64_t now_ms) { ground->clock_ms = now_ms; }
