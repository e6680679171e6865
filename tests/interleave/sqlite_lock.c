/* SQLite with several writers: a lock that is held answers busy, a process that dies leaves nothing locked.
 */
#include <fcntl.h>
#include <ftw.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/str.h"
#include "base/time/clock.h"
#include "base/uuid.h"
#include "store/store.h"
#include "support/check.h"

enum { LEASE_MS = 300000, TIMEOUT_MS = 200 };
#define START_MS INT64_C(4102444800000)

struct file {
    char dir[64];
    char path[96];
    struct store *store;
    struct arena *arena;
    pawl_error err;
};

static void must(struct file *file, pawl_status status) {
    if (status != PAWL_OK)
        fail_msg("%s: %s", file->err.op, file->err.text);
}

static struct store *open_store(struct file *file) {
    struct store_config config = {.url = file->path, .statement_timeout_ms = TIMEOUT_MS};
    struct store *store = NULL;
    must(file, store_open(&config, &store, &file->err));
    return store;
}

static void set_clock(struct file *file, int64_t now_ms) {
    struct settings_change change = {-1, -1, -1, -1, now_ms, -1, -1};
    must(file, file->store->ops->core.settings_change(file->store, &change, &file->err));
}

static int setup(void **state) {
    struct file *file = calloc(1, sizeof *file);
    assert_non_null(file);
    snprintf(file->dir, sizeof file->dir, "/tmp/pawl-interleave-XXXXXX");
    assert_non_null(mkdtemp(file->dir));
    snprintf(file->path, sizeof file->path, "%s/work.db", file->dir);
    file->arena = arena_create(0);
    struct store_config config = {.url = file->path};
    struct migrate_config migrate = {.partition_count = 8, .lane_count = 1};
    struct migrate_result migrated;
    must(file, store_migrate(&config, &migrate, &migrated, &file->err));
    file->store = open_store(file);
    set_clock(file, START_MS);
    *state = file;
    return 0;
}

static int remove_one(const char *path, const struct stat *about, int kind, struct FTW *place) {
    (void)about, (void)kind, (void)place;
    return remove(path);
}

static int teardown(void **state) {
    struct file *file = *state;
    struct violations found = {0};
    must(file, file->store->ops->view.check(file->store, file->arena, &found, &file->err));
    for (size_t i = 0; i < found.count; i++)
        print_error("invariant %.*s: %.*s\n", STR_ARG(found.rows[i].invariant),
                    STR_ARG(found.rows[i].detail));
    store_close(file->store);
    arena_free(file->arena);
    (void)nftw(file->dir, remove_one, 8, FTW_DEPTH | FTW_PHYS);
    free(file);
    return found.count == 0 ? 0 : -1;
}

static pawl_uuid id_of(int n) {
    pawl_uuid id = {.b = {0x01, 0x90, 0, 0, 0, 0, 0x70, 0, 0x80}};
    id.b[15] = (uint8_t)n;
    return id;
}

static pawl_status put_in(struct file *file, struct store *store, int n) {
    pawl_outgoing message = {.id = id_of(n), .stream = STR("a"), .type = STR("T"), .payload = STR("{}")};
    struct messages_put in = {.kind = KIND_OUTBOX, .messages = &message, .count = 1};
    struct put_result result;
    return store->ops->core.messages_put(store, &in, file->arena, &result, &file->err);
}

static void join_in(struct file *file, struct store *store, int n) {
    struct instance_new in = {
        .id = id_of(n), .service = STR("orders"), .kinds = KIND_BIT(KIND_OUTBOX), .lease_ms = 86400000};
    struct instance_grant grant;
    must(file, store->ops->core.instance_register(store, &in, &grant, &file->err));
}

static pawl_status claim_in(struct file *file, struct store *store, int n, struct item_list *list) {
    struct messages_claim in = {.instance = id_of(n), .kind = KIND_OUTBOX, .max = 10, .lease_ms = LEASE_MS};
    return store->ops->core.messages_claim(store, &in, file->arena, list, &file->err);
}

static enum store_answer complete_in(struct file *file, struct store *store, int n, const struct item *item) {
    struct complete_item one = {.ref = {item->token, item->id}, .status = 4};
    struct messages_complete in = {.instance = id_of(n), .kind = KIND_OUTBOX, .items = &one, .count = 1};
    struct answer_list answers = {0};
    must(file, store->ops->core.messages_complete(store, &in, file->arena, &answers, &file->err));
    return answers.answers[0];
}

static sqlite3 *hold_write_lock(struct file *file) {
    sqlite3 *db = NULL;
    assert_int_equal(sqlite3_open(file->path, &db), SQLITE_OK);
    assert_int_equal(sqlite3_exec(db, "BEGIN IMMEDIATE", NULL, NULL, NULL), SQLITE_OK);
    return db;
}

/* The lock file of the writer that is next; made by the first write. */
static int open_turn(struct file *file) {
    char path[160];
    must(file, put_in(file, file->store, 9));
    snprintf(path, sizeof path, "%s-pawl/turn.lock", file->path);
    int fd = open(path, O_RDWR | O_CLOEXEC);
    assert_true(fd >= 0);
    return fd;
}

