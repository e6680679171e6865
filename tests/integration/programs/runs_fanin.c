/* Runs under fire: every page is delivered up to five times and workers are killed again and again; each run
 * must consolidate exactly once, and its items must be those of the source.
 *
 * Usage: runs_fanin postgres|sqlite [RUNS [PARTITIONS [WORKERS [KILL_EVERY_MS]]]]
 */
#include <inttypes.h>
#include <libpq-fe.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/str.h"
#include "base/time/clock.h"
#include "base/uuid.h"
#include "store/store.h"
#include "support/pgserver.h"
#include "support/sqlitefile.h"

enum {
    PAGE_SIZE = 2,
    ITEMS_MAX = 2, /* of a partition */
    COPIES_MAX = 4,
    COPY_PERCENT = 20,
    LEASE_MS = 3000,
    BATCH = 20,
    WORKERS_MAX = 16,
    PARTITIONS_MAX = 64,
    DEADLINE_MS = 3600000
};

struct proof {
    bool postgres;
    char url[PGSERVER_URL_BYTES];
    int runs, partitions, workers, kill_ms;
    pid_t pids[WORKERS_MAX];
    int64_t kills;
    unsigned hired;
};

static void die(const char *what, const char *why) {
    fprintf(stderr, "%s: %s\n", what, why);
    _exit(1);
}

static void must(pawl_status status, const char *what, const pawl_error *err) {
    if (status != PAWL_OK)
        die(what, err->text);
}

static void pause_ms(int ms) {
    struct timespec wait = {.tv_sec = ms / 1000, .tv_nsec = (long)(ms % 1000) * 1000000};
    (void)nanosleep(&wait, NULL);
}

/* The source: how many records partition part of run number n has. */
static int source_count(int64_t n, int part) { return (int)((n * 7 + part * 5) % (ITEMS_MAX + 1)); }

static struct store *open_store(const struct proof *p) {
    struct store_config config = {
        .url = p->url, .durability = DURABILITY_NORMAL, .statement_timeout_ms = 120000};
    struct store *store = NULL;
    pawl_error err;
    must(store_open(&config, &store, &err), "open", &err);
    return store;
}

/* ---- A worker, killed at any moment */

struct worker {
    const struct proof *proof;
    struct store *store;
    struct arena *arena;
    PGconn *conn; /* for the effect of a consolidation; NULL on SQLite */
    pawl_uuid id;
    unsigned seed;
};

/* Busy and unavailable are everyday things here: tried again. */
static bool again(pawl_status status, const pawl_error *err) {
    if (status == PAWL_OK)
        return false;
    if (status != PAWL_BUSY && status != PAWL_UNAVAILABLE && status != PAWL_UNKNOWN && status != PAWL_STALE)
        die("worker", err->text);
    return true;
}

/* The same page once more, up to four times. */
static void copy_page(struct worker *w, const struct job *job) {
    struct job_new copies[COPIES_MAX];
    struct jobs_enqueue in = {.jobs = copies, .count = 1 + (size_t)(rand_r(&w->seed) % COPIES_MAX)};
    struct enqueue_result result;
    pawl_error err;
    for (size_t i = 0; i < in.count; i++)
        copies[i] = (struct job_new){.type = STR("page"), .payload = job->payload};
    (void)again(w->store->ops->jobs->enqueue(w->store, &in, w->arena, &result, &err), &err);
}

static void work_page(struct worker *w, const struct job *job) {
    struct page_commit in = {
        .ref = {.instance = w->id, .job = {job->token, job->id}}, .fetch_ms = 1, .more = MORE_BY_RULE};
    struct run_item items[PAGE_SIZE];
    struct page_result result;
    struct page page;
    pawl_error err;
    int64_t offset = 0, n = 0;
    if (sscanf(job->payload.ptr,
               "{\"run\":%" SCNd64 ",\"part\":%d,\"generation\":%d,\"page\":%" SCNd64 ",\"offset\":%" SCNd64,
               &in.ref.run, &in.ref.part, &in.ref.generation, &in.ref.page, &offset) != 5)
        die("payload", job->payload.ptr);
    if ((job->flags & JOB_RUN) != 0 && rand_r(&w->seed) % 100 < COPY_PERCENT)
        copy_page(w, job);
    if (rand_r(&w->seed) % 2 == 0) { /* half of them look first */
        if (again(w->store->ops->runs->page_begin(w->store, &in.ref, w->arena, &page, &err), &err) ||
            page.answer != ANSWER_APPLIED || page.outcome == PAGE_SKIPPED)
            return;
    }
    n = in.ref.run;
    for (int i = (int)offset; i < source_count(n, in.ref.part) && in.count < PAGE_SIZE; i++)
        items[in.count++] =
            (struct run_item){str_from(arena_printf(w->arena, "%02d-%d", in.ref.part, i)),
                              str_from(arena_printf(w->arena, "{\"run\":%" PRId64 ",\"n\":%d}", n, i))};
    in.items = items;
    (void)again(w->store->ops->runs->page_commit(w->store, &in, w->arena, &result, &err), &err);
}

