/* Several processes on one database: starting at once, working side by side, dying. */
#include "support/check.h"

#include <errno.h>
#include <signal.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/str.h"
#include "base/uuid.h"
#include "support/sqlitefile.h"

enum { PROCESSES = 8, ROUNDS = 5 };

/* A child's asserts are its exit code. */
static void child_must(bool fine, int code, const pawl_error *err) {
    if (fine)
        return;
    fprintf(stderr, "child: %s\n", err->text);
    _exit(code);
}

/* Waits until the parent closes its end: everybody starts at the same moment. */
static void wait_for_start(int gate) {
    char byte;
    while (read(gate, &byte, 1) < 0 && errno == EINTR)
        continue;
}

static void start_up(const char *path, int number) {
    struct store_config config = sqlitefile_config(path);
    struct migrate_config migrate = {.partition_count = 64, .lane_count = 8};
    struct migrate_result result = {0};
    struct store *store = NULL;
    struct instance_grant grant;
    pawl_error err = {0};
    child_must(store_migrate(&config, &migrate, &result, &err) == PAWL_OK, 1, &err);
    child_must(store_open(&config, &store, &err) == PAWL_OK, 2, &err);
    struct instance_new in = {.id = sqlitefile_id(number),
                              .service = STR("orders"),
                              .kinds = KIND_BIT(KIND_OUTBOX),
                              .lease_ms = 60000};
    child_must(store->ops->core.instance_register(store, &in, &grant, &err) == PAWL_OK, 3, &err);
    child_must(sqlitefile_put(store, 1000 + number, "a", &err) == PAWL_OK, 4, &err);
    store_close(store);
    _exit(10 + result.applied); /* how many migrations this one applied */
}

static int applied_by(pid_t pid) {
    int status = 0;
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_true(WIFEXITED(status));
    assert_in_range(WEXITSTATUS(status), 10, 99);
    return WEXITSTATUS(status) - 10;
}

/* covers: M21 */
static void eight_processes_start_at_once_on_no_database(void **fixture) {
    const struct sqlitefile *file = *fixture;
    for (int round = 0; round < ROUNDS; round++) {
        char path[SQLITEFILE_PATH_BYTES], text[64];
        pid_t pids[PROCESSES];
        int gate[2], applied = 0;
        snprintf(path, sizeof path, "%s/%d.db", file->dir, round);
        assert_int_equal(pipe(gate), 0);
        (void)fflush(NULL);
        for (int i = 0; i < PROCESSES; i++) {
            pids[i] = fork();
            assert_true(pids[i] >= 0);
            if (pids[i] == 0) {
                close(gate[1]);
                wait_for_start(gate[0]);
                start_up(path, i + 1);
            }
        }
        close(gate[0]);
        close(gate[1]);
        for (int i = 0; i < PROCESSES; i++)
            applied += applied_by(pids[i]);
        int rows = atoi(sqlitefile_sql(path, "SELECT count(*) FROM pawl_schema_migration", text));
        assert_int_equal(applied, rows); /* each migration once */
        assert_string_equal(sqlitefile_sql(path, "SELECT count(*) FROM pawl_instance", text), "8");
        assert_string_equal(sqlitefile_sql(path, "SELECT count(*) FROM pawl_message", text), "8");
        struct store *store = sqlitefile_open(path);
        sqlitefile_check(store);
        store_close(store);
    }
}

static void advance(struct store *store, int64_t now_ms) {
    struct settings_change change = {-1, -1, -1, -1, now_ms, -1, -1};
    pawl_error err;
    assert_int_equal(store->ops->core.settings_change(store, &change, &err), PAWL_OK);
}

/* Registers, holds its liveness lock and a message, says so, and waits to be killed. */
static void hold_and_wait(const char *path, int ready) {
    struct store_config config = sqlitefile_config(path);
    struct store *store = NULL;
    struct instance_grant grant;
    struct item_list items = {0};
    bool held = false;
    pawl_error err = {0};
    child_must(store_open(&config, &store, &err) == PAWL_OK, 1, &err);
    struct instance_new in = {
        .id = sqlitefile_id(2), .service = STR("orders"), .kinds = KIND_BIT(KIND_OUTBOX), .lease_ms = 60000};
    child_must(store->ops->core.instance_register(store, &in, &grant, &err) == PAWL_OK, 2, &err);
    child_must(store->ops->core.liveness_hold(store, in.id, &held, &err) == PAWL_OK && held, 3, &err);
    struct messages_claim claim = {.instance = in.id, .kind = KIND_OUTBOX, .max = 1, .lease_ms = 60000};
    struct arena *arena = arena_create(0);
    child_must(store->ops->core.messages_claim(store, &claim, arena, &items, &err) == PAWL_OK, 4, &err);
    child_must(items.count == 1, 5, &err);
    child_must(write(ready, "x", 1) == 1, 6, &err);
    for (;;)
        pause();
}

static int look(struct store *store, int instance) {
    struct peers_look seen = {0};
    pawl_error err;
    if (store->ops->core.peers_look(store, sqlitefile_id(instance), &seen, &err) != PAWL_OK)
        fail_msg("%s", err.text);
    return seen.evicted;
}

