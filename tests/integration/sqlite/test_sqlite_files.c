/* What can be wrong with a database file: missing, foreign, newer, copied, read-only, full. */
#include "support/check.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <sqlite3.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/limits.h"
#include "base/str.h"
#include "base/time/clock.h"
#include "support/sqlitefile.h"

static pawl_status try_open(const char *path, pawl_error *err) {
    struct store_config config = sqlitefile_config(path);
    struct store *store = NULL;
    pawl_status status = store_open(&config, &store, err);
    store_close(store);
    return status;
}

static pawl_status try_migrate(const char *path, int partitions, int lanes, struct migrate_result *result,
                               pawl_error *err) {
    struct store_config config = sqlitefile_config(path);
    struct migrate_config migrate = {.partition_count = partitions, .lane_count = lanes};
    return store_migrate(&config, &migrate, result, err);
}

static void write_file(const char *path, const char *text) {
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    fputs(text, file);
    assert_int_equal(fclose(file), 0);
}

static void a_missing_database_says_what_to_do_and_is_not_made(void **fixture) {
    const struct sqlitefile *file = *fixture;
    pawl_error err;
    struct stat info;
    assert_int_equal(try_open(file->path, &err), PAWL_NOT_FOUND);
    assert_non_null(strstr(err.text, "run pawl migrate"));
    assert_int_equal(stat(file->path, &info), -1);
}

static void a_file_without_a_schema_says_what_to_do(void **fixture) {
    const struct sqlitefile *file = *fixture;
    char text[64];
    pawl_error err;
    write_file(file->path, "");
    assert_int_equal(try_open(file->path, &err), PAWL_NOT_FOUND);
    assert_non_null(strstr(err.text, "run pawl migrate"));
    sqlitefile_sql(file->path, "CREATE TABLE theirs (id INTEGER)", text);
    assert_int_equal(try_open(file->path, &err), PAWL_CONFLICT);
    assert_non_null(strstr(err.text, "run pawl migrate"));
}

static void a_new_database_is_for_its_owner_only(void **fixture) {
    const struct sqlitefile *file = *fixture;
    char side[SQLITEFILE_PATH_BYTES + 8];
    struct stat info;
    sqlitefile_migrate(file->path);
    assert_int_equal(stat(file->path, &info), 0);
    assert_int_equal(info.st_mode & 0777, 0600);
    snprintf(side, sizeof side, "%s-pawl", file->path);
    assert_int_equal(stat(side, &info), 0);
    assert_int_equal(info.st_mode & 0777, 0700);
}

static void migrating_again_changes_nothing_and_other_counts_are_refused(void **fixture) {
    const struct sqlitefile *file = *fixture;
    struct migrate_result result = {.applied = -1};
    pawl_error err;
    assert_int_equal(try_migrate(file->path, 100, 10, &result, &err), PAWL_OK);
    assert_int_equal(result.applied, result.version);
    int version = result.version;
    assert_int_equal(try_migrate(file->path, 0, 0, &result, &err), PAWL_OK);
    assert_int_equal(result.applied, 0);
    assert_int_equal(result.version, version);
    assert_int_equal(try_migrate(file->path, 100, 10, &result, &err), PAWL_OK);
    assert_int_equal(try_migrate(file->path, 101, 0, &result, &err), PAWL_CONFLICT);
    assert_non_null(strstr(err.text, "partition_count 100"));
    assert_int_equal(try_migrate(file->path, 0, 11, &result, &err), PAWL_CONFLICT);
    assert_non_null(strstr(err.text, "lane_count 10"));
}

static void counts_outside_their_range_are_refused(void **fixture) {
    const struct sqlitefile *file = *fixture;
    struct migrate_result result;
    pawl_error err;
    struct stat info;
    assert_int_equal(try_migrate(file->path, -1, 0, &result, &err), PAWL_INVALID);
    assert_int_equal(try_migrate(file->path, PAWL_PARTITIONS_MAX + 1, 0, &result, &err), PAWL_INVALID);
    assert_int_equal(try_migrate(file->path, 0, PAWL_LANES_MAX + 1, &result, &err), PAWL_INVALID);
    assert_int_equal(try_migrate(file->path, 10, 11, &result, &err), PAWL_INVALID);
    assert_int_equal(stat(file->path, &info), -1); /* nothing was made */
    assert_int_equal(try_migrate(file->path, PAWL_PARTITIONS_MAX, PAWL_LANES_MAX, &result, &err), PAWL_OK);
}

