/* Jobs inside the caller's own transaction on both databases, and the audit: SQL and C hash alike, and what
 * was changed behind its back is named. */
#include <inttypes.h>
#include <sqlite3.h>

#include "domain/audit.h"
#include "integration/postgres_fixture.h"
#include "pawl_jobs.h"
#include "pawl_pg.h"
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

/* Four executions of all kinds in two blocks. */
static void executions(struct place *p) {
    struct job_new new[4];
    struct enqueue_result made;
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
    }
}

static const char *fault(struct place *p) {
    struct audit_report report;
    must(p->store->ops->jobs->audit_verify(p->store, p->arena, &report, &p->err), &p->err);
    assert_int_equal(report.sound, str_absent(report.fault));
    return report.sound ? "" : arena_printf(p->arena, "%.*s", STR_ARG(report.fault));
}

/* "" = none. */
static void expect_fault(struct place *p, const char *change, const char *expected) {
    run(p, change);
    const char *found = fault(p);
    if (found == NULL || (expected[0] == '\0' ? found[0] != '\0' : strstr(found, expected) == NULL))
        fail_msg("after %s: '%s' instead of '%s'", change, found, expected);
}

static void hashes_and_tampering(struct place *p) {
    struct task_run_list runs;
    executions(p);
    must(p->store->ops->jobs->runs(p->store, &(struct run_filter){.limit = 10}, p->arena, &runs, &p->err),
         &p->err);
    assert_int_equal(runs.count, 4);
    for (size_t i = 0; i < runs.count; i++) {
        const struct task_run *r = &runs.runs[i];
        struct audit_run row = {r->id,          r->job_id,      r->task,         r->type,
                                r->queue,       r->attempt,     r->instance,     r->token,
                                r->started_ms,  r->finished_ms, (int)r->outcome, r->input_hash,
                                r->output_hash, r->output,      r->error,        r->steps};
        uint8_t hash[SHA256_BYTES];
        char hex[SHA256_BYTES * 2 + 1];
        must(audit_run_hash(&row, hash, &p->err), &p->err);
        for (size_t k = 0; k < SHA256_BYTES; k++)
            snprintf(hex + 2 * k, 3, "%02x", hash[k]);
        assert_string_equal(r->hash.ptr, hex);
    }
    assert_string_equal(fault(p), "");

    bool postgres = p->pg != NULL;
    int64_t last = runs.runs[0].id;
    char sql[400], named[64];
    snprintf(named, sizeof named, "task_run %" PRId64 " was changed", last);
    snprintf(sql, sizeof sql, "UPDATE %stask_run SET error = 'fine' WHERE id = %" PRId64,
             postgres ? "pawl." : "pawl_", last);
    expect_fault(p, sql, named);
    /* Whoever writes a new hash to it as well is found in the block. */
    snprintf(named, sizeof named, "task_run %" PRId64 " is not in its block", last);
    if (postgres) {
        snprintf(sql, sizeof sql,
                 "UPDATE pawl.task_run r SET hash = pawl.run_hash(r.id, r.job, r.task, r.type, r.queue, "
                 "r.attempt, "
                 "r.instance, r.token, r.started_ms, r.finished_ms, r.outcome, r.input_hash, r.output_hash, "
                 "r.output, r.error, r.steps) WHERE r.id = %" PRId64,
                 last);
        expect_fault(p, sql, named);
    }
    /* Without the row the blocks still fit: that is what retention leaves. */
    snprintf(sql, sizeof sql, "DELETE FROM %stask_run WHERE id = %" PRId64, postgres ? "pawl." : "pawl_",
             last);
    expect_fault(p, sql, "");
    expect_fault(
        p,
        postgres ? "UPDATE pawl.audit_block SET hashes = set_byte(hashes, 40, 255 - get_byte(hashes, 40)) "
                   "WHERE number = 2"
                 : "UPDATE pawl_audit_block SET hashes = zeroblob(64) WHERE number = 2",
        postgres ? "block 2" : "task_run");
    expect_fault(p, postgres ? "DELETE FROM pawl.task_run" : "DELETE FROM pawl_task_run", "block 2");
    expect_fault(p,
                 postgres ? "DELETE FROM pawl.audit_block WHERE number = 2"
                          : "DELETE FROM pawl_audit_block WHERE number = 2",
                 "the last block of");
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

int main(void) {
    const struct CMUnitTest on_a_file[] = {
        cmocka_unit_test_setup_teardown(jobs_inside_a_transaction_sqlite, sqlitefile_setup,
                                        sqlitefile_teardown),
        cmocka_unit_test_setup_teardown(a_changed_audit_is_named_sqlite, sqlitefile_setup,
                                        sqlitefile_teardown),
    };
    const struct CMUnitTest on_a_server[] = {
        cmocka_unit_test_setup_teardown(jobs_inside_a_transaction_postgres, fixture_setup, fixture_teardown),
        cmocka_unit_test_setup_teardown(a_changed_audit_is_named_postgres, fixture_setup, fixture_teardown),
    };
    int failed = cmocka_run_group_tests_name("jobs in a file", on_a_file, NULL, NULL);
    if (pgserver_url() == NULL)
        return failed != 0 ? failed : PGSERVER_SKIP;
    return failed + cmocka_run_group_tests_name("jobs on a server", on_a_server, NULL, NULL);
}
