/* No skip: many processes append with random delays and rollbacks while a transaction stays open elsewhere; a
 * reader of everything and a perspective in SQL must see exactly what was committed, in order, without ever
 * standing still.
 *
 * Usage: events_noskip postgres|sqlite [EVENTS [WRITERS]]
 */
#include <inttypes.h>
#include <libpq-fe.h>
#include <pthread.h>
#include <sqlite3.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/str.h"
#include "base/time/clock.h"
#include "base/uuid.h"
#include "pawl_events.h"
#include "store/store.h"
#include "support/pgserver.h"
#include "support/sqlitefile.h"

enum {
    STREAMS = 200,
    EVENTS_PER_CALL = 9,
    WRITERS_MAX = 64,
    ROLLBACK_PERCENT = 5,
    STALL_MS = 2000,
    NAME_BYTES = 32
};

/* Counted by every process. */
struct shared {
    _Atomic int64_t committed, rolled_back, running;
    _Atomic bool failed;
};

struct proof {
    bool postgres;
    char url[PGSERVER_URL_BYTES];
    int64_t wanted;
    int writers;
    struct shared *shared;
    int64_t read, inversions, gaps, stalls, slowest_ms;
    int64_t last[STREAMS];
};

static void die(const char *what, const char *why) {
    fprintf(stderr, "%s: %s\n", what, why);
    _exit(1);
}

static void must(pawl_status status, const char *what, const pawl_error *err) {
    if (status != PAWL_OK)
        die(what, err->text);
}

static void pause_us(unsigned us) {
    struct timespec wait = {.tv_sec = us / 1000000, .tv_nsec = (long)(us % 1000000) * 1000};
    (void)nanosleep(&wait, NULL);
}

static void execute(PGconn *conn, const char *sql) {
    PGresult *result = PQexec(conn, sql);
    ExecStatusType status = PQresultStatus(result);
    if (status != PGRES_COMMAND_OK && status != PGRES_TUPLES_OK)
        die(sql, PQerrorMessage(conn));
    PQclear(result);
}

static PGconn *connect_to(const char *url) {
    PGconn *conn = PQconnectdb(url);
    if (PQstatus(conn) != CONNECTION_OK)
        die("connect", PQerrorMessage(conn));
    return conn;
}

static sqlite3 *open_file(const char *path) {
    sqlite3 *db = NULL;
    if (sqlite3_open(path, &db) != SQLITE_OK || sqlite3_busy_timeout(db, 60000) != SQLITE_OK ||
        sqlite3_exec(db, "PRAGMA wal_autocheckpoint = 0; PRAGMA synchronous = NORMAL", NULL, NULL, NULL) !=
            SQLITE_OK)
        die("sqlite", sqlite3_errmsg(db));
    return db;
}

/* SQLite's lock is not fair: a writer that timed out waits again. */
static void execute_file(sqlite3 *db, const char *sql) {
    int rc = SQLITE_BUSY;
    for (int tries = 0; rc == SQLITE_BUSY && tries < 20; tries++)
        rc = sqlite3_exec(db, sql, NULL, NULL, NULL);
    if (rc != SQLITE_OK)
        die(sql, sqlite3_errmsg(db));
}

/* Begins, commits or rolls back on whichever there is. */
struct writer {
    PGconn *conn;
    sqlite3 *db;
};

static void step(const struct writer *w, const char *postgres, const char *sqlite) {
    if (w->conn != NULL)
        execute(w->conn, postgres);
    else
        execute_file(w->db, sqlite);
}

