/* One SQLite connection: opening, settings, waiting for other writers, and mapping its errors. */
#include "store/sqlite/file/connection.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <time.h>
#include <unistd.h>

#include "base/error.h"
#include "base/limits.h"
#include "base/str.h"
#include "base/time/clock.h"
#include "store/sqlite/events/event_table.h"
#include "store/sqlite/file/checkpointer.h"
#include "store/sqlite/file/files.h"
#include "store/sqlite/file/turn.h"
#include "store/sqlite/fleet/liveness.h"

#define OP "sqlite_open"

/* A log that grew over this is cut when it is reset. */
enum { DAMAGE_BYTES = 200 };
enum {
    BUSY_WAIT_US_MIN = 100,
    BUSY_WAIT_US_MAX = 4000,
    BUSY_WAIT_US_NEXT = 1000 /* the next in line checks often */
};

void connection_deadline_start(struct sqlite_store *store) {
    store->wait_deadline_us = clock_boot_us() + store->timeout_ms * 1000;
}

/* Waits a little longer each time, never the same for two waiters, until the operation's deadline. */
static int busy_wait(void *arg, int tries) {
    struct sqlite_store *store = arg;
    int64_t now_us = clock_boot_us();
    if (now_us >= store->wait_deadline_us)
        return 0;
    int64_t span_us = (int64_t)BUSY_WAIT_US_MIN << (tries < 6 ? tries : 6);
    int64_t most_us = store->turn_wanted && turn_wait(store) ? BUSY_WAIT_US_NEXT : BUSY_WAIT_US_MAX;
    if (span_us > most_us)
        span_us = most_us;
    uint32_t random = 0;
    sqlite3_randomness(sizeof(random), &random);
    int64_t wait_us = span_us / 2 + (int64_t)(random % (uint32_t)(span_us / 2 + 1));
    if (wait_us > store->wait_deadline_us - now_us)
        wait_us = store->wait_deadline_us - now_us;
    struct timespec wait = {.tv_sec = wait_us / 1000000, .tv_nsec = wait_us % 1000000 * 1000};
    nanosleep(&wait, NULL); /* waking early only means looking early */
    return 1;
}

static int note_wal_pages(void *arg, sqlite3 *db, const char *name, int pages) {
    struct sqlite_store *store = arg;
    (void)db, (void)name;
    store->wal_pages = pages;
    return SQLITE_OK;
}

/* SQLite's check says a page that could not be read like a page that is wrong, with or without the code of
 * the error: that code, or rc. */
static int page_error(const char *what, int rc) {
    const char *at = strstr(what, "error code=");
    int64_t code = at != NULL                                   ? strtoll(at + 11, NULL, 10)
                   : strstr(what, "failed to get page") != NULL ? SQLITE_IOERR_READ
                                                                : 0;
    return (code & 0xff) == SQLITE_IOERR ? (int)code : rc;
}

/* The first thing that the query finds wrong with the file (SQLITE_ROW), as far as SQLite can tell; else the
 * text stays. */
static int find_damage(struct sqlite_store *store, enum sqlite_query query, char what[static DAMAGE_BYTES]) {
    sqlite3_stmt *stmt = NULL;
    int rc = sqlite3_prepare_v2(store->db, sql_sqlite_queries[query].text, -1, &stmt, NULL);
    if (rc == SQLITE_OK)
        rc = sqlite3_step(stmt);
    if (rc == SQLITE_ROW) {
        pawl_str text = str_trim(str_from((const char *)sqlite3_column_text(stmt, 0)));
        if (str_starts_with(text, STR("*** in database main ***")))
            text = str_trim((pawl_str){text.ptr + 24, text.len - 24});
        const char *end = memchr(text.ptr, '\n', text.len);
        snprintf(what, DAMAGE_BYTES, "%.*s", end != NULL ? (int)(end - text.ptr) : (int)text.len, text.ptr);
        rc = page_error(what, rc);
    }
    sqlite3_finalize(stmt);
    return rc;
}

