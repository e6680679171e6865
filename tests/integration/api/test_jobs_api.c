/* Jobs inside the caller's own transaction on both databases, and the audit: SQL and C hash alike, and what
 * was changed behind its back is named. */
#include <inttypes.h>
#include <sqlite3.h>

#include "base/limits.h"
#include "domain/authority/audit.h"
#include "integration/postgres/postgres_fixture.h"
#include "pawl_jobs.h"
#include "pawl_pg.h"
#include "pawl_run.h"
#include "pawl_sqlite.h"
#include "support/sqlitefile.h"

/* One database, a store on it, and a connection of the application's own. */
struct place {
    struct store *store;
    struct arena *arena;
    PGconn *pg;
    sqlite3 *lite;
    struct fixture *postgres;
    struct sqlitefile *file;
    pawl_uuid instance;
    pawl_error err;
};

static void must(pawl_status status, const pawl_error *err) {
    if (status != PAWL_OK)
        fail_msg("%s: %s", err->op, err->text);
}

static void run(struct place *p, const char *sql) {
    if (p->lite != NULL) {
        if (sqlite3_exec(p->lite, sql, NULL, NULL, NULL) != SQLITE_OK)
            fail_msg("%s: %s", sql, sqlite3_errmsg(p->lite));
        return;
    }
    PGresult *result = PQexec(p->pg, sql);
    if (PQresultStatus(result) != PGRES_COMMAND_OK && PQresultStatus(result) != PGRES_TUPLES_OK)
        fail_msg("%s: %s", sql, PQerrorMessage(p->pg));
    PQclear(result);
}

static void begin(struct place *p) { run(p, p->lite != NULL ? "BEGIN IMMEDIATE" : "BEGIN"); }

static int64_t number(struct place *p, const char *sql) {
    char text[64];
    return strtoll(p->lite != NULL ? sqlitefile_sql(p->file->path, sql, text) : value(p->postgres, sql), NULL,
                   10);
}

static pawl_status enqueue(struct place *p, const pawl_job *job, int64_t *id) {
    return p->lite != NULL ? pawl_enqueue_sqlite(p->lite, job, 1, id, &p->err)
                           : pawl_enqueue_pg(p->pg, NULL, job, 1, id, &p->err);
}

static pawl_status finish(struct place *p, const struct job *job) {
    pawl_message message = {.kind = PAWL_JOB, .seq = job->id, .token = job->token};
    return p->lite != NULL ? pawl_finish_sqlite(p->lite, &message, &p->err)
                           : pawl_finish_pg(p->pg, NULL, &message, &p->err);
}

static void open_place(struct place *p, struct store *store) {
    struct instance_grant grant;
    p->store = store;
    p->arena = arena_create(0);
    assert_non_null(p->arena);
    must(uuid_next(&p->instance, &p->err), &p->err);
    struct instance_new in = {
        .id = p->instance, .service = STR("test"), .kinds = KIND_BIT_JOBS, .lease_ms = 60000};
    must(store->ops->core.instance_register(store, &in, &grant, &p->err), &p->err);
    run(p, "CREATE TABLE effect (job bigint)");
}

static struct place on_postgres(struct fixture *f) {
    struct place p = {.postgres = f, .pg = PQconnectdb(f->url)};
    open_place(&p, store_made(f, "pawl"));
    return p;
}

static struct place on_sqlite(struct sqlitefile *file) {
    struct place p = {.file = file};
    sqlitefile_migrate(file->path);
    assert_int_equal(sqlite3_open(file->path, &p.lite), SQLITE_OK);
    open_place(&p, sqlitefile_open(file->path));
    return p;
}

static void close_place(struct place *p) {
    store_close(p->store);
    arena_free(p->arena);
    PQfinish(p->pg);
    sqlite3_close(p->lite);
}

static struct job_list claim(struct place *p, int max) {
    struct job_list jobs;
    struct jobs_claim in = {.instance = p->instance, .max = max, .lease_ms = 60000};
    must(p->store->ops->jobs->claim(p->store, &in, p->arena, &jobs, &p->err), &p->err);
    return jobs;
}