static void write_once(const struct proof *p, const struct writer *w, unsigned *seed) {
    pawl_event events[EVENTS_PER_CALL];
    char stream[NAME_BYTES];
    pawl_error err;
    size_t count = 1 + (size_t)(rand_r(seed) % EVENTS_PER_CALL);
    pawl_append_to to = {.expected_version = PAWL_ANY_VERSION};
    snprintf(stream, sizeof stream, "stream-%d", rand_r(seed) % STREAMS);
    to.stream = str_from(stream);
    for (size_t i = 0; i < count; i++)
        events[i] = (pawl_event){.type = STR("Noted"), .payload = STR("{\"a\":1}")};
    step(w, "BEGIN", "BEGIN IMMEDIATE");
    must(w->conn != NULL ? pawl_append_pg(w->conn, &to, events, count, NULL, &err)
                         : pawl_append_sqlite(w->db, &to, events, count, NULL, &err),
         "append", &err);
    if (rand_r(seed) % 10 == 0) /* one in ten dawdles before it ends */
        pause_us((unsigned)rand_r(seed) % (p->postgres ? 20000 : 1000));
    if (rand_r(seed) % 100 < ROLLBACK_PERCENT) {
        step(w, "ROLLBACK", "ROLLBACK");
        atomic_fetch_add(&p->shared->rolled_back, (int64_t)count);
    } else {
        step(w, "COMMIT", "COMMIT");
        atomic_fetch_add(&p->shared->committed, (int64_t)count);
    }
}

static void write_all(const struct proof *p, int number) {
    struct writer w = {0};
    unsigned seed = (unsigned)number * 7919 + 1;
    if (p->postgres)
        w.conn = connect_to(p->url);
    else
        w.db = open_file(p->url);
    while (atomic_load(&p->shared->committed) < p->wanted)
        write_once(p, &w, &seed);
    PQfinish(w.conn);
    sqlite3_close(w.db);
    atomic_fetch_sub(&p->shared->running, 1);
    _exit(0);
}

static struct store *open_store(const struct proof *p) {
    struct store_config config = {
        .url = p->url, .durability = DURABILITY_NORMAL, .statement_timeout_ms = 120000};
    struct store *store = NULL;
    pawl_error err;
    must(store_open(&config, &store, &err), "open", &err);
    return store;
}

/* ---- The reader of everything */

static void take(struct proof *p, const pawl_stored_event *event, int64_t *position) {
    int stream = atoi(event->stream.ptr + strlen("stream-"));
    p->gaps += event->position != *position + 1 ? 1 : 0;
    p->inversions += event->version != p->last[stream] + 1 ? 1 : 0;
    p->last[stream] = event->version;
    *position = event->position;
    p->read++;
}

static void *read_all(void *self) {
    struct proof *p = self;
    struct store *store = open_store(p);
    struct arena *arena = arena_create(0);
    int64_t position = 0, moved_ms = clock_boot_ms();
    pawl_error err;
    for (;;) {
        struct stamp_result stamped;
        struct event_list list = {0};
        pawl_read query = {.from = position + 1, .limit = 2000};
        int64_t committed =
            atomic_load(&p->shared->committed); /* before the look: all of it must be seen soon */
        bool ended = atomic_load(&p->shared->running) == 0;
        must(store->ops->events.events_stamp(store, 5000, &stamped, &err), "stamp", &err);
        arena_reset(arena);
        must(store->ops->events.events_read(store, &query, arena, &list, &err), "read", &err);
        for (size_t i = 0; i < list.count; i++)
            take(p, &list.events[i], &position);
        int64_t now_ms = clock_boot_ms(), still_ms = now_ms - moved_ms;
        if (list.count > 0 || p->read >= committed)
            moved_ms = now_ms;
        else if (still_ms > p->slowest_ms)
            p->slowest_ms = still_ms;
        if (list.count == 0 && p->read < committed && still_ms > STALL_MS) {
            p->stalls++;
            moved_ms = now_ms;
        }
        if (list.count == 0 && ended && (p->read >= committed || p->stalls > 3))
            break;
        if (list.count == 0)
            pause_us(1000);
    }
    arena_free(arena);
    store_close(store);
    return NULL;
}

/* ---- The perspective's worker, as small as one can be */

static const pawl_str key = {"seen@1", 6};