static void live_file(const struct sqlitefile *file, int number, char path[static 256]) {
    char id[UUID_TEXT_BYTES];
    snprintf(path, 256, "%s-pawl/%s.live", file->path, uuid_format(sqlitefile_id(number), id));
}

/* covers: M55 B2.7 */
static void a_killed_process_is_noticed_by_its_lock(void **fixture) {
    const struct sqlitefile *file = *fixture;
    int ready[2];
    char byte, live[256];
    struct stat info;
    pawl_error err;
    int64_t now_ms = 1000000000;
    sqlitefile_migrate(file->path);
    struct store *store = sqlitefile_open(file->path);
    advance(store, now_ms);
    assert_int_equal(sqlitefile_put(store, 100, "a", &err), PAWL_OK);
    assert_int_equal(pipe(ready), 0);
    (void)fflush(NULL);
    pid_t pid = fork();
    assert_true(pid >= 0);
    if (pid == 0)
        hold_and_wait(file->path, ready[1]);
    close(ready[1]);
    assert_int_equal(read(ready[0], &byte, 1), 1);
    close(ready[0]);
    sqlitefile_join(store, 1);
    live_file(file, 2, live);
    assert_int_equal(stat(live, &info), 0);
    assert_int_equal(look(store, 1), 0);
    advance(store, now_ms += 10000); /* however long it is silent: its lock is there */
    assert_int_equal(look(store, 1), 0);

    assert_int_equal(kill(pid, SIGKILL), 0);
    assert_int_equal(waitpid(pid, NULL, 0), pid);
    assert_int_equal(look(store, 1), 0); /* notes that it is gone */
    advance(store, now_ms += 299);
    assert_int_equal(look(store, 1), 0);
    advance(store, now_ms += 1);
    assert_int_equal(look(store, 1), 1);
    assert_int_equal(look(store, 1), 0);
    assert_int_equal(stat(live, &info), -1); /* whoever evicts tidies up */

    struct beat_result beat;
    assert_int_equal(store->ops->core.heartbeat(store, sqlitefile_id(1), -1, &beat, &err), PAWL_OK);
    struct messages_claim claim = {
        .instance = sqlitefile_id(1), .kind = KIND_OUTBOX, .max = 10, .lease_ms = 60000};
    struct item_list items = {0};
    struct arena *arena = arena_create(0);
    assert_int_equal(store->ops->core.messages_claim(store, &claim, arena, &items, &err), PAWL_OK);
    assert_int_equal(items.count, 1);
    assert_true(items.items[0].suspect);
    sqlitefile_check(store);
    arena_free(arena);
    store_close(store);
}

static void a_closed_store_takes_its_lock_file_along(void **fixture) {
    const struct sqlitefile *file = *fixture;
    char live[256];
    struct stat info;
    bool held = false;
    pawl_error err;
    sqlitefile_migrate(file->path);
    struct store *store = sqlitefile_open(file->path);
    sqlitefile_join(store, 1);
    assert_int_equal(store->ops->core.liveness_hold(store, sqlitefile_id(1), &held, &err), PAWL_OK);
    assert_true(held);
    assert_int_equal(store->ops->core.liveness_hold(store, sqlitefile_id(1), &held, &err), PAWL_OK);
    assert_true(held); /* twice is once */
    assert_int_equal(store->ops->core.liveness_hold(store, sqlitefile_id(9), &held, &err), PAWL_STALE);
    live_file(file, 1, live);
    assert_int_equal(stat(live, &info), 0);
    assert_int_equal(info.st_mode & 0777, 0600);
    store_close(store);
    assert_int_equal(stat(live, &info), -1);
}

enum { MESSAGES = 1500, STREAMS = 12, WORKERS = 3 };

/* Claims and completes until everything is done; writes each message it completed to the pipe, in one piece.
 */
static void work(const char *path, int number, int log) {
    struct store_config config = sqlitefile_config(path);
    struct store *store = NULL;
    struct arena *arena = arena_create(0);
    pawl_error err = {0};
    child_must(store_open(&config, &store, &err) == PAWL_OK, 1, &err);
    struct work_batch batch = {.instance = {.id = sqlitefile_id(number),
                                            .service = STR("orders"),
                                            .kinds = KIND_BIT(KIND_OUTBOX),
                                            .lease_ms = 60000},
                               .lease_ms = 60000};
    static struct complete_item done[20];
    batch.claim_max[KIND_OUTBOX] = 20;
    for (int64_t left = 1; left > 0;) {
        struct work_batch_result result;
        struct counts counts;
        batch.completions[KIND_OUTBOX] = done;
        child_must(store->ops->core.batch_process(store, &batch, arena, &result, &err) == PAWL_OK, 2, &err);
        for (size_t i = 0; i < result.completed[KIND_OUTBOX].count; i++)
            child_must(result.completed[KIND_OUTBOX].answers[i] == ANSWER_APPLIED, 3, &err);
        const struct item_list *items = &result.claimed[KIND_OUTBOX];
        for (size_t i = 0; i < items->count; i++) {
            int64_t seq = items->items[i].seq;
            child_must(write(log, &seq, sizeof seq) == (ssize_t)sizeof seq, 4, &err);
            done[i] = (struct complete_item){{items->items[i].token, items->items[i].id}, 4};
        }
        batch.completion_count[KIND_OUTBOX] = items->count;
        if (items->count == 0) {
            struct beat_result beat;
            child_must(store->ops->core.heartbeat(store, batch.instance.id, -1, &beat, &err) == PAWL_OK, 5,
                       &err);
            child_must(store->ops->view.counts(store, &counts, &err) == PAWL_OK, 6, &err);
            left = counts.kind[KIND_OUTBOX].put - counts.kind[KIND_OUTBOX].done;
        }
        arena_reset(arena);
    }
    child_must(store->ops->core.instance_deregister(store, batch.instance.id, &err) == PAWL_OK, 7, &err);
    store_close(store);
    _exit(0);
}