static void a_newer_schema_is_refused_with_what_to_do(void **fixture) {
    const struct sqlitefile *file = *fixture;
    struct migrate_result result;
    char text[64];
    pawl_error err;
    sqlitefile_migrate(file->path);
    sqlitefile_sql(file->path, "INSERT INTO pawl_schema_migration VALUES (999, '0999_later', 'x', 0)", text);
    assert_int_equal(try_open(file->path, &err), PAWL_CONFLICT);
    assert_non_null(strstr(err.text, "schema version 999"));
    assert_non_null(strstr(err.text, "upgrade pawl"));
    assert_int_equal(try_migrate(file->path, 0, 0, &result, &err), PAWL_CONFLICT);
}

static void a_changed_migration_is_refused(void **fixture) {
    const struct sqlitefile *file = *fixture;
    char text[64];
    pawl_error err;
    sqlitefile_migrate(file->path);
    sqlitefile_sql(file->path, "UPDATE pawl_schema_migration SET checksum = 'other'", text);
    assert_int_equal(try_open(file->path, &err), PAWL_CONFLICT);
    assert_non_null(strstr(err.text, "0001_schema"));
}

static void a_file_that_is_no_database_is_refused(void **fixture) {
    const struct sqlitefile *file = *fixture;
    struct migrate_result result;
    char text[8192];
    pawl_error err;
    memset(text, 'x', sizeof text - 1);
    text[sizeof text - 1] = '\0';
    write_file(file->path, text);
    assert_int_equal(try_open(file->path, &err), PAWL_INVALID);
    assert_non_null(strstr(err.text, "not an SQLite database"));
    assert_int_equal(try_migrate(file->path, 0, 0, &result, &err), PAWL_INVALID);
    assert_int_equal(try_open(file->dir, &err), PAWL_INVALID);
    assert_non_null(strstr(err.text, "not a regular file"));
}

static void an_application_s_file_is_adopted_and_its_tables_are_left_alone(void **fixture) {
    const struct sqlitefile *file = *fixture;
    char text[64];
    pawl_error err;
    write_file(file->path, "");
    /* Names that pawl's own tables have without their prefix. */
    sqlitefile_sql(file->path, "CREATE TABLE message (id INTEGER PRIMARY KEY, stream TEXT)", text);
    sqlitefile_sql(file->path, "CREATE TABLE job (id INTEGER PRIMARY KEY)", text);
    sqlitefile_sql(file->path, "CREATE INDEX message_id ON message (stream)", text);
    sqlitefile_sql(file->path, "CREATE VIEW settings AS SELECT 1 AS epoch", text);
    sqlitefile_sql(file->path, "CREATE TRIGGER spy AFTER INSERT ON message BEGIN SELECT 1; END", text);
    sqlitefile_sql(file->path, "INSERT INTO message VALUES (1, 'theirs')", text);
    assert_int_equal(try_open(file->path, &err), PAWL_CONFLICT);
    assert_non_null(strstr(err.text, "run pawl migrate"));
    sqlitefile_migrate(file->path);
    assert_string_equal(sqlitefile_sql(file->path,
                                       "SELECT count(*) FROM sqlite_schema WHERE name NOT LIKE 'pawl\\_%' "
                                       "ESCAPE '\\' AND name NOT LIKE 'sqlite\\_%' ESCAPE '\\'",
                                       text),
                        "5");
    struct store *store = sqlitefile_open(file->path);
    sqlitefile_join(store, 1);
    assert_int_equal(sqlitefile_put(store, 2, "ours", &err), PAWL_OK);
    sqlitefile_check(store);
    store_close(store);
    assert_string_equal(sqlitefile_sql(file->path, "SELECT group_concat(stream) FROM message", text),
                        "theirs");
    assert_string_equal(sqlitefile_sql(file->path, "SELECT group_concat(stream) FROM pawl_message", text),
                        "ours");
}

