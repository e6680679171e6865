/* The work batch through the public API alone, on both databases. */
#include "support/check.h"

#include <stdio.h>
#include <string.h>

#include "base/str.h"
#include "base/uuid.h"
#include "pawl_batch.h"
#include "pawl_events.h"
#include "support/pgserver.h"
#include "support/sqlitefile.h"

static pawl_uuid fresh(void) {
    pawl_uuid id;
    pawl_error err;
    assert_int_equal(uuid_next(&id, &err), PAWL_OK);
    return id;
}

static void fill(pawl_batch *batch, pawl_uuid instance) {
    memset(batch, 0, sizeof(*batch));
    batch->instance = instance;
    batch->service = "orders";
    batch->lease_ms = 60000;
}

static pawl_batch_result process(pawl_store *store, const pawl_batch *batch) {
    pawl_batch_result result = {0};
    pawl_error err = {0};
    pawl_status status = pawl_process_work_batch(store, batch, &result, &err);
    if (status != PAWL_OK)
        fail_msg("%s: %s", pawl_status_name(status), err.text);
    return result;
}

/* A read model is driven to its head by batches alone; what it was granted is not asked for twice.
 * covers: W10 W22 W28 P54 B0.10 */
static void drive(pawl_store *store, const char *directory) {
    char path[600];
    pawl_error err = {0};
    int count = 0;
    snprintf(path, sizeof(path), "%s/totals.yaml", directory);
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    assert_true(fputs("name: totals\non: [order.placed]\nfunction: true\n", file) >= 0 && fclose(file) == 0);
    assert_int_equal(pawl_perspectives_register(store, path, &count, &err), PAWL_OK);
    pawl_event events[2] = {{.type = STR("order.placed"), .payload = STR("{}")},
                            {.type = STR("order.placed"), .payload = STR("{}")}};
    assert_int_equal(pawl_append(store, STR("order-8"), PAWL_NO_STREAM, events, 2, NULL, &err), PAWL_OK);
    pawl_batch batch;
    fill(&batch, fresh());
    batch.perspective_max = 10;
    pawl_batch_result first = process(store, &batch);
    assert_int_equal(first.perspective_work_count, 1);
    pawl_perspective_work work = first.perspective_work[0];
    assert_true(str_equal(work.stream, STR("order-8")) && str_equal(work.perspective, STR("totals@1")));
    assert_int_equal(work.last_version, 0);
    assert_int_equal(work.head_version, 2);
    assert_true(work.lease_until_ms > first.now_ms);
    pawl_perspective_report report = {
        .stream = work.stream, .perspective = work.perspective, .version = 2, .token = work.token + 1};
    pawl_perspective_ref keep = {work.stream, work.perspective, work.token};
    batch.perspectives = &report;
    batch.perspective_count = 1;
    batch.perspective_renewals = &keep;
    batch.perspective_renewal_count = 1;
    pawl_batch_result second = process(store, &batch);
    assert_int_equal(second.perspectives[0], PAWL_ANSWER_STALE);
    assert_int_equal(second.perspective_renewals[0], PAWL_ANSWER_APPLIED);
    assert_int_equal(second.perspective_work_count, 0);
    report.token = work.token;
    pawl_batch_result third = process(store, &batch);
    assert_int_equal(third.perspectives[0], PAWL_ANSWER_APPLIED);
    bool reached = false;
    assert_int_equal(pawl_wait_for(store, STR("totals"), STR("order-8"), 2, 0, &reached, &err), PAWL_OK);
    assert_true(reached);
    pawl_batch_result_free(&third);
    pawl_batch_result_free(&second);
    pawl_batch_result_free(&first);
}

/* Stores three of a stream and claims them in the same call, completes one, fails one: the third waits
 * behind. */