static void finish_messages(struct store *store, pawl_uuid instance, const struct item_list *items,
                            const struct advance_result *moved, struct arena *arena) {
    struct complete_item *done = arena_array(arena, items->count, sizeof *done);
    struct release_item *back = arena_array(arena, items->count, sizeof *back);
    struct messages_complete complete = {.instance = instance, .kind = KIND_PERSPECTIVE, .items = done};
    struct messages_release release = {.instance = instance, .kind = KIND_PERSPECTIVE, .items = back};
    struct answer_list answers;
    pawl_error err;
    for (size_t i = 0; i < items->count; i++) {
        bool busy = false;
        for (size_t b = 0; !busy && b < moved->busy_count; b++)
            busy = str_equal(moved->busy[b], items->items[i].stream);
        struct item_ref ref = {items->items[i].token, items->items[i].id};
        if (busy)
            back[release.count++] = (struct release_item){.ref = ref, .delay_ms = 100};
        else
            done[complete.count++] = (struct complete_item){ref, 4};
    }
    must(store->ops->core.messages_complete(store, &complete, arena, &answers, &err), "complete", &err);
    must(store->ops->core.messages_release(store, &release, arena, &answers, &err), "release", &err);
}

/* One round, as a worker does it: the streams of messages, else whatever is due. */
static size_t work_once(struct store *store, pawl_uuid instance, struct arena *arena) {
    struct messages_claim claim = {.instance = instance,
                                   .kind = KIND_PERSPECTIVE,
                                   .max = 500,
                                   .lease_ms = 60000,
                                   .policy = POLICY_BLOCK};
    struct item_list items;
    struct advance_result moved = {0};
    pawl_error err;
    struct beat_result beat;
    must(store->ops->core.heartbeat(store, instance, -1, &beat, &err), "beat", &err);
    must(store->ops->core.messages_claim(store, &claim, arena, &items, &err), "claim", &err);
    pawl_str *streams = arena_array(arena, items.count, sizeof *streams);
    for (size_t i = 0; i < items.count; i++)
        streams[i] = items.items[i].stream;
    struct perspective_advance in = {.instance = instance,
                                     .perspective = key,
                                     .streams = streams,
                                     .stream_count = items.count,
                                     .mine = &key,
                                     .mine_count = 1,
                                     .batch = 500};
    must(store->ops->events.perspective_advance(store, &in, arena, &moved, &err), "advance", &err);
    for (size_t i = 0; i < moved.count; i++) {
        if (moved.items[i].answer != ANSWER_APPLIED)
            die("advance", arena_printf(arena, "%.*s", STR_ARG(moved.items[i].error)));
    }
    if (items.count > 0)
        finish_messages(store, instance, &items, &moved, arena);
    return items.count + moved.count;
}

static void *work_all(void *self) {
    struct proof *p = self;
    struct store *store = open_store(p);
    struct arena *arena = arena_create(0);
    struct instance_new in = {
        .service = STR("noskip"), .kinds = KIND_BIT(KIND_PERSPECTIVE), .lease_ms = 600000};
    struct instance_grant grant;
    pawl_error err;
    must(uuid_next(&in.id, &err), "uuid", &err);
    must(store->ops->core.instance_register(store, &in, &grant, &err), "register", &err);
    int64_t idle_since_ms = clock_boot_ms();
    for (;;) {
        bool ended = atomic_load(&p->shared->running) == 0;
        arena_reset(arena);
        size_t did = work_once(store, in.id, arena);
        int64_t now_ms = clock_boot_ms();
        if (did > 0)
            idle_since_ms = now_ms;
        else if (ended && now_ms - idle_since_ms > 3000)
            break;
        else
            pause_us(5000);
    }
    must(store->ops->core.instance_deregister(store, in.id, &err), "deregister", &err);
    arena_free(arena);
    store_close(store);
    return NULL;
}

/* ---- The verdict */