static void a_name_that_is_taken_is_named_and_the_file_stays_as_it_was(void **fixture) {
    const struct sqlitefile *file = *fixture;
    struct migrate_result result;
    char text[64];
    pawl_error err;
    write_file(file->path, "");
    sqlitefile_sql(file->path, "CREATE TABLE other (id INTEGER)", text);
    sqlitefile_sql(file->path, "CREATE TABLE pawl_job (id INTEGER)", text);
    sqlitefile_sql(file->path, "CREATE INDEX pawl_mine ON other (id)", text);
    assert_int_equal(try_migrate(file->path, 0, 0, &result, &err), PAWL_CONFLICT);
    assert_non_null(strstr(err.text, "pawl_job, pawl_mine"));
    assert_string_equal(sqlitefile_sql(file->path, "PRAGMA journal_mode", text), "delete");
    assert_string_equal(sqlitefile_sql(file->path, "SELECT count(*) FROM sqlite_schema", text), "3");
}

static void addresses_that_are_no_file_are_refused(void **fixture) {
    const struct sqlitefile *file = *fixture;
    struct store_config config = sqlitefile_config(file->path);
    struct store *store = NULL;
    struct migrate_result result;
    pawl_error err;
    config.schema = "other";
    assert_int_equal(store_open(&config, &store, &err), PAWL_INVALID);
    assert_int_equal(try_open("sqlite::memory:", &err), PAWL_INVALID);
    assert_int_equal(try_migrate("/nonexistent/pawl/work.db", 0, 0, &result, &err), PAWL_UNAVAILABLE);
}

static void copy_file(const char *from, const char *to) {
    char command[SQLITEFILE_PATH_BYTES * 2 + 16];
    snprintf(command, sizeof command, "cp '%s' '%s'", from, to);
    assert_int_equal(system(command), 0);
}

static struct item_list claim(struct store *store, int instance, struct arena *arena) {
    struct messages_claim in = {
        .instance = sqlitefile_id(instance), .kind = KIND_OUTBOX, .max = 10, .lease_ms = 60000};
    struct item_list items = {0};
    pawl_error err;
    if (store->ops->core.messages_claim(store, &in, arena, &items, &err) != PAWL_OK)
        fail_msg("%s", err.text);
    return items;
}

static enum store_answer complete(struct store *store, int instance, const struct item *item,
                                  struct arena *arena) {
    struct complete_item done = {.ref = {item->token, item->id}, .status = 4};
    struct messages_complete in = {
        .instance = sqlitefile_id(instance), .kind = KIND_OUTBOX, .items = &done, .count = 1};
    struct answer_list answers = {0};
    pawl_error err;
    if (store->ops->core.messages_complete(store, &in, arena, &answers, &err) != PAWL_OK)
        fail_msg("%s", err.text);
    return answers.answers[0];
}

/* covers: B2.6 */
static void a_copied_file_has_a_new_epoch_and_no_instances(void **fixture) {
    const struct sqlitefile *file = *fixture;
    struct arena *arena = arena_create(0);
    struct beat_result beat;
    struct settings settings;
    char copy[SQLITEFILE_PATH_BYTES];
    pawl_error err;
    sqlitefile_migrate(file->path);
    struct store *store = sqlitefile_open(file->path);
    sqlitefile_join(store, 1);
    assert_int_equal(sqlitefile_put(store, 100, "a", &err), PAWL_OK);
    struct item_list held = claim(store, 1, arena);
    assert_int_equal(held.count, 1);
    store_close(store);

    snprintf(copy, sizeof copy, "%s/copy.db", file->dir);
    copy_file(file->path, copy);
    store = sqlitefile_open(copy);
    assert_int_equal(store->ops->core.settings_read(store, &settings, &err), PAWL_OK);
    assert_int_equal(settings.epoch, 2);
    assert_int_equal(store->ops->core.heartbeat(store, sqlitefile_id(1), -1, &beat, &err), PAWL_STALE);
    assert_int_equal(complete(store, 1, &held.items[0], arena), ANSWER_STALE);
    sqlitefile_join(store, 2);
    struct item_list again = claim(store, 2, arena);
    assert_int_equal(again.count, 1);
    assert_true(again.items[0].token > held.items[0].token);
    assert_true(again.items[0].suspect);
    sqlitefile_check(store);
    store_close(store);
    store = sqlitefile_open(copy); /* once is enough */
    assert_int_equal(store->ops->core.settings_read(store, &settings, &err), PAWL_OK);
    assert_int_equal(settings.epoch, 2);
    store_close(store);

    store = sqlitefile_open(file->path); /* the first one goes on as it was */
    assert_int_equal(complete(store, 1, &held.items[0], arena), ANSWER_APPLIED);
    store_close(store);
    arena_free(arena);
}