/* The consolidation's effect and its end are one transaction where the user has one. */
static void consolidate(struct worker *w, const struct job *job) {
    pawl_error err;
    int64_t run = 0;
    if (sscanf(job->payload.ptr, "{\"run\":%" SCNd64, &run) != 1)
        die("payload", job->payload.ptr);
    if (w->conn != NULL) {
        char id[UUID_TEXT_BYTES];
        PGresult *result = PQexec(w->conn, arena_printf(w->arena,
                                                        "BEGIN; INSERT INTO effect VALUES (%" PRId64
                                                        "); SELECT pawl_internal.job_complete("
                                                        "'%s', %" PRId64 ", %" PRId64 "); COMMIT",
                                                        run, uuid_format(w->id, id), job->token, job->id));
        if (PQresultStatus(result) != PGRES_COMMAND_OK)
            PQclear(PQexec(w->conn, "ROLLBACK")); /* the grant is over: somebody else does it */
        PQclear(result);
        return;
    }
    struct finish_item item = {.ref = {job->token, job->id}, .outcome = JOB_COMPLETE};
    struct jobs_finish in = {.instance = w->id, .items = &item, .count = 1};
    struct finish_result result;
    (void)again(w->store->ops->jobs->finish(w->store, &in, w->arena, &result, &err), &err);
}

static void join_fleet(struct worker *w) {
    struct instance_grant grant;
    pawl_error err;
    must(uuid_next(&w->id, &err), "uuid", &err);
    struct instance_new in = {
        .id = w->id, .service = STR("fanin"), .kinds = KIND_BIT_JOBS, .lease_ms = LEASE_MS};
    while (again(w->store->ops->core.instance_register(w->store, &in, &grant, &err), &err))
        pause_ms(20);
}

static void work_for_ever(const struct proof *p, unsigned seed) {
    struct worker w = {
        .proof = p, .store = open_store(p), .arena = arena_create(0), .seed = seed * 7919 + 17};
    if (p->postgres)
        w.conn = PQconnectdb(p->url);
    join_fleet(&w);
    for (;;) {
        struct jobs_claim claim = {.instance = w.id, .max = BATCH, .lease_ms = LEASE_MS};
        struct job_list list = {0};
        struct beat_result beat;
        pawl_error err;
        arena_reset(w.arena);
        pawl_status status = w.store->ops->core.heartbeat(w.store, w.id, -1, &beat, &err);
        if (status == PAWL_STALE)
            join_fleet(&w);
        if (again(status, &err) ||
            again(w.store->ops->jobs->claim(w.store, &claim, w.arena, &list, &err), &err))
            continue;
        for (size_t i = 0; i < list.count; i++) {
            if (str_equal(list.jobs[i].type, STR("page")))
                work_page(&w, &list.jobs[i]);
            else
                consolidate(&w, &list.jobs[i]);
        }
        if (list.count == 0)
            pause_ms(20);
    }
}

static void hire(struct proof *p, int place) {
    unsigned seed = ++p->hired;
    pid_t parent = getpid();
    pid_t pid = fork();
    if (pid < 0)
        die("fork", "failed");
    if (pid == 0) {
        (void)prctl(PR_SET_PDEATHSIG, SIGKILL);
        if (getppid() != parent)
            _exit(1);
        work_for_ever(p, seed);
    }
    p->pids[place] = pid;
}

static void kill_one(struct proof *p, int place) {
    int status = 0;
    (void)kill(p->pids[place], SIGKILL);
    (void)waitpid(p->pids[place], &status, 0);
    if (!WIFSIGNALED(status))
        die("a worker", "ended by itself");
    p->kills++;
}

/* ---- The one who starts, kills and looks */