static bool somebody_is_next(int fd) {
    struct flock lock = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
    assert_int_equal(fcntl(fd, F_OFD_GETLK, &lock), 0);
    return lock.l_type != F_UNLCK;
}

static void *put_as_another(void *arg) {
    struct file *file = arg;
    struct file own = {.arena = arena_create(0)};
    struct store_config config = {.url = file->path, .statement_timeout_ms = 60000};
    must(&own, store_open(&config, &own.store, &own.err));
    must(&own, put_in(&own, own.store, 20));
    store_close(own.store);
    arena_free(own.arena);
    return NULL;
}

static void a_writer_that_waits_is_the_next_one(void **state) {
    struct file *file = *state;
    pthread_t thread;
    int fd = open_turn(file);
    sqlite3 *db = hold_write_lock(file);
    int64_t until_ms = clock_boot_ms() + 60000;
    assert_int_equal(pthread_create(&thread, NULL, put_as_another, file), 0);
    while (!somebody_is_next(fd) && clock_boot_ms() < until_ms)
        sched_yield();
    assert_true(somebody_is_next(fd));
    sqlite3_close(db);
    must(file, put_in(file, file->store, 21)); /* whichever comes first, both do */
    assert_int_equal(pthread_join(thread, NULL), 0);
    assert_false(somebody_is_next(fd));
    close(fd);
}

/* As a process that was stopped while it waited: a courtesy has a bound, and is not paid again and again. */
static void a_writer_that_does_not_come_holds_nobody_up(void **state) {
    struct file *file = *state;
    struct flock lock = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
    int fd = open_turn(file);
    assert_int_equal(fcntl(fd, F_OFD_SETLK, &lock), 0);
    int64_t began_us = clock_boot_us(), fastest_us = INT64_MAX;
    must(file, put_in(file, file->store, 10));
    assert_true(clock_boot_us() - began_us >= 20000);
    for (int n = 11; n < 21; n++) {
        began_us = clock_boot_us();
        must(file, put_in(file, file->store, n));
        if (clock_boot_us() - began_us < fastest_us)
            fastest_us = clock_boot_us() - began_us;
    }
    assert_true(fastest_us < 20000);
    close(fd);
}

static void a_write_lock_held_by_another_answers_busy_after_the_deadline(void **state) {
    struct file *file = *state;
    struct counts counts;
    join_in(file, file->store, 1);
    sqlite3 *db = hold_write_lock(file);
    int64_t began_ms = clock_boot_ms();
    assert_int_equal(put_in(file, file->store, 10), PAWL_BUSY);
    int64_t took_ms = clock_boot_ms() - began_ms;
    assert_true(took_ms >= TIMEOUT_MS / 2); /* it did try */
    assert_true(took_ms < 20 * TIMEOUT_MS);
    /* Readers do not care about a writer. */
    must(file, file->store->ops->view.counts(file->store, &counts, &file->err));
    assert_int_equal(counts.kind[KIND_OUTBOX].put, 0);
    sqlite3_close(db);                                        /* rolls back */
    assert_int_equal(put_in(file, file->store, 10), PAWL_OK); /* nothing happened, so try again */
    must(file, file->store->ops->view.counts(file->store, &counts, &file->err));
    assert_int_equal(counts.kind[KIND_OUTBOX].put, 1);
}

static void every_writing_operation_answers_busy_and_has_not_happened(void **state) {
    struct file *file = *state;
    struct item_list held, more;
    join_in(file, file->store, 1);
    must(file, put_in(file, file->store, 10));
    must(file, claim_in(file, file->store, 1, &held));
    assert_int_equal(held.count, 1);
    sqlite3 *db = hold_write_lock(file);
    const struct store_core_ops *core = &file->store->ops->core;
    struct complete_item done = {.ref = {held.items[0].token, held.items[0].id}, .status = 4};
    struct messages_complete complete = {
        .instance = id_of(1), .kind = KIND_OUTBOX, .items = &done, .count = 1};
    struct answer_list answers;
    struct beat_result beaten;
    assert_int_equal(core->messages_complete(file->store, &complete, file->arena, &answers, &file->err),
                     PAWL_BUSY);
    assert_int_equal(core->heartbeat(file->store, id_of(1), -1, &beaten, &file->err), PAWL_BUSY);
    assert_int_equal(core->instance_evict(file->store, id_of(1), &file->err), PAWL_BUSY);
    assert_int_equal(claim_in(file, file->store, 1, &more), PAWL_BUSY);
    sqlite3_close(db);
    assert_int_equal(complete_in(file, file->store, 1, &held.items[0]), ANSWER_APPLIED);
    assert_int_equal(complete_in(file, file->store, 1, &(struct item){.token = 1, .id = id_of(10)}),
                     ANSWER_STALE);
}