static pawl_status damaged(struct sqlite_store *store, const char *what, const char *op, pawl_error *err) {
    return error_set(
        err, PAWL_DAMAGED, op,
        "the database %s is damaged (%s): stop its users, keep a copy, and restore a backup or use "
        "sqlite3's .recover",
        store->path, what);
}

static pawl_status corrupt(struct sqlite_store *store, int rc, const char *op, pawl_error *err) {
    if ((rc & 0xff) == SQLITE_NOTADB)
        return error_set(err, PAWL_INVALID, op,
                         "%s is not an SQLite database: name another file, or restore this one from a backup",
                         store->path);
    char what[DAMAGE_BYTES];
    snprintf(what, sizeof what, "%s", sqlite3_errmsg(store->db));
    (void)find_damage(store, SQLITE_Q_FILE_DAMAGE, what); /* that it is damaged is known already */
    return damaged(store, what, op, err);
}

pawl_status connection_failure(struct sqlite_store *store, int rc, const char *op, pawl_error *err) {
    int code = errno;
    const char *what = store->db != NULL ? sqlite3_errmsg(store->db) : sqlite3_errstr(rc);
    switch (rc & 0xff) {
    case SQLITE_BUSY:
    case SQLITE_LOCKED:
        if (clock_boot_us() < store->wait_deadline_us) /* SQLite found that waiting could not help */
            return error_set(err, PAWL_BUSY, op, "another connection holds a lock of %s: try again",
                             store->path);
        return error_set(err, PAWL_BUSY, op, "another writer held %s for more than %" PRId64 " ms",
                         store->path, store->timeout_ms);
    case SQLITE_PROTOCOL: /* when a transaction begins: SQLite has tried for seconds, and nothing happened */
        return error_set(
            err, PAWL_BUSY, op,
            "another process holds the locks of the log of %s and does not move on; it was stopped, "
            "or the machine is very busy",
            store->path);
    case SQLITE_FULL:
        return error_set(err, PAWL_UNAVAILABLE, op, "no space to write %s (%s): free some and try again",
                         store->path, what);
    case SQLITE_READONLY:
        return error_set(err, PAWL_UNAVAILABLE, op,
                         "%s cannot be written (%s): check the rights of the file and of its directory",
                         store->path, what);
    case SQLITE_CANTOPEN:
    case SQLITE_PERM:
    case SQLITE_AUTH:
        return error_errno(err, PAWL_UNAVAILABLE, op,
                           store->db != NULL ? sqlite3_system_errno(store->db) : code,
                           "%s cannot be opened (%s)", store->path, what);
    case SQLITE_IOERR:
        if (rc == SQLITE_IOERR_NOMEM)
            return error_set(err, PAWL_NO_MEMORY, op, "out of memory in SQLite");
        if (rc == SQLITE_IOERR_SHORT_READ && files_short_log(store, op, err) != PAWL_OK)
            return PAWL_DAMAGED;
        return error_errno(err, PAWL_UNAVAILABLE, op,
                           store->db != NULL ? sqlite3_system_errno(store->db) : code,
                           "reading or writing %s failed (%s, code %d)", store->path, what, rc);
    case SQLITE_NOMEM:
        return error_set(err, PAWL_NO_MEMORY, op, "out of memory in SQLite");
    case SQLITE_NOTADB:
    case SQLITE_CORRUPT:
        return corrupt(store, rc, op, err);
    case SQLITE_TOOBIG:
        return error_set(err, PAWL_INVALID, op, "a value is too big for SQLite");
    default:
        return error_set(err, PAWL_INTERNAL, op, "SQLite: %s (code %d)", what, rc);
    }
}