static void start_one(const struct proof *p, struct store *store, int n) {
    struct partition_new parts[PARTITIONS_MAX];
    char names[PARTITIONS_MAX][16], key[32];
    struct run_started out;
    pawl_error err;
    for (int i = 0; i < p->partitions; i++) {
        (void)snprintf(names[i], sizeof names[i], "p%d", i);
        parts[i] = (struct partition_new){.name = str_from(names[i]), .total = -1};
    }
    (void)snprintf(key, sizeof key, "run %d", n);
    struct run_start in = {.name = STR("fanin"),
                           .key = str_from(key),
                           .type = STR("page"),
                           .consolidate = STR("consolidate"),
                           .page_size = PAGE_SIZE,
                           .max_attempts = 1000,
                           .end = END_SHORT_PAGE,
                           .partitions = parts,
                           .count = (size_t)p->partitions};
    pawl_status status = PAWL_BUSY;
    while (status != PAWL_OK) { /* an unknown outcome is asked for again: the key makes it one run */
        status = store->ops->runs->start(store, &in, &out, &err);
        (void)again(status, &err);
    }
}

static int64_t open_runs(struct store *store, struct arena *arena) {
    struct run_list list;
    pawl_error err;
    arena_reset(arena);
    must(store->ops->runs->runs(store, &(struct runs_filter){.open = true, .limit = 1}, arena, &list, &err),
         "runs", &err);
    return (int64_t)list.count;
}

struct verdict {
    int64_t runs, lost, doubled, items, wrong, deliveries, skipped;
};

static void judge_items(const struct proof *p, struct store *store, const struct run_row *run,
                        struct arena *arena, struct verdict *v) {
    struct stored_items list;
    struct items_filter filter = {.run = run->id, .part = -1, .limit = 5000};
    pawl_error err;
    size_t at = 0;
    must(store->ops->runs->items(store, &filter, arena, &list, &err), "items", &err);
    for (int part = 0; part < p->partitions; part++) {
        for (int i = 0; i < source_count(run->id, part); i++, at++) {
            const char *key = arena_printf(arena, "%02d-%d", part, i);
            const char *payload = arena_printf(arena, "{\"run\":%" PRId64 ",\"n\":%d}", run->id, i);
            v->wrong += at >= list.count || !str_equal_cstr(list.items[at].key, key) ||
                        !str_equal_cstr(list.items[at].payload, payload);
        }
    }
    v->wrong += list.count != at;
    v->wrong += run->items != (int64_t)at; /* counted once each, however often they came */
    v->items += (int64_t)list.count;
}

static void judge(const struct proof *p, struct store *store, struct arena *arena, struct verdict *v) {
    int64_t before = 0;
    pawl_error err;
    for (;;) {
        struct run_list list;
        arena_reset(arena);
        struct runs_filter filter = {.before_id = before, .limit = 500};
        must(store->ops->runs->runs(store, &filter, arena, &list, &err), "runs", &err);
        for (size_t i = 0; i < list.count; i++) {
            const struct run_row *run = &list.runs[i];
            v->runs++;
            v->lost += run->state != RUN_IS_COMPLETED || run->round < 1;
            v->doubled += run->round > 1;
            v->deliveries += run->pages + run->skipped;
            v->skipped += run->skipped;
            judge_items(p, store, run, arena, v);
            before = run->id;
        }
        if (list.count == 0)
            return;
    }
}

/* What the consolidations have left in the user's table. */
static void judge_effects(const struct proof *p, struct verdict *v) {
    PGconn *conn = PQconnectdb(p->url);
    PGresult *result =
        PQexec(conn, "SELECT (SELECT count(*) FROM pawl_internal.run r WHERE NOT EXISTS (SELECT 1 FROM "
                     "effect e WHERE e.run = r.id)), (SELECT count(*) - count(DISTINCT run) "
                     "FROM effect)");
    if (PQresultStatus(result) != PGRES_TUPLES_OK)
        die("effects", PQerrorMessage(conn));
    v->lost += strtoll(PQgetvalue(result, 0, 0), NULL, 10);
    v->doubled += strtoll(PQgetvalue(result, 0, 1), NULL, 10);
    PQclear(result);
    PQfinish(conn);
}

static void open_place(struct proof *p) {
    struct migrate_config migrate = {.partition_count = 100, .lane_count = 4};
    struct migrate_result migrated;
    pawl_error err;
    if (p->postgres && !pgserver_create_database("fanin", p->url))
        die("database", "cannot be made");
    struct store_config config = {.url = p->url};
    must(store_migrate(&config, &migrate, &migrated, &err), "migrate", &err);
    if (!p->postgres)
        return;
    PGconn *conn = PQconnectdb(p->url);
    PGresult *result = PQexec(conn, "CREATE TABLE effect (run bigint NOT NULL)");
    if (PQresultStatus(result) != PGRES_COMMAND_OK)
        die("effect", PQerrorMessage(conn));
    PQclear(result);
    PQfinish(conn);
}