static void inside(struct place *p) {
    int64_t id = 0;
    pawl_job job = {.type = STR("bill"), .payload = STR("{\"n\":1}"), .audit = true};
    assert_int_equal(enqueue(p, &job, &id), PAWL_INVALID); /* no transaction */
    begin(p);
    must(enqueue(p, &job, &id), &p->err);
    run(p, "ROLLBACK");
    assert_int_equal(claim(p, 10).count, 0);

    begin(p);
    must(enqueue(p, &job, &id), &p->err);
    run(p, "COMMIT");
    struct job_list jobs = claim(p, 10);
    assert_int_equal(jobs.count, 1);
    assert_int_equal(jobs.jobs[0].id, id);

    begin(p);
    run(p, "INSERT INTO effect VALUES (1)");
    must(finish(p, &jobs.jobs[0]), &p->err);
    run(p, "ROLLBACK");
    assert_int_equal(number(p, "SELECT count(*) FROM effect"), 0);

    begin(p);
    run(p, "INSERT INTO effect VALUES (1)");
    must(finish(p, &jobs.jobs[0]), &p->err);
    run(p, "COMMIT");
    assert_int_equal(number(p, "SELECT count(*) FROM effect"), 1);

    /* A second time the grant is over, and the effect goes with the transaction. */
    begin(p);
    run(p, "INSERT INTO effect VALUES (2)");
    assert_int_equal(finish(p, &jobs.jobs[0]), PAWL_STALE);
    if (p->pg != NULL)
        run(p, "ROLLBACK");
    assert_int_equal(number(p, "SELECT count(*) FROM effect"), 1);

    /* The worker reports it as well: no harm. */
    struct finish_item item = {.ref = {jobs.jobs[0].token, id}, .outcome = JOB_COMPLETE};
    struct jobs_finish in = {.instance = p->instance, .items = &item, .count = 1};
    struct finish_result result;
    must(p->store->ops->jobs->finish(p->store, &in, p->arena, &result, &p->err), &p->err);
    assert_int_equal(result.answers[0], ANSWER_DUPLICATE);
    struct task_run_list runs;
    must(p->store->ops->jobs->runs(p->store, &(struct run_filter){.limit = 10}, p->arena, &runs, &p->err),
         &p->err);
    assert_int_equal(runs.count, 1);
    assert_int_equal(runs.runs[0].outcome, RUN_SUCCEEDED);

    begin(p);
    job = (pawl_job){.task = STR("nobody"), .payload = STR("{}")};
    assert_int_equal(enqueue(p, &job, &id), PAWL_NOT_FOUND);
    run(p, "ROLLBACK");
}

/* Four executions of all kinds in two blocks, an anchor after each. */
static struct audit_head executions(struct place *p) {
    struct job_new new[4];
    struct enqueue_result made;
    struct audit_head head = {0};
    for (int i = 0; i < 4; i++)
        new[i] = (struct job_new){.type = STR("b\xc3\xa4h|"), .flags = JOB_AUDIT, .max_attempts = 1};
    struct jobs_enqueue put = {.jobs = new, .count = 4};
    must(p->store->ops->jobs->enqueue(p->store, &put, p->arena, &made, &p->err), &p->err);
    for (int half = 0; half < 2; half++) {
        struct job_list jobs = claim(p, 2);
        assert_int_equal(jobs.count, 2);
        struct finish_item items[2] = {{.ref = {jobs.jobs[0].token, jobs.jobs[0].id},
                                        .outcome = JOB_COMPLETE,
                                        .duration_ms = 12,
                                        .output = STR("{\"sum\": 3, \"text\": \"\xc3\xa9|\"}"),
                                        .steps = half == 0 ? STR("[{\"id\":\"s\"}]") : (pawl_str){NULL, 0},
                                        .input_hash = STR("aa"),
                                        .output_hash = STR("bb")},
                                       {.ref = {jobs.jobs[1].token, jobs.jobs[1].id},
                                        .outcome = JOB_FAIL,
                                        .error_class = CLASS_RETRYABLE,
                                        .error = STR("no | \xe2\x82\xac")}};
        struct jobs_finish in = {.instance = p->instance, .items = items, .count = 2};
        struct finish_result result;
        must(p->store->ops->jobs->finish(p->store, &in, p->arena, &result, &p->err), &p->err);
        must(p->store->ops->jobs->audit_anchor(p->store, 0, &head, &p->err), &p->err);
        assert_int_equal(head.number, half + 1);
    }
    return head;
}