pawl_status connection_intact(struct sqlite_store *store, enum sqlite_query query, const char *op,
                              pawl_error *err) {
    char what[DAMAGE_BYTES] = "";
    if (store->in_memory)
        return PAWL_OK;
    int rc = find_damage(store, query, what);
    if (rc == SQLITE_ROW)
        return damaged(store, what, op, err);
    return rc == SQLITE_DONE ? PAWL_OK : connection_failure(store, rc, op, err);
}

static pawl_status refuse_network(struct sqlite_store *store, pawl_error *err) {
    /* linux/magic.h has not all of them */
    static const struct {
        unsigned long magic;
        const char *name;
    } refused[] = {{0x6969, "NFS"},      {0xff534d42, "CIFS"}, {0xfe534d42, "SMB2"}, {0x517b, "SMB"},
                   {0x73757245, "Coda"}, {0x5346414f, "AFS"},  {0x00c36400, "Ceph"}};
    struct statfs info;
    if (statfs(store->path, &info) != 0)
        return error_errno(err, PAWL_UNAVAILABLE, OP, errno, "the file system of %s cannot be asked",
                           store->path);
    for (size_t i = 0; i < sizeof(refused) / sizeof(refused[0]); i++)
        if ((uint32_t)info.f_type == refused[i].magic)
            return error_set(
                err, PAWL_INVALID, OP,
                "%s is on a network file system (%s), where SQLite's locks and log are not safe: use a "
                "local disk, or PostgreSQL",
                store->path, refused[i].name);
    return PAWL_OK;
}

/*
 * Checks the file before SQLite does, and creates it with the right mode. An existing file is never opened
 * here: closing it would drop the POSIX locks that SQLite holds on it for other connections of this process.
 */
static pawl_status prepare_file(struct sqlite_store *store, enum connection_mode mode, pawl_error *err) {
    struct stat info;
    if (stat(store->path, &info) != 0) {
        if (errno != ENOENT)
            return error_errno(err, PAWL_UNAVAILABLE, OP, errno, "%s cannot be looked at", store->path);
        if (mode == CONNECTION_USE)
            return error_set(err, PAWL_NOT_FOUND, OP, "there is no database at %s: run pawl migrate",
                             store->path);
        int fd = open(store->path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOCTTY, 0600);
        if (fd < 0)
            return error_errno(err, PAWL_UNAVAILABLE, OP, errno, "%s cannot be made", store->path);
        close(fd);
    } else if (!S_ISREG(info.st_mode)) {
        return error_set(err, PAWL_INVALID, OP, "%s is not a regular file", store->path);
    }
    return refuse_network(store, err);
}

/* Processes that create or upgrade a database take turns; released when the connection closes. */
static pawl_status take_migrate_lock(struct sqlite_store *store, pawl_error *err) {
    char *path = NULL;
    if (asprintf(&path, "%s/migrate.lock", store->side_dir) < 0)
        return error_set(err, PAWL_NO_MEMORY, OP, "out of memory");
    pawl_status status = PAWL_OK;
    store->migrate_fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOCTTY, 0600);
    if (store->migrate_fd < 0) {
        status = error_errno(err, PAWL_UNAVAILABLE, OP, errno, "%s cannot be opened", path);
        goto done;
    }
    connection_deadline_start(store);
    struct flock lock = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
    for (int tries = 0; fcntl(store->migrate_fd, F_OFD_SETLK, &lock) != 0; tries++) {
        if (errno != EAGAIN && errno != EACCES) {
            status = error_errno(err, PAWL_UNAVAILABLE, OP, errno, "%s cannot be locked", path);
            goto done;
        }
        if (busy_wait(store, tries) == 0) {
            status = error_set(err, PAWL_BUSY, OP,
                               "another process has been migrating %s for more than %" PRId64 " ms",
                               store->path, store->timeout_ms);
            goto done;
        }
    }
done:
    free(path);
    return status;
}