static void another_boot_starts_the_clock_anew_but_never_earlier(void **fixture) {
    const struct sqlitefile *file = *fixture;
    struct beat_result beat;
    int64_t before = 0, after = 0;
    char text[64];
    pawl_error err;
    sqlitefile_migrate(file->path);
    struct store *store = sqlitefile_open(file->path);
    sqlitefile_join(store, 1);
    store_close(store);
    /* The machine's wall clock was two hours ahead when the database was last written, and it has booted
     * since. */
    sqlitefile_sql(file->path, "UPDATE pawl_settings SET boot_id = zeroblob(16), last_ms = last_ms + 7200000",
                   text);
    before = strtoll(sqlitefile_sql(file->path, "SELECT last_ms FROM pawl_settings", text), NULL, 10);
    store = sqlitefile_open(file->path);
    assert_int_equal(store->ops->core.clock_read(store, &after, &err), PAWL_OK);
    assert_true(after > before);
    assert_true(after < before + 60000);
    assert_int_equal(store->ops->core.heartbeat(store, sqlitefile_id(1), -1, &beat, &err), PAWL_STALE);
    struct settings settings;
    assert_int_equal(store->ops->core.settings_read(store, &settings, &err), PAWL_OK);
    assert_int_equal(settings.epoch, 1); /* the file is the same: tokens stay what they are */
    store_close(store);
}

/* Runs body in a child process and returns its exit code. */
static int in_child(void (*body)(const struct sqlitefile *file), const struct sqlitefile *file) {
    int status = 0;
    (void)fflush(NULL);
    pid_t pid = fork();
    assert_true(pid >= 0);
    if (pid == 0) {
        body(file);
        _exit(99);
    }
    assert_int_equal(waitpid(pid, &status, 0), pid);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128;
}

/* cmocka's asserts belong to the parent: a child only has its exit code. */
static void child_must(bool fine, int code) {
    if (!fine)
        _exit(code);
}

/* As a user who may read the file but not write it. */
static void read_only_child(const struct sqlitefile *file) {
    struct store_config config = sqlitefile_config(file->path);
    struct store *store = NULL;
    pawl_error err = {0};
    enum { NOBODY = 65534 };
    if (geteuid() == 0)
        child_must(setgid(NOBODY) == 0 && setuid(NOBODY) == 0, 1);
    pawl_status status = store_open(&config, &store, &err);
    if (status == PAWL_OK)
        status = sqlitefile_put(store, 1, "a", &err);
    child_must(status == PAWL_UNAVAILABLE, 2);
    child_must(strstr(err.text, file->path) != NULL, 3);
    _exit(0);
}

static void a_file_that_may_not_be_written_is_unavailable(void **fixture) {
    const struct sqlitefile *file = *fixture;
    sqlitefile_migrate(file->path);
    assert_int_equal(chmod(file->dir, 0755), 0);
    assert_int_equal(chmod(file->path, 0444), 0);
    assert_int_equal(in_child(read_only_child, file), 0);
    assert_int_equal(chmod(file->path, 0600), 0);
}

