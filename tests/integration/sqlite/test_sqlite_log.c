/* The log of a database file: how long it gets, who moves it into the file, and what happens when it is
 * removed. */
#include "support/check.h"

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/limits.h"
#include "base/str.h"
#include "support/sqlitefile.h"

static void write_file(const char *path, const char *text) {
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    fputs(text, file);
    assert_int_equal(fclose(file), 0);
}

static void the_log_stays_bounded(void **fixture) {
    const struct sqlitefile *file = *fixture;
    static char payload[32 * 1024];
    char log[SQLITEFILE_PATH_BYTES + 8];
    pawl_error err;
    sqlitefile_migrate(file->path);
    struct store *store = sqlitefile_open(file->path);
    memset(payload, 'x', sizeof payload);
    payload[0] = payload[sizeof payload - 1] = '"';
    pawl_outgoing message = {.stream = STR("a"), .type = STR("big"), .payload = {payload, sizeof payload}};
    struct arena *arena = arena_create(0);
    for (int i = 0; i < 3000; i++) { /* about 96 MiB */
        struct messages_put put = {.kind = KIND_OUTBOX, .messages = &message, .count = 1};
        struct put_result result;
        arena_reset(arena);
        assert_int_equal(store->ops->core.messages_put(store, &put, arena, &result, &err), PAWL_OK);
    }
    struct stat info;
    snprintf(log, sizeof log, "%s-wal", file->path);
    assert_int_equal(stat(log, &info), 0);
    assert_true(info.st_size < 32 * 1024 * 1024);
    store_close(store);
    assert_int_equal(stat(log, &info), 0);
    assert_int_equal(info.st_size, 0); /* the last one to leave empties it */
    arena_free(arena);
}

/* covers: B3.5 */
static void a_poll_that_finds_nothing_writes_nothing(void **fixture) {
    const struct sqlitefile *file = *fixture;
    char log[SQLITEFILE_PATH_BYTES + 8];
    struct arena *arena = arena_create(0);
    struct settings_change freeze = {-1, -1, -1, -1, 1000000, -1, -1};
    struct stat before, after;
    pawl_error err;
    sqlitefile_migrate(file->path);
    struct store *store = sqlitefile_open(file->path);
    assert_int_equal(store->ops->core.settings_change(store, &freeze, &err), PAWL_OK);
    struct work_batch batch = {.instance = {.id = sqlitefile_id(1),
                                            .service = STR("orders"),
                                            .kinds = KIND_BITS_ALL,
                                            .lease_ms = 60000},
                               .lease_ms = 60000};
    for (int kind = KIND_OUTBOX; kind <= KIND_COUNT; kind++)
        batch.claim_max[kind] = 100;
    snprintf(log, sizeof log, "%s-wal", file->path);
    for (int i = 0; i < 10; i++) {
        struct work_batch_result result;
        assert_int_equal(store->ops->core.batch_process(store, &batch, arena, &result, &err), PAWL_OK);
        assert_int_equal(stat(log, i == 0 ? &before : &after), 0);
    }
    assert_int_equal(after.st_size, before.st_size);
    assert_int_equal(after.st_mtim.tv_nsec, before.st_mtim.tv_nsec);
    store_close(store);
    arena_free(arena);
}