static void read_log(int log, int *seen) {
    int64_t seq = 0;
    int64_t last[STREAMS] = {0};
    while (read(log, &seq, sizeof seq) == (ssize_t)sizeof seq) {
        assert_in_range(seq, 1, MESSAGES);
        seen[seq - 1]++;
        /* Streams take turns, so a stream's messages are MESSAGES / STREAMS apart. */
        int stream = (int)((seq - 1) % STREAMS);
        assert_true(seq > last[stream]);
        last[stream] = seq;
    }
}

/* covers: M10 M59 W32 */
static void processes_work_side_by_side_each_message_once_and_in_order(void **fixture) {
    const struct sqlitefile *file = *fixture;
    static int seen[MESSAGES];
    pid_t pids[WORKERS];
    int log[2];
    char stream[16], text[64];
    pawl_error err;
    memset(seen, 0, sizeof seen);
    sqlitefile_migrate(file->path);
    struct store *store = sqlitefile_open(file->path);
    for (int i = 0; i < MESSAGES; i++) {
        snprintf(stream, sizeof stream, "s%d", i % STREAMS);
        assert_int_equal(sqlitefile_put(store, i, stream, &err), PAWL_OK);
    }
    store_close(store);
    assert_int_equal(pipe(log), 0);
    (void)fflush(NULL);
    for (int i = 0; i < WORKERS; i++) {
        pids[i] = fork();
        assert_true(pids[i] >= 0);
        if (pids[i] == 0)
            work(file->path, i + 1, log[1]);
    }
    close(log[1]);
    read_log(log[0], seen);
    close(log[0]);
    for (int i = 0; i < WORKERS; i++) {
        int status = 0;
        assert_int_equal(waitpid(pids[i], &status, 0), pids[i]);
        assert_int_equal(status, 0);
    }
    for (int i = 0; i < MESSAGES; i++)
        assert_int_equal(seen[i], 1);
    store = sqlitefile_open(file->path);
    sqlitefile_check(store);
    store_close(store);
    assert_string_equal(sqlitefile_sql(file->path, "SELECT count(*) FROM pawl_message", text), "0");
    assert_string_equal(sqlitefile_sql(file->path, "PRAGMA integrity_check", text), "ok");
}

/* A writer that never ends: the others wait until their deadline, and then say so. */
static void a_writer_that_stays_makes_the_others_busy(void **fixture) {
    const struct sqlitefile *file = *fixture;
    struct store_config config = sqlitefile_config(file->path);
    struct store *store = NULL;
    struct counts counts;
    sqlite3 *other = NULL;
    pawl_error err;
    sqlitefile_migrate(file->path);
    assert_int_equal(sqlite3_open(file->path, &other), SQLITE_OK);
    assert_int_equal(sqlite3_exec(other, "BEGIN IMMEDIATE", NULL, NULL, NULL), SQLITE_OK);
    config.statement_timeout_ms = 50;
    assert_int_equal(store_open(&config, &store, &err), PAWL_OK); /* reading is never stopped */
    assert_int_equal(sqlitefile_put(store, 1, "a", &err), PAWL_BUSY);
    assert_non_null(strstr(err.text, "50 ms"));
    assert_int_equal(store->ops->view.counts(store, &counts, &err), PAWL_OK);
    assert_int_equal(sqlite3_exec(other, "ROLLBACK", NULL, NULL, NULL), SQLITE_OK);
    assert_int_equal(sqlitefile_put(store, 1, "a", &err), PAWL_OK);
    sqlite3_close(other);
    store_close(store);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        FILE_TEST(eight_processes_start_at_once_on_no_database),
        FILE_TEST(a_killed_process_is_noticed_by_its_lock),
        FILE_TEST(a_closed_store_takes_its_lock_file_along),
        FILE_TEST(processes_work_side_by_side_each_message_once_and_in_order),
        FILE_TEST(a_writer_that_stays_makes_the_others_busy),
    };
    return cmocka_run_group_tests_name("sqlite_processes", tests, NULL, NULL);
}