/* A limit on the file size simulates a full disk: writes beyond it fail. */
static void full_disk_child(const struct sqlitefile *file) {
    struct store_config config = sqlitefile_config(file->path);
    struct store *store = NULL;
    struct rlimit limit;
    pawl_error err = {0};
    (void)signal(SIGXFSZ, SIG_IGN);
    child_must(store_open(&config, &store, &err) == PAWL_OK, 1);
    child_must(getrlimit(RLIMIT_FSIZE, &limit) == 0, 2);
    rlim_t before = limit.rlim_cur;
    limit.rlim_cur = 256 * 1024;
    child_must(setrlimit(RLIMIT_FSIZE, &limit) == 0, 3);
    int put = 0;
    pawl_status status = PAWL_OK;
    while (status == PAWL_OK && put < 100000) {
        status = sqlitefile_put(store, put, "a", &err);
        put += status == PAWL_OK;
    }
    child_must(status == PAWL_UNAVAILABLE || status == PAWL_UNKNOWN, 4);
    child_must(put > 0 && put < 100000, 5);
    struct counts counts;
    child_must(store->ops->view.counts(store, &counts, &err) == PAWL_OK, 6);
    child_must(counts.kind[KIND_OUTBOX].ready == put,
               7); /* what was acknowledged is there, the rest is not */
    limit.rlim_cur = before;
    child_must(setrlimit(RLIMIT_FSIZE, &limit) == 0, 8);
    child_must(sqlitefile_put(store, 60000, "a", &err) == PAWL_OK, 9); /* and it goes on */
    child_must(store->ops->view.counts(store, &counts, &err) == PAWL_OK, 10);
    child_must(counts.kind[KIND_OUTBOX].ready == put + 1, 11);
    store_close(store);
    _exit(0);
}

static void a_full_disk_is_unavailable_and_loses_nothing(void **fixture) {
    const struct sqlitefile *file = *fixture;
    char text[64];
    sqlitefile_migrate(file->path);
    assert_int_equal(in_child(full_disk_child, file), 0);
    struct store *store = sqlitefile_open(file->path);
    sqlitefile_check(store);
    store_close(store);
    assert_string_equal(sqlitefile_sql(file->path, "PRAGMA integrity_check", text), "ok");
}

/* A page in the middle is overwritten: the check says which one it is, and that it is not pawl, also when
 * no invariant reads it. */
static void damaged_page(void **fixture, const char *table) {
    const struct sqlitefile *file = *fixture;
    char query[128];
    struct store_config config = sqlitefile_config(file->path);
    struct violations found;
    struct store *store = NULL;
    struct arena *arena = arena_create(0);
    char page[4096];
    char text[64];
    pawl_error err;
    sqlitefile_migrate(file->path);
    snprintf(query, sizeof query, "SELECT rootpage FROM sqlite_schema WHERE name = '%s'", table);
    sqlitefile_sql(file->path, query, text);
    long root = strtol(text, NULL, 10);
    assert_true(root > 1);
    sqlitefile_sql(file->path, "PRAGMA wal_checkpoint(TRUNCATE)", text);
    memset(page, 0xff, sizeof page);
    int fd = open(file->path, O_WRONLY | O_CLOEXEC);
    assert_int_equal(pwrite(fd, page, sizeof page, (root - 1) * (long)sizeof page), (ssize_t)sizeof page);
    close(fd);
    assert_int_equal(store_open(&config, &store, &err), PAWL_OK);
    snprintf(text, sizeof text, "age %ld", root);
    assert_int_equal(store->ops->view.check(store, arena, &found, &err), PAWL_DAMAGED);
    assert_non_null(strstr(err.text, text));
    assert_int_equal(store->ops->view.problems(store, arena, &found, &err), PAWL_DAMAGED);
    assert_non_null(strstr(err.text, text));
    assert_non_null(strstr(err.text, "restore a backup"));
    store_close(store);
    arena_free(arena);
}

static void a_damaged_page_is_named(void **fixture) { damaged_page(fixture, "pawl_lane"); }

static void a_damaged_page_that_no_invariant_reads_is_named(void **fixture) {
    damaged_page(fixture, "pawl_request");
}

/* A missing index entry hides its row from queries that use the index. */
static void an_index_that_lacks_a_row_is_damage(void **fixture) {
    const struct sqlitefile *file = *fixture;
    struct violations found;
    struct arena *arena = arena_create(0);
    sqlite3 *db = NULL;
    pawl_error err;
    sqlitefile_migrate(file->path);
    assert_int_equal(sqlite3_open(file->path, &db), SQLITE_OK);
    assert_int_equal(sqlite3_exec(db,
                                  "CREATE TABLE app (x); CREATE INDEX app_x ON app (x) WHERE x > 5;"
                                  "INSERT INTO app VALUES (1); PRAGMA writable_schema = ON;"
                                  "UPDATE sqlite_schema SET sql = 'CREATE INDEX app_x ON app (x)'"
                                  " WHERE name = 'app_x'",
                                  NULL, NULL, NULL),
                     SQLITE_OK);
    assert_int_equal(sqlite3_close(db), SQLITE_OK);
    struct store *store = sqlitefile_open(file->path);
    assert_int_equal(store->ops->view.check(store, arena, &found, &err), PAWL_DAMAGED);
    assert_non_null(strstr(err.text, "app_x"));
    store_close(store);
    arena_free(arena);
}