/* Who else is at it keeps this one from moving the log into the file. */
static void only_who_has_the_lock_checkpoints(void **fixture) {
    const struct sqlitefile *file = *fixture;
    char lock_path[SQLITEFILE_PATH_BYTES + 32], log_path[SQLITEFILE_PATH_BYTES + 8];
    struct store_config config = sqlitefile_config(file->path);
    struct settings_change change = {-1, -1, -1, -1, -1, 7, -1};
    struct stat info;
    pawl_error err;
    snprintf(lock_path, sizeof lock_path, "%s-pawl/checkpoint.lock", file->path);
    snprintf(log_path, sizeof log_path, "%s-wal", file->path);
    sqlitefile_migrate(file->path);
    int fd = open(lock_path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    assert_true(fd >= 0);
    struct flock lock = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
    assert_int_equal(fcntl(fd, F_OFD_SETLK, &lock), 0);
    for (int held = 1; held >= 0; held--) {
        struct store *store = NULL;
        assert_int_equal(store_open(&config, &store, &err), PAWL_OK);
        assert_int_equal(store->ops->core.settings_change(store, &change, &err), PAWL_OK);
        change.max_attempts++;
        assert_int_equal(stat(log_path, &info), 0);
        assert_true(info.st_size > 0);
        store_close(store);
        bool moved = stat(log_path, &info) != 0 || info.st_size == 0;
        assert_int_equal(moved, held == 0);
        if (held == 1)
            close(fd); /* and with it the lock */
    }
}

static void cut_off(const char *path, const char *suffix, bool replace) {
    char name[SQLITEFILE_PATH_BYTES + 8], other[SQLITEFILE_PATH_BYTES + 16];
    struct store_config config = sqlitefile_config(path);
    struct settings_change change = {-1, -1, -1, -1, -1, 7, -1};
    struct settings settings;
    struct store *store = NULL;
    pawl_error err;
    snprintf(name, sizeof name, "%s%s", path, suffix);
    snprintf(other, sizeof other, "%s.other", name);
    sqlitefile_migrate(path);
    assert_int_equal(store_open(&config, &store, &err), PAWL_OK);
    assert_int_equal(store->ops->core.settings_change(store, &change, &err), PAWL_OK);
    if (replace)
        write_file(other, "");
    assert_int_equal(replace ? rename(other, name) : unlink(name), 0);
    change.max_attempts = 8;
    assert_int_equal(store->ops->core.settings_change(store, &change, &err), PAWL_DAMAGED);
    assert_non_null(strstr(err.text, replace ? "was replaced" : "was removed"));
    assert_non_null(strstr(err.text, name));
    assert_non_null(strstr(err.text, "may be lost"));
    assert_int_equal(store->ops->core.settings_read(store, &settings, &err), PAWL_DAMAGED);
    store_close(store);
}

static void a_removed_or_replaced_file_is_noticed(void **fixture) {
    const char *path = ((const struct sqlitefile *)*fixture)->path;
    cut_off(path, "-wal", false);
    cut_off(path, "-shm", false);
    cut_off(path, "", true);
}

/* The first bytes of the file; how many. */
static size_t file_bytes(const char *path, char *bytes, size_t room) {
    FILE *file = fopen(path, "rbe");
    assert_non_null(file);
    size_t got = fread(bytes, 1, room, file);
    assert_int_equal(fclose(file), 0);
    return got;
}

/* A connection that has not noticed yet leaves without moving its pages into a file that others may have
 * changed. */
static void a_removed_log_never_reaches_the_file(void **fixture) {
    enum { ROOM = 4 << 20 };
    const char *path = ((const struct sqlitefile *)*fixture)->path;
    char name[SQLITEFILE_PATH_BYTES + 8];
    struct settings_change change = {-1, -1, -1, -1, -1, 7, -1};
    pawl_error err;
    char *before = malloc(ROOM), *after = malloc(ROOM);
    assert_true(before != NULL && after != NULL);
    sqlitefile_migrate(path);
    struct store *store = sqlitefile_open(path);
    assert_int_equal(store->ops->core.settings_change(store, &change, &err), PAWL_OK);
    for (int i = 0; i < 2; i++) {
        snprintf(name, sizeof name, "%s%s", path, i == 0 ? "-shm" : "-wal");
        assert_int_equal(unlink(name), 0);
    }
    size_t size = file_bytes(path, before, ROOM);
    assert_true(size < ROOM);
    store_close(store);
    assert_int_equal(file_bytes(path, after, ROOM), size);
    assert_memory_equal(before, after, size);
    free(before);
    free(after);
}

/* SQLite would give it the removed index that the first connection of the process still has. */
static void a_connection_opened_after_the_removal_is_refused(void **fixture) {
    const char *path = ((const struct sqlitefile *)*fixture)->path;
    char name[SQLITEFILE_PATH_BYTES + 8];
    struct store_config config = sqlitefile_config(path);
    struct settings settings;
    struct store *late = NULL;
    pawl_error err;
    sqlitefile_migrate(path);
    struct store *store = sqlitefile_open(path);
    assert_int_equal(store->ops->core.settings_read(store, &settings, &err), PAWL_OK);
    for (int i = 0; i < 2; i++) { /* as another process would make them anew */
        snprintf(name, sizeof name, "%s%s", path, i == 0 ? "-shm" : "-wal");
        assert_int_equal(unlink(name), 0);
        write_file(name, "");
    }
    assert_int_equal(store_open(&config, &late, &err), PAWL_DAMAGED);
    assert_non_null(strstr(err.text, "was replaced"));
    store_close(store);
}

/* Another process has the file open, with something in its log; only the log is removed, its index stays. */
static void a_log_that_is_removed_beside_its_index_is_damage(void **fixture) {
    const char *path = ((const struct sqlitefile *)*fixture)->path;
    char name[SQLITEFILE_PATH_BYTES + 8], byte = 0;
    int ready[2], done[2], ended = 0;
    sqlitefile_migrate(path);
    assert_true(pipe(ready) == 0 && pipe(done) == 0);
    pid_t pid = fork();
    assert_true(pid >= 0);
    if (pid == 0) {
        struct store_config config = sqlitefile_config(path);
        struct store *store = NULL;
        pawl_error err = {0};
        close(done[1]);
        if (store_open(&config, &store, &err) != PAWL_OK || sqlitefile_put(store, 1, "a", &err) != PAWL_OK ||
            write(ready[1], "x", 1) != 1)
            _exit(1);
        _exit(read(done[0], &byte, 1) == 0 ? 0 : 2); /* without closing the store */
    }
    close(ready[1]);
    close(done[0]);
    assert_int_equal(read(ready[0], &byte, 1), 1);
    snprintf(name, sizeof name, "%s-wal", path);
    assert_int_equal(unlink(name), 0);
    struct store_config config = sqlitefile_config(path);
    struct store *store = NULL;
    pawl_error err = {0};
    pawl_status status = store_open(&config, &store, &err);
    store_close(store);
    close(done[1]);
    close(ready[0]);
    assert_int_equal(waitpid(pid, &ended, 0), pid);
    assert_int_equal(ended, 0);
    if (status != PAWL_DAMAGED)
        fail_msg("%d: %s", (int)status, err.text);
    assert_non_null(strstr(err.text, name));
    assert_non_null(strstr(err.text, "was removed"));
    assert_non_null(strstr(err.text, "run pawl check"));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        FILE_TEST(the_log_stays_bounded),
        FILE_TEST(a_poll_that_finds_nothing_writes_nothing),
        FILE_TEST(only_who_has_the_lock_checkpoints),
        FILE_TEST(a_removed_or_replaced_file_is_noticed),
        FILE_TEST(a_removed_log_never_reaches_the_file),
        FILE_TEST(a_connection_opened_after_the_removal_is_refused),
        FILE_TEST(a_log_that_is_removed_beside_its_index_is_damage),
    };
    return cmocka_run_group_tests_name("sqlite_log", tests, NULL, NULL);
}