/* Runs body in a process of its own that is killed when it reports; gives back what it reported. */
static int64_t in_killed_process(struct file *file, int64_t (*body)(struct file *file, struct store *store)) {
    int ends[2];
    int64_t report = -1;
    assert_int_equal(pipe(ends), 0);
    pid_t pid = fork();
    assert_true(pid >= 0);
    if (pid == 0) {
        struct store *store = open_store(file); /* a handle of its own: none may cross a fork */
        int64_t value = body(file, store);
        if (write(ends[1], &value, sizeof value) != (ssize_t)sizeof value)
            _exit(1);
        for (;;)
            pause();
    }
    assert_int_equal(read(ends[0], &report, sizeof report), (ssize_t)sizeof report);
    kill(pid, SIGKILL);
    waitpid(pid, NULL, 0);
    close(ends[0]);
    close(ends[1]);
    return report;
}

static int64_t claim_and_hang(struct file *file, struct store *store) {
    struct item_list list;
    bool held = false;
    join_in(file, store, 1);
    must(file, store->ops->core.liveness_hold(store, id_of(1), &held, &file->err));
    must(file, claim_in(file, store, 1, &list));
    return list.count == 1 && held ? list.items[0].token : -1;
}

static void a_killed_worker_is_evicted_by_its_lock_and_its_ghost_is_stale(void **state) {
    struct file *file = *state;
    const struct store_core_ops *core = &file->store->ops->core;
    struct peers_look look = {0};
    struct beat_result beaten;
    struct item_list list;
    must(file, put_in(file, file->store, 10));
    int64_t token = in_killed_process(file, claim_and_hang);
    assert_true(token > 0);
    join_in(file, file->store, 2);
    must(file, core->peers_look(file->store, id_of(2), &look, &file->err)); /* notes that the lock is gone */
    set_clock(file, START_MS + 299);
    must(file, core->peers_look(file->store, id_of(2), &look, &file->err));
    assert_int_equal(look.evicted, 0);
    set_clock(file, START_MS + 300);
    must(file, core->peers_look(file->store, id_of(2), &look, &file->err));
    assert_int_equal(look.evicted, 1);
    must(file, core->heartbeat(file->store, id_of(2), -1, &beaten, &file->err));
    must(file, claim_in(file, file->store, 2, &list));
    assert_int_equal(list.count, 1);
    assert_true(list.items[0].token > token);
    assert_true(list.items[0].suspect);
    assert_int_equal(complete_in(file, file->store, 1, &(struct item){.token = token, .id = id_of(10)}),
                     ANSWER_STALE);
    assert_int_equal(complete_in(file, file->store, 2, &list.items[0]), ANSWER_APPLIED);
}

static int64_t hang_in_a_transaction(struct file *file, struct store *store) {
    (void)store;
    sqlite3 *db = hold_write_lock(file);
    return sqlite3_exec(db, "UPDATE pawl_settings SET epoch = epoch + 100", NULL, NULL, NULL) == SQLITE_OK
               ? 1
               : -1;
}

static void a_writer_that_was_killed_leaves_no_lock_and_no_half_of_its_work(void **state) {
    struct file *file = *state;
    struct settings before, after;
    must(file, file->store->ops->core.settings_read(file->store, &before, &file->err));
    assert_int_equal(in_killed_process(file, hang_in_a_transaction), 1);
    assert_int_equal(put_in(file, file->store, 10), PAWL_OK);
    must(file, file->store->ops->core.settings_read(file->store, &after, &file->err));
    assert_int_equal(after.epoch, before.epoch);
}

static int64_t put_and_claim_many(struct file *file, struct store *store) {
    int64_t granted = 0;
    join_in(file, store, 1);
    for (int n = 100; n < 140; n++) {
        struct item_list list;
        must(file, put_in(file, store, n));
        must(file, claim_in(file, store, 1, &list));
        for (size_t i = 0; i < list.count; i++)
            granted += complete_in(file, store, 1, &list.items[i]) == ANSWER_APPLIED;
    }
    return granted;
}

static void a_killed_process_loses_nothing_it_was_told_is_stored(void **state) {
    struct file *file = *state;
    struct counts counts;
    int64_t granted = in_killed_process(file, put_and_claim_many);
    must(file, file->store->ops->view.counts(file->store, &counts, &file->err));
    assert_int_equal(counts.kind[KIND_OUTBOX].put, 40);
    assert_int_equal(counts.kind[KIND_OUTBOX].done, granted);
    assert_int_equal(granted, 40);
}

#define FILE_TEST(function)                                                                                  \
    { #function, function, setup, teardown, NULL }

int main(void) {
    const struct CMUnitTest tests[] = {
        FILE_TEST(a_writer_that_waits_is_the_next_one),
        FILE_TEST(a_writer_that_does_not_come_holds_nobody_up),
        FILE_TEST(a_write_lock_held_by_another_answers_busy_after_the_deadline),
        FILE_TEST(every_writing_operation_answers_busy_and_has_not_happened),
        FILE_TEST(a_killed_worker_is_evicted_by_its_lock_and_its_ghost_is_stale),
        FILE_TEST(a_writer_that_was_killed_leaves_no_lock_and_no_half_of_its_work),
        FILE_TEST(a_killed_process_loses_nothing_it_was_told_is_stored),
    };
    return cmocka_run_group_tests_name("sqlite_lock", tests, NULL, NULL);
}