/* Starts the runs and kills until all have ended. */
static void run_all(struct proof *p, struct store *store, struct arena *arena) {
    int64_t begin_ms = clock_boot_ms(), killed_ms = begin_ms;
    unsigned seed = 4711;
    int started = 0;
    while (started < p->runs || open_runs(store, arena) > 0) {
        if (started < p->runs)
            start_one(p, store, started++);
        else
            pause_ms(20);
        if (clock_boot_ms() - killed_ms >= p->kill_ms) {
            int place = (int)((unsigned)rand_r(&seed) % (unsigned)p->workers);
            kill_one(p, place);
            hire(p, place);
            killed_ms = clock_boot_ms();
        }
        if (clock_boot_ms() - begin_ms > DEADLINE_MS)
            die("runs_fanin", "the runs do not end");
    }
}

static bool prove(struct proof *p) {
    struct verdict v = {0};
    struct violations violations;
    pawl_error err;
    open_place(p);
    for (int i = 0; i < p->workers; i++) /* before the parent has a connection of its own */
        hire(p, i);
    int64_t begin_ms = clock_boot_ms();
    struct store *store = open_store(p);
    struct arena *arena = arena_create(0);
    run_all(p, store, arena);
    int64_t spent_ms = clock_boot_ms() - begin_ms;
    for (int i = 0; i < p->workers; i++)
        kill_one(p, i);
    judge(p, store, arena, &v);
    if (p->postgres)
        judge_effects(p, &v);
    must(store->ops->view.check(store, arena, &violations, &err), "check", &err);
    for (size_t i = 0; i < violations.count; i++)
        printf("# %.*s: %.*s\n", STR_ARG(violations.rows[i].invariant), STR_ARG(violations.rows[i].detail));
    printf("# %s: %" PRId64 " runs of %d partitions in %" PRId64 " ms, %" PRId64 " kills, %" PRId64
           " deliveries of pages (%" PRId64 " skipped), %" PRId64 " items\n",
           p->postgres ? "postgres" : "sqlite", v.runs, p->partitions, spent_ms, p->kills, v.deliveries,
           v.skipped, v.items);
    printf("# consolidations lost %" PRId64 ", doubled %" PRId64 "; items wrong %" PRId64 "\n", v.lost,
           v.doubled, v.wrong);
    printf("figures: {\"runs\": %" PRId64 ", \"pages_delivered\": %" PRId64 ", \"kills_%s\": %" PRId64
           ", \"violations\": %" PRId64 "}\n",
           v.runs, v.deliveries, p->postgres ? "postgres" : "sqlite", p->kills,
           v.lost + v.doubled + v.wrong + (int64_t)violations.count);
    arena_free(arena);
    store_close(store);
    if (p->postgres)
        pgserver_drop_database(p->url);
    return v.runs == p->runs && v.lost == 0 && v.doubled == 0 && v.wrong == 0 && v.skipped > 0 &&
           violations.count == 0;
}

int main(int argc, char **argv) {
    struct proof p = {.postgres = argc > 1 && strcmp(argv[1], "postgres") == 0,
                      .runs = argc > 2 ? atoi(argv[2]) : 40,
                      .partitions = argc > 3 ? atoi(argv[3]) : 8,
                      .workers = argc > 4 ? atoi(argv[4]) : 3,
                      .kill_ms = argc > 5 ? atoi(argv[5]) : 500};
    struct sqlitefile *file = NULL;
    if (argc < 2 || p.runs < 1 || p.partitions < 1 || p.partitions > PARTITIONS_MAX || p.workers < 1 ||
        p.workers > WORKERS_MAX || p.kill_ms < 1) {
        fprintf(stderr, "usage: %s postgres|sqlite [RUNS [PARTITIONS [WORKERS [KILL_EVERY_MS]]]]\n", argv[0]);
        return 2;
    }
    setvbuf(stdout, NULL, _IOLBF, 0);
    if (p.postgres && pgserver_url() == NULL)
        return PGSERVER_SKIP;
    if (!p.postgres) {
        (void)sqlitefile_setup((void **)&file);
        (void)snprintf(p.url, sizeof p.url, "%s", file->path);
    }
    printf("1..1\n");
    bool right = prove(&p);
    if (file != NULL)
        (void)sqlitefile_teardown((void **)&file);
    printf("%s 1 - runs consolidate once, whatever is delivered twice and whoever is killed\n",
           right ? "ok" : "not ok");
    return right ? 0 : 1;
}