/* "" = none. */
static const char *fault(struct place *p, pawl_str head) {
    struct audit_report report;
    must(p->store->ops->jobs->audit_verify(p->store, head, p->arena, &report, &p->err), &p->err);
    assert_int_equal(report.sound, str_absent(report.fault));
    return report.sound ? "" : arena_printf(p->arena, "%.*s", STR_ARG(report.fault));
}

/* The same text in both dialects: a table is named with @ before it. */
static void run_here(struct place *p, const char *sql) {
    struct buf text;
    buf_init(&text, 0);
    for (; *sql != '\0'; sql++) {
        if (*sql != '@')
            buf_append_char(&text, *sql);
        else
            buf_append_cstr(&text, p->pg != NULL ? "pawl_internal." : "pawl_");
    }
    buf_append_char(&text, '\0');
    run(p, text.ptr);
    buf_free(&text);
}

static const char *const audit_tables[] = {"task_run", "audit_block", "audit_chain", "audit_anchor",
                                           "audit_anchor_head"};
enum { AUDIT_TABLES = sizeof audit_tables / sizeof *audit_tables };

static void keep_audit(struct place *p) {
    for (int i = 0; i < AUDIT_TABLES; i++)
        run_here(p, arena_printf(p->arena, "CREATE TABLE kept_%s AS SELECT * FROM @%s", audit_tables[i],
                                 audit_tables[i]));
}

static void restore_audit(struct place *p) {
    for (int i = 0; i < AUDIT_TABLES; i++)
        run_here(p, arena_printf(p->arena, "DELETE FROM @%s; INSERT INTO @%s SELECT * FROM kept_%s",
                                 audit_tables[i], audit_tables[i], audit_tables[i]));
}

#define NEWEST "(SELECT max(id) FROM @audit_block)"
#define SECOND_OF "SELECT max(id) FROM @task_run"

/* Tampering by someone who may write to the tables, and what is detected. */
static const struct attack {
    const char *sql;
    bool sweep;           /* retention runs after it */
    const char *expected; /* without an anchor from outside; "" = nothing is found */
    const char *outside;  /* with one; NULL = the same */
} attacks[] = {
    {"SELECT 1", false, "", NULL},
    {"SELECT 1", true, "", NULL},
    {"DELETE FROM @task_run WHERE id = (SELECT min(id) FROM @task_run)", false,
     "removed before its time: place 0 of block 1", NULL},
    {"DELETE FROM @task_run WHERE id = (" SECOND_OF ")", false, "removed before its time: place 1 of block 2",
     NULL},
    {"DELETE FROM @task_run", false, "removed before its time", NULL},
    {"UPDATE @task_run SET error = 'fine' WHERE id = (" SECOND_OF ")", false, "was changed", NULL},
    {"UPDATE @task_run SET expires_ms = 1 WHERE id = (" SECOND_OF ")", false, "was changed", NULL},
    {"UPDATE @task_run SET expires_ms = 1", true, "removed before its time", NULL},
    {"UPDATE @task_run SET place = 1 - place", false, "is not in its block", NULL},
    {"UPDATE @task_run SET place = -1 WHERE id = (" SECOND_OF ")", false, "is not in its block", NULL},
    {"UPDATE @task_run SET id = id + 1000 WHERE id = (" SECOND_OF ")", false, "was changed", NULL},
    {"UPDATE @audit_block SET number = 5 - number; UPDATE @audit_block SET number = number - 2", false,
     "block 1", NULL},
    {"UPDATE @audit_block SET made_ms = made_ms + 1 WHERE number = 1", false, "block 1", NULL},
    {"DELETE FROM @audit_block WHERE number = 1", false, "task_run", NULL},
    {"DELETE FROM @task_run WHERE block = " NEWEST "; DELETE FROM @audit_block WHERE id = " NEWEST, false,
     "the last block of", NULL},
    {"DELETE FROM @task_run WHERE block = " NEWEST "; DELETE FROM @audit_block WHERE id = " NEWEST
     "; UPDATE @audit_chain SET number = 1, hash = (SELECT hash FROM @audit_block)",
     false, "which anchor 2 names", NULL},
    {"DELETE FROM @task_run; DELETE FROM @audit_block", false, "the last block of", NULL},
    {"DELETE FROM @audit_chain", false, "the last block of", NULL},
    {"DELETE FROM @task_run; DELETE FROM @audit_block; DELETE FROM @audit_chain", false,
     "which anchor 1 names", NULL},
    {"DELETE FROM @audit_anchor WHERE number = 1", false, "anchor 2 does not follow", NULL},
    {"DELETE FROM @audit_anchor WHERE number = 2", false, "anchor 2 is missing", NULL},
    {"DELETE FROM @audit_anchor_head WHERE anchor = 2", false, "anchor 2 was changed", NULL},
    {"DELETE FROM @task_run WHERE block = " NEWEST "; DELETE FROM @audit_block WHERE id = " NEWEST
     "; UPDATE @audit_chain SET number = 1, hash = (SELECT hash FROM @audit_block)"
     "; DELETE FROM @audit_anchor WHERE number = 2; DELETE FROM @audit_anchor_head WHERE anchor = 2",
     false, "", "no anchor has the hash"},
    {"DELETE FROM @task_run; DELETE FROM @audit_block; DELETE FROM @audit_chain; DELETE FROM @audit_anchor; "
     "DELETE FROM @audit_anchor_head",
     false, "", "no anchor has the hash"},
};