static int64_t number(const struct proof *p, const char *sql) {
    int64_t value = 0;
    if (p->postgres) {
        PGconn *conn = connect_to(p->url);
        PGresult *result = PQexec(conn, sql);
        if (PQresultStatus(result) != PGRES_TUPLES_OK)
            die(sql, PQerrorMessage(conn));
        value = strtoll(PQgetvalue(result, 0, 0), NULL, 10);
        PQclear(result);
        PQfinish(conn);
        return value;
    }
    sqlite3 *db = open_file(p->url);
    sqlite3_stmt *stmt = NULL;
    if (sqlite3_prepare_v2(db, sql, -1, &stmt, NULL) != SQLITE_OK || sqlite3_step(stmt) != SQLITE_ROW)
        die(sql, sqlite3_errmsg(db));
    value = sqlite3_column_int64(stmt, 0);
    sqlite3_finalize(stmt);
    sqlite3_close(db);
    return value;
}

static void prepare(const struct proof *p) {
    struct store_config config = {.url = p->url};
    struct migrate_config migrate = {0};
    struct migrate_result made;
    struct perspective_registered registered;
    pawl_error err;
    must(store_migrate(&config, &migrate, &made, &err), "migrate", &err);
    const char *table =
        "CREATE TABLE seen (n INTEGER PRIMARY KEY, stream TEXT NOT NULL, version INTEGER NOT NULL, "
        "UNIQUE (stream, version))";
    if (p->postgres) {
        PGconn *conn = connect_to(p->url);
        execute(conn,
                "CREATE TABLE seen (n bigserial PRIMARY KEY, stream text NOT NULL, version bigint NOT NULL, "
                "UNIQUE (stream, version))");
        PQfinish(conn);
    } else {
        sqlite3 *db = open_file(p->url);
        execute_file(db, table);
        sqlite3_close(db);
    }
    struct event_pattern pattern = {PATTERN_EXACT, STR("Noted")};
    struct perspective_new in = {
        .name = STR("seen"),
        .version = 1,
        .patterns = &pattern,
        .pattern_count = 1,
        .run = RUN_SQL,
        .target =
            p->postgres
                ? STR("INSERT INTO seen (stream, version) SELECT stream, version FROM pawl.event_rows($1)")
                : STR("INSERT INTO seen (stream, version) SELECT json_extract(value, '$.stream'), "
                      "json_extract(value, '$.version') FROM json_each(?1)")};
    struct store *store = open_store(p);
    must(store->ops->events.perspective_register(store, &in, &registered, &err), "register", &err);
    store_close(store);
}

static int judge(struct proof *p, int64_t took_ms) {
    int64_t committed = atomic_load(&p->shared->committed);
    int64_t stored = number(p, p->postgres ? "SELECT count(*) FROM pawl_internal.event"
                                           : "SELECT count(*) FROM pawl_event");
    int64_t seen = number(p, "SELECT count(*) FROM seen");
    int64_t wrong = number(
        p,
        "SELECT count(*) FROM (SELECT version, lag(version, 1, 0) OVER (PARTITION BY stream ORDER BY n) AS "
        "before FROM seen) s WHERE s.version <> s.before + 1");
    struct violations violations = {0};
    struct arena *arena = arena_create(0);
    struct store *store = open_store(p);
    pawl_error err;
    must(store->ops->view.check(store, arena, &violations, &err), "check", &err);
    for (size_t i = 0; i < violations.count; i++)
        fprintf(stderr, "%.*s: %.*s\n", STR_ARG(violations.rows[i].invariant),
                STR_ARG(violations.rows[i].detail));
    store_close(store);
    arena_free(arena);
    printf("%s: %d writers, %" PRId64 " events committed, %" PRId64 " rolled back, stored %" PRId64
           ", read by position %" PRId64 ", applied %" PRId64 ", inversions %" PRId64 ", gaps %" PRId64
           ", stalls %" PRId64 " (longest wait %" PRId64 " ms), violations %zu, %.1f s, %.0f events/s\n",
           p->postgres ? "postgres" : "sqlite", p->writers, committed, atomic_load(&p->shared->rolled_back),
           stored, p->read, seen, p->inversions + wrong, p->gaps, p->stalls, p->slowest_ms, violations.count,
           (double)took_ms / 1000.0, (double)committed * 1000.0 / (double)took_ms);
    bool right = stored == committed && p->read == committed && seen == committed &&
                 p->inversions + wrong + p->gaps + p->stalls == 0 && violations.count == 0;
    printf("figures: {\"events\": %" PRId64 ", \"rolled_back\": %" PRId64 ", \"skipped\": %" PRId64
           ", \"inverted\": %" PRId64 ", \"violations\": %d}\n",
           committed, atomic_load(&p->shared->rolled_back),
           p->gaps + (p->read != committed) + (seen != committed), p->inversions + wrong, !right);
    printf("%s - what was committed was read and applied, once and in order\n", right ? "ok 1" : "not ok 1");
    return right ? EXIT_SUCCESS : EXIT_FAILURE;
}