/* Lock files are next to the database, in a directory that only its owner can enter. */
static pawl_status prepare_side_dir(struct sqlite_store *store, enum connection_mode mode, pawl_error *err) {
    struct stat info;
    /* No directory beside a database that is not there. */
    if (mode == CONNECTION_USE && stat(store->path, &info) != 0)
        return PAWL_OK;
    bool there = mkdir(store->side_dir, 0700) == 0 || errno == EEXIST;
    if (!there && errno == ENOENT)
        return error_set(err, PAWL_UNAVAILABLE, OP, "%s cannot be made: its directory does not exist",
                         store->path);
    if (!there)
        return error_errno(err, PAWL_UNAVAILABLE, OP, errno, "the directory %s cannot be made",
                           store->side_dir);
    return mode == CONNECTION_CREATE ? take_migrate_lock(store, err) : PAWL_OK;
}

static pawl_status run_pragmas(struct sqlite_store *store, const struct store_config *config,
                               pawl_error *err) {
    static const enum sqlite_query always[] = {SQLITE_Q_PRAGMA_TRUSTED_SCHEMA, SQLITE_Q_PRAGMA_MMAP,
                                               SQLITE_Q_PRAGMA_AUTOCHECKPOINT, SQLITE_Q_PRAGMA_JOURNAL_LIMIT,
                                               SQLITE_Q_PRAGMA_TEMP_STORE};
    int rc = SQLITE_OK;
    for (size_t i = 0; i < sizeof(always) / sizeof(always[0]) && rc == SQLITE_OK; i++)
        rc = sqlite3_exec(store->db, sql_sqlite_queries[always[i]].text, NULL, NULL, NULL);
    if (rc == SQLITE_OK) {
        enum sqlite_query sync = config->durability == DURABILITY_NORMAL ? SQLITE_Q_PRAGMA_SYNC_NORMAL
                                                                         : SQLITE_Q_PRAGMA_SYNC_FULL;
        rc = sqlite3_exec(store->db, sql_sqlite_queries[sync].text, NULL, NULL, NULL);
    }
    if (rc == SQLITE_OK) {
        enum sqlite_query cache = config->small_cache ? SQLITE_Q_PRAGMA_CACHE_SMALL : SQLITE_Q_PRAGMA_CACHE;
        rc = sqlite3_exec(store->db, sql_sqlite_queries[cache].text, NULL, NULL, NULL);
    }
    return rc == SQLITE_OK ? PAWL_OK : connection_failure(store, rc, OP, err);
}

static pawl_status open_database(struct sqlite_store *store, const struct store_config *config,
                                 pawl_error *err) {
    /* One mutex of ours covers the connection, so SQLite's own are not needed. */
    int flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_EXRESCODE |
                (store->in_memory ? SQLITE_OPEN_MEMORY : 0);
    int rc = sqlite3_open_v2(store->path, &store->db, flags, NULL);
    if (rc == SQLITE_OK)
        rc = sqlite3_busy_handler(store->db, busy_wait, store);
    if (rc == SQLITE_OK)
        rc = sqlite3_db_config(store->db, SQLITE_DBCONFIG_DEFENSIVE, 1, NULL);
    if (rc == SQLITE_OK)
        rc = event_table_install(store->db);
    if (rc == SQLITE_OK) /* the elected checkpointer alone does that, see checkpointer.h */
        rc = sqlite3_db_config(store->db, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1, NULL);
    if (rc != SQLITE_OK)
        return connection_failure(store, rc, OP, err);
    connection_deadline_start(store);
    pawl_status status = run_pragmas(store, config, err);
    sqlite3_wal_hook(store->db, note_wal_pages, store); /* wal_autocheckpoint would replace it */
    return status;
}

static pawl_status check_config(const struct store_config *config, const char *path, bool in_memory,
                                pawl_error *err) {
    if (config->schema != NULL && strcmp(config->schema, "pawl") != 0)
        return error_set(err, PAWL_INVALID, OP,
                         "schema %s: an SQLite file has one schema, named pawl: use another file instead",
                         config->schema);
    if (path == NULL || path[0] == '\0' || (!in_memory && strcmp(path, ":memory:") == 0))
        return error_set(err, PAWL_INVALID, OP, "name a file: sqlite:PATH");
    return PAWL_OK;
}

