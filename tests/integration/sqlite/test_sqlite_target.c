/* Items of a run in a user's own SQLite table, stored in the page's transaction. */
#include "support/check.h"

#include <string.h>

#include "base/str.h"
#include "support/sqlitefile.h"

static void must(pawl_status status, const pawl_error *err) {
    if (status != PAWL_OK)
        fail_msg("%s: %s", err->op, err->text);
}

static void items_go_into_a_users_table(void **state) {
    const struct sqlitefile *file = *state;
    struct arena *arena = arena_create(0);
    struct job_list jobs;
    struct run_started started;
    struct page_result done;
    struct instance_grant grant;
    pawl_error err;
    char text[64];
    sqlitefile_migrate(file->path);
    (void)sqlitefile_sql(file->path, "CREATE TABLE shelf (sku TEXT PRIMARY KEY, body TEXT)", text);
    struct store *store = sqlitefile_open(file->path);
    struct run_target target = {
        .name = STR("shelf"),
        .sql =
            STR("INSERT INTO shelf SELECT value ->> 'key', value -> 'payload' FROM json_each(?1) WHERE true "
                "ON CONFLICT (sku) DO UPDATE SET body = excluded.body")};
    must(store->ops->runs->target_put(store, &target, &err), &err);
    struct partition_new part = {.name = STR("a"), .total = -1};
    struct run_start run = {
        .name = STR("import"), .type = STR("page"), .target = STR("shelf"), .partitions = &part, .count = 1};
    must(store->ops->runs->start(store, &run, &started, &err), &err);
    struct instance_new worker = {.id = sqlitefile_id(1), .service = STR("s"), .kinds = KIND_BIT_JOBS};
    must(store->ops->core.instance_register(store, &worker, &grant, &err), &err);
    struct jobs_claim claim = {.instance = worker.id, .max = 1, .lease_ms = 60000};
    must(store->ops->jobs->claim(store, &claim, arena, &jobs, &err), &err);
    struct run_item items[] = {{STR("x"), STR("{\"n\":1}")}, {STR("x"), STR("{\"n\":2}")}};
    struct page_commit page = {
        .ref = {.instance = worker.id, .job = {jobs.jobs[0].token, jobs.jobs[0].id}, .run = started.id},
        .items = items,
        .count = 2,
        .more = MORE_NO};
    must(store->ops->runs->page_commit(store, &page, arena, &done, &err), &err);
    assert_int_equal(done.outcome, PAGE_FINISHED);
    assert_string_equal(sqlitefile_sql(file->path, "SELECT group_concat(sku || body) FROM shelf", text),
                        "x{\"n\":2}");
    assert_string_equal(sqlitefile_sql(file->path, "SELECT count(*) FROM pawl_run_item", text), "0");
    sqlitefile_check(store);
    store_close(store);
    arena_free(arena);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(items_go_into_a_users_table, sqlitefile_setup, sqlitefile_teardown)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