static void walk(const char *url, const char *directory) {
    pawl_store_config config = {.url = url};
    pawl_error err = {0};
    pawl_store *store = NULL;
    assert_int_equal(pawl_migrate(&config, &err), PAWL_OK);
    assert_int_equal(pawl_open(&config, &store, &err), PAWL_OK);

    pawl_uuid instance = fresh();
    pawl_outgoing messages[3];
    memset(messages, 0, sizeof(messages));
    for (size_t i = 0; i < 3; i++) {
        messages[i].stream = STR("order-7");
        messages[i].type = STR("order.placed");
        messages[i].payload = STR("{\"n\": 1}");
    }
    pawl_batch batch;
    fill(&batch, instance);
    batch.outbox.messages = messages;
    batch.outbox.message_count = 3;
    batch.outbox.claim_max = 10;
    batch.request = fresh();
    pawl_batch_result first = process(store, &batch);
    assert_int_equal(first.outbox.claimed_count, 3);
    assert_true(first.outbox.lane_count > 0 && first.inbox.lane_count > 0);
    assert_int_equal(first.outbox.messages[2], PAWL_ANSWER_APPLIED);
    assert_true(first.lease_until_ms > first.now_ms);
    for (size_t i = 0; i < 3; i++)
        assert_true(uuid_equal(first.outbox.claimed[i].id, first.outbox.message_ids[i]));

    /* The same request again: nothing is stored twice, the same claim comes back. */
    pawl_batch_result again = process(store, &batch);
    assert_int_equal(again.outbox.messages[0], PAWL_ANSWER_DUPLICATE);
    assert_int_equal(again.outbox.claimed_count, 3);
    assert_int_equal(again.outbox.claimed[0].token, first.outbox.claimed[0].token);
    pawl_batch_result_free(&again);

    const pawl_message *claimed = first.outbox.claimed;
    pawl_completion done = {{claimed[0].token, claimed[0].id}, PAWL_STATUS_PUBLISHED};
    pawl_failure failed = {{claimed[1].token, claimed[1].id}, STR("no route"), {0}, true, -1};
    pawl_receptor_report receptor = {claimed[0].id, STR("mailer"), PAWL_STATUS_COMPLETED, {0}};
    pawl_perspective_report perspective = {
        .stream = STR("order-7"), .perspective = STR("totals"), .version = 3, .token = 1};
    fill(&batch, instance);
    batch.outbox.completions = &done;
    batch.outbox.completion_count = 1;
    batch.outbox.failures = &failed;
    batch.outbox.failure_count = 1;
    batch.receptors = &receptor;
    batch.receptor_count = 1;
    batch.perspectives = &perspective;
    batch.perspective_count = 1;
    pawl_batch_result second = process(store, &batch);
    assert_int_equal(second.outbox.completions[0], PAWL_ANSWER_APPLIED);
    assert_int_equal(second.outbox.failures[0], PAWL_ANSWER_APPLIED);
    assert_true(second.outbox.dead[0]);
    assert_int_equal(second.receptors[0], PAWL_ANSWER_APPLIED);
    assert_int_equal(second.perspectives[0], PAWL_ANSWER_NOT_FOUND);

    /* A token that was never granted changes nothing. */
    pawl_completion stale = {{claimed[2].token + 1000, claimed[2].id}, PAWL_STATUS_PUBLISHED};
    fill(&batch, instance);
    batch.outbox.completions = &stale;
    batch.outbox.completion_count = 1;
    pawl_batch_result third = process(store, &batch);
    assert_int_equal(third.outbox.completions[0], PAWL_ANSWER_STALE);

    pawl_batch_result_free(&third);
    pawl_batch_result_free(&second);
    pawl_batch_result_free(&first);
    drive(store, directory);
    pawl_close(store);
}

/* covers: W01 W03 W16 W22 W36 B3.8 */
static void a_batch_on_sqlite_stores_claims_and_reports(void **fixture) {
    struct sqlitefile *file = *fixture;
    walk(file->path, file->dir);
}

/* covers: W01 W03 W16 W22 W36 B3.8 */
static void a_batch_on_postgres_stores_claims_and_reports(void **fixture) {
    struct sqlitefile *file = *fixture; /* its directory */
    char url[PGSERVER_URL_BYTES];
    assert_true(pgserver_create_database("batch_api", url));
    walk(url, file->dir);
    pgserver_drop_database(url);
}

static void a_batch_without_a_service_says_so(void **fixture) {
    struct sqlitefile *file = *fixture;
    pawl_store_config config = {.url = file->path};
    pawl_error err = {0};
    pawl_store *store = NULL;
    assert_int_equal(pawl_migrate(&config, &err), PAWL_OK);
    assert_int_equal(pawl_open(&config, &store, &err), PAWL_OK);
    pawl_batch batch;
    fill(&batch, fresh());
    batch.service = NULL;
    pawl_batch_result result;
    assert_int_equal(pawl_process_work_batch(store, &batch, &result, &err), PAWL_INVALID);
    assert_non_null(strstr(err.text, "service"));
    pawl_close(store);
}

int main(void) {
    if (pgserver_url() == NULL)
        return PGSERVER_SKIP;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_batch_on_sqlite_stores_claims_and_reports, sqlitefile_setup,
                                        sqlitefile_teardown),
        cmocka_unit_test_setup_teardown(a_batch_on_postgres_stores_claims_and_reports, sqlitefile_setup,
                                        sqlitefile_teardown),
        cmocka_unit_test_setup_teardown(a_batch_without_a_service_says_so, sqlitefile_setup,
                                        sqlitefile_teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