struct migration {
    struct store_config config;
    pawl_error err;
    pawl_status status;
    atomic_bool ended;
};

static void *migrate_thread(void *arg) {
    struct migration *migration = arg;
    struct migrate_config counts = {0};
    struct migrate_result result;
    migration->status = store_migrate(&migration->config, &counts, &result, &migration->err);
    atomic_store(&migration->ended, true);
    return NULL;
}

/* The application's file has no log yet: SQLite itself does not wait when it is to get one. */
static void migrating_waits_for_the_application_s_transaction(void **fixture) {
    const struct sqlitefile *file = *fixture;
    struct migration migration = {.config = sqlitefile_config(file->path)};
    sqlite3 *db = NULL;
    pthread_t thread;
    assert_int_equal(sqlite3_open(file->path, &db), SQLITE_OK);
    assert_int_equal(sqlite3_exec(db, "CREATE TABLE app (x); BEGIN IMMEDIATE; INSERT INTO app VALUES (1)",
                                  NULL, NULL, NULL),
                     SQLITE_OK);
    migration.config.statement_timeout_ms = 300;
    int64_t start_ms = clock_boot_ms();
    migrate_thread(&migration);
    assert_int_equal(migration.status, PAWL_BUSY);
    assert_non_null(strstr(migration.err.text, "for more than 300 ms"));
    assert_true(clock_boot_ms() - start_ms >= 300);
    migration.config.statement_timeout_ms = 60000;
    atomic_store(&migration.ended, false);
    assert_int_equal(pthread_create(&thread, NULL, migrate_thread, &migration), 0);
    usleep(300 * 1000); /* long enough for one that does not wait to have failed */
    assert_false(atomic_load(&migration.ended));
    assert_int_equal(sqlite3_exec(db, "COMMIT", NULL, NULL, NULL), SQLITE_OK);
    assert_int_equal(sqlite3_close(db), SQLITE_OK);
    assert_int_equal(pthread_join(thread, NULL), 0);
    assert_int_equal(migration.status, PAWL_OK);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        FILE_TEST(a_damaged_page_is_named),
        FILE_TEST(a_damaged_page_that_no_invariant_reads_is_named),
        FILE_TEST(an_index_that_lacks_a_row_is_damage),
        FILE_TEST(migrating_waits_for_the_application_s_transaction),
        FILE_TEST(a_missing_database_says_what_to_do_and_is_not_made),
        FILE_TEST(a_file_without_a_schema_says_what_to_do),
        FILE_TEST(a_new_database_is_for_its_owner_only),
        FILE_TEST(migrating_again_changes_nothing_and_other_counts_are_refused),
        FILE_TEST(counts_outside_their_range_are_refused),
        FILE_TEST(a_newer_schema_is_refused_with_what_to_do),
        FILE_TEST(a_changed_migration_is_refused),
        FILE_TEST(a_file_that_is_no_database_is_refused),
        FILE_TEST(an_application_s_file_is_adopted_and_its_tables_are_left_alone),
        FILE_TEST(a_name_that_is_taken_is_named_and_the_file_stays_as_it_was),
        FILE_TEST(addresses_that_are_no_file_are_refused),
        FILE_TEST(a_copied_file_has_a_new_epoch_and_no_instances),
        FILE_TEST(another_boot_starts_the_clock_anew_but_never_earlier),
        FILE_TEST(a_file_that_may_not_be_written_is_unavailable),
        FILE_TEST(a_full_disk_is_unavailable_and_loses_nothing),
    };
    return cmocka_run_group_tests_name("sqlite_files", tests, NULL, NULL);
}