/* Someone who knows the functions rewrites the newest block without its last row; the head follows. */
static const char rewrite_postgres[] =
    "DELETE FROM pawl_internal.task_run WHERE id = (SELECT max(id) FROM pawl_internal.task_run);"
    "UPDATE pawl_internal.audit_block SET rows = 1, entries = substr(entries, 1, 40),"
    " hash = pawl_internal.audit_block_hash(previous, chain, number, id, made_ms, substr(entries, 1, 40)) "
    "WHERE "
    "number = 2;"
    "UPDATE pawl_internal.audit_chain c SET hash = b.hash FROM pawl_internal.audit_block b WHERE b.chain = "
    "c.chain AND "
    "b.number = 2";

static void expect_fault(struct place *p, const char *after, pawl_str head, const char *expected) {
    const char *found = fault(p, head);
    if (found == NULL || (expected[0] == '\0' ? found[0] != '\0' : strstr(found, expected) == NULL))
        fail_msg("after %s: '%s' instead of '%s'", after, found, expected);
}

static void hashes_and_tampering(struct place *p) {
    struct task_run_list runs;
    struct audit_head head = executions(p), again;
    pawl_str outside = str_from(head.hash), none = {NULL, 0};
    must(p->store->ops->jobs->runs(p->store, &(struct run_filter){.limit = 10}, p->arena, &runs, &p->err),
         &p->err);
    assert_int_equal(runs.count, 4);
    for (size_t i = 0; i < runs.count; i++) {
        const struct task_run *r = &runs.runs[i];
        struct audit_run row = {r->id,
                                r->job_id,
                                r->task,
                                r->type,
                                r->queue,
                                r->attempt,
                                r->instance,
                                r->token,
                                r->started_ms,
                                r->finished_ms,
                                (int)r->outcome,
                                r->input_hash,
                                r->output_hash,
                                r->output,
                                r->error,
                                r->steps,
                                r->finished_ms + PAWL_RUN_RETENTION_MS_DEFAULT};
        uint8_t hash[SHA256_BYTES];
        char hex[SHA256_TEXT_BYTES];
        must(audit_run_hash(&row, hash, &p->err), &p->err);
        sha256_text(hash, hex);
        assert_string_equal(r->hash.ptr, hex);
    }
    must(p->store->ops->jobs->audit_head(p->store, &again, &p->err), &p->err);
    assert_string_equal(again.hash, head.hash);
    keep_audit(p);
    for (size_t i = 0; i < sizeof attacks / sizeof *attacks; i++) {
        struct jobs_maintain_result swept;
        run_here(p, attacks[i].sql);
        if (attacks[i].sweep)
            must(p->store->ops->jobs->maintain(p->store, 100, &swept, &p->err), &p->err);
        expect_fault(p, attacks[i].sql, none, attacks[i].expected);
        expect_fault(p, attacks[i].sql, outside,
                     attacks[i].outside != NULL ? attacks[i].outside : attacks[i].expected);
        restore_audit(p);
    }
    if (p->pg != NULL) {
        run(p, rewrite_postgres);
        expect_fault(p, "a block written anew", none, "which anchor 2 names");
        restore_audit(p);
    }
    expect_fault(p, "everything restored", outside, "");
    struct audit_report report;
    assert_int_equal(p->store->ops->jobs->audit_verify(p->store, STR("abc"), p->arena, &report, &p->err),
                     PAWL_INVALID);
}