static void start_writers(const struct proof *p, pid_t *pids) {
    atomic_store(&p->shared->running, p->writers);
    for (int i = 0; i < p->writers; i++) {
        pids[i] = fork();
        if (pids[i] < 0)
            die("fork", "no process");
        if (pids[i] == 0)
            write_all(p, i);
    }
}

int main(int argc, char **argv) {
    struct proof p = {.wanted = 4000, .writers = 16};
    struct sqlitefile *file = NULL;
    pid_t pids[WRITERS_MAX];
    pthread_t reader, worker;
    PGconn *foreign = NULL, *beside = NULL;
    if (argc < 2)
        die("usage", "events_noskip postgres|sqlite [EVENTS [WRITERS]]");
    p.postgres = strcmp(argv[1], "postgres") == 0;
    if (argc > 2)
        p.wanted = strtoll(argv[2], NULL, 10);
    if (argc > 3)
        p.writers = atoi(argv[3]);
    p.writers = p.writers > WRITERS_MAX ? WRITERS_MAX : p.writers;
    p.shared = mmap(NULL, sizeof *p.shared, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (p.shared == MAP_FAILED)
        die("mmap", "no memory");
    printf("1..1\n");
    (void)fflush(stdout);
    if (p.postgres) {
        if (pgserver_url() == NULL)
            return PGSERVER_SKIP;
        if (!pgserver_create_database("noskip", p.url))
            die("database", "not made");
    } else {
        (void)sqlitefile_setup((void **)&file);
        snprintf(p.url, sizeof p.url, "%s", file->path);
    }
    prepare(&p);
    int64_t began_ms = clock_boot_ms();
    start_writers(&p, pids);
    if (p.postgres) {
        foreign = connect_to(
            pgserver_url()); /* another database, and one beside us: both have an id and stay open */
        execute(foreign, "BEGIN; SELECT pg_current_xact_id()");
        beside = connect_to(p.url);
        execute(beside, "BEGIN; SELECT pg_current_xact_id()");
    }
    if (pthread_create(&reader, NULL, read_all, &p) != 0 || pthread_create(&worker, NULL, work_all, &p) != 0)
        die("thread", "not made");
    bool broken = false;
    for (int i = 0; i < p.writers; i++) {
        int status = 0;
        broken = waitpid(pids[i], &status, 0) < 0 || status != 0 || broken;
    }
    if (broken)
        die("writer", "a writer failed");
    int64_t took_ms = clock_boot_ms() - began_ms;
    (void)pthread_join(reader, NULL);
    (void)pthread_join(worker, NULL);
    int code = judge(&p, took_ms);
    PQfinish(foreign);
    PQfinish(beside);
    if (p.postgres)
        pgserver_drop_database(p.url);
    else
        (void)sqlitefile_teardown((void **)&file);
    return code;
}