pawl_status connection_open(const struct store_config *config, enum connection_mode mode,
                            struct sqlite_store **out, pawl_error *err) {
    const char *path = store_sqlite_path(config->url);
    pawl_status status = check_config(config, path, mode == CONNECTION_MEMORY, err);
    if (status != PAWL_OK)
        return status;
    struct sqlite_store *store = calloc(1, sizeof(*store));
    if (store == NULL)
        return error_set(err, PAWL_NO_MEMORY, OP, "out of memory");
    pthread_mutex_init(&store->lock, NULL);
    store->in_memory = mode == CONNECTION_MEMORY;
    store->checkpointer_fd = -1;
    store->migrate_fd = -1;
    store->turn_fd = TURN_NOT_OPENED;
    store->timeout_ms = config->statement_timeout_ms > 0 ? config->statement_timeout_ms
                                                         : PAWL_STATEMENT_TIMEOUT_MS_DEFAULT;
    store->path = strdup(path);
    store->scratch = arena_create(0);
    if (store->path == NULL || store->scratch == NULL || asprintf(&store->side_dir, "%s-pawl", path) < 0) {
        store->side_dir = NULL;
        status = error_set(err, PAWL_NO_MEMORY, OP, "out of memory");
        goto done;
    }
    if (!store->in_memory)
        status = prepare_side_dir(store, mode, err);
    if (status == PAWL_OK && !store->in_memory)
        status = prepare_file(store, mode, err);
    if (status == PAWL_OK)
        status = open_database(store, config, err);
done:
    if (status == PAWL_OK)
        *out = store;
    else
        connection_close(store);
    return status;
}

pawl_status connection_use_wal(struct sqlite_store *store, pawl_error *err) {
    int rc = SQLITE_BUSY;
    connection_deadline_start(store);
    /* SQLite does not call the busy handler when it changes the journal. */
    for (int tries = 0; (rc & 0xff) == SQLITE_BUSY && (tries == 0 || busy_wait(store, tries) != 0); tries++)
        rc = sqlite3_exec(store->db, sql_sqlite_queries[SQLITE_Q_PRAGMA_WAL].text, NULL, NULL, NULL);
    return rc == SQLITE_OK ? PAWL_OK : connection_failure(store, rc, "sqlite_migrate", err);
}

void connection_close(struct sqlite_store *store) {
    if (store == NULL)
        return;
    if (store->db != NULL && !store->in_memory)
        checkpointer_close(store);
    liveness_drop(store);
    for (size_t i = 0; i < SQLITE_Q_COUNT; i++)
        sqlite3_finalize(store->statements[i]);
    for (size_t i = 0; store->invariants != NULL && i < sql_sqlite_invariants_count; i++)
        sqlite3_finalize(store->invariants[i]);
    free(store->invariants);
    sqlite3_close(store->db);
    if (store->migrate_fd >= 0)
        close(store->migrate_fd);
    if (store->turn_fd >= 0)
        close(store->turn_fd);
    pthread_mutex_destroy(&store->lock);
    arena_free(store->scratch);
    free(store->side_dir);
    free(store->path);
    free(store);
}

pawl_status connection_file_id(struct sqlite_store *store, char text[static FILE_ID_BYTES], pawl_error *err) {
    struct stat info = {0};
    if (!store->in_memory && stat(store->path, &info) != 0)
        return error_errno(err, PAWL_UNAVAILABLE, OP, errno, "%s cannot be looked at", store->path);
    snprintf(text, FILE_ID_BYTES, "%ju:%ju", (uintmax_t)info.st_dev, (uintmax_t)info.st_ino);
    return PAWL_OK;
}