/* covers: J07 B4.4 B4.5 */
static void jobs_inside_a_transaction_postgres(void **state) {
    struct place p = on_postgres(*state);
    inside(&p);
    close_place(&p);
}

/* covers: J07 B4.4 B4.5 */
static void jobs_inside_a_transaction_sqlite(void **state) {
    struct place p = on_sqlite(*state);
    inside(&p);
    close_place(&p);
}

/* covers: J49 */
static void a_changed_audit_is_named_postgres(void **state) {
    struct place p = on_postgres(*state);
    hashes_and_tampering(&p);
    close_place(&p);
}

/* covers: J49 */
static void a_changed_audit_is_named_sqlite(void **state) {
    struct place p = on_sqlite(*state);
    hashes_and_tampering(&p);
    close_place(&p);
}

/* What could never run is not taken: a deadline that is over, a pipeline that cannot be read, a run whose
 * templates find nothing. */
static void what_never_runs(const char *url) {
    pawl_store_config config = {.url = url};
    pawl_store *store = NULL;
    pawl_error err = {0};
    must(pawl_migrate(&config, &err), &err);
    must(pawl_open(&config, &store, &err), &err);
    pawl_job late = {.type = STR("x"), .deadline_ms = 1577836800000};
    assert_int_equal(pawl_enqueue(store, &late, 1, uuid_nil(), NULL, &err), PAWL_INVALID);
    assert_non_null(strstr(err.text, "never start"));
    pawl_job empty = {.type = STR("pawl.pipeline"), .payload = STR("{}")};
    assert_int_equal(pawl_enqueue(store, &empty, 1, uuid_nil(), NULL, &err), PAWL_INVALID);
    pawl_run_config run = {.document = STR("{\"name\":\"x\",\"partitions\":[\"a\"],\"page\":{\"uses\":\"t\","
                                           "\"with\":{\"x\":\"${params.no}\"}}}")};
    assert_int_equal(pawl_run_start(store, &run, NULL, &err), PAWL_INVALID);
    assert_non_null(strstr(err.text, "does not exist in the parameters"));
    pawl_close(store);
}

static void what_never_runs_is_refused_sqlite(void **state) {
    struct sqlitefile *file = *state;
    what_never_runs(file->path);
}

static void what_never_runs_is_refused_postgres(void **state) {
    struct fixture *f = *state;
    what_never_runs(f->url);
}

int main(void) {
    const struct CMUnitTest on_a_file[] = {
        cmocka_unit_test_setup_teardown(jobs_inside_a_transaction_sqlite, sqlitefile_setup,
                                        sqlitefile_teardown),
        cmocka_unit_test_setup_teardown(a_changed_audit_is_named_sqlite, sqlitefile_setup,
                                        sqlitefile_teardown),
        cmocka_unit_test_setup_teardown(what_never_runs_is_refused_sqlite, sqlitefile_setup,
                                        sqlitefile_teardown),
    };
    const struct CMUnitTest on_a_server[] = {
        cmocka_unit_test_setup_teardown(jobs_inside_a_transaction_postgres, fixture_setup, fixture_teardown),
        cmocka_unit_test_setup_teardown(a_changed_audit_is_named_postgres, fixture_setup, fixture_teardown),
        cmocka_unit_test_setup_teardown(what_never_runs_is_refused_postgres, fixture_setup, fixture_teardown),
    };
    int failed = cmocka_run_group_tests_name("jobs in a file", on_a_file, NULL, NULL);
    if (pgserver_url() == NULL)
        return failed != 0 ? failed : PGSERVER_SKIP;
    return failed + cmocka_run_group_tests_name("jobs on a server", on_a_server, NULL, NULL);
}
