/* process_work_batch, called as another language would: from SQL, with JSON. */
#include <time.h>

#include "integration/postgres/postgres_fixture.h"

#define ME "'01900000-0000-7000-8000-aa0000000001'"

/* One batch as instance ME; `rest` adds named parameters. The answer is the column wanted. */
static const char *batch(struct fixture *f, const char *wanted, const char *rest) {
    char sql[1500];
    snprintf(sql, sizeof sql, "select %s from pawl.process_work_batch(" ME ", 'orders', 'host', 1%s)", wanted,
             rest);
    return value(f, sql);
}

/* The tokens and ids of what is in flight, as a report names them. */
#define IN_FLIGHT(kind, more)                                                                                \
    "(select jsonb_agg(jsonb_build_object('MessageId', id, 'Token', token" more                              \
    ") order by seq) from pawl_internal.message_all "                                                        \
    "where token <> 0 and kind = " kind ")"

static int schema_setup(void **state) {
    if (fixture_setup(state) != 0)
        return -1;
    struct fixture *f = *state;
    store_close(store_made(f, "pawl"));
    return 0;
}

/* covers: W01 W03 W12 W22 W29 W36 W39 W40 P51 P53 P54 */
static void new_messages_can_be_claimed_in_the_same_call(void **state) {
    struct fixture *f = *state;
    assert_string_equal(
        batch(f,
              "jsonb_array_length(claimed_outbox) || ' ' || (claimed_outbox -> 0 ->> 'StreamKey') || ' ' || "
              "(claimed_outbox -> 0 ->> 'Payload') || ' ' || (answers -> 'Outbox' -> 'NewMessages')::text",
              ", p_new_outbox_messages => '[{\"MessageType\": \"OrderCreated\", \"Payload\": \"{\\\"n\\\": "
              "1}\", \"Topic\": "
              "\"orders\", \"StreamKey\": \"c1\", \"PartitionKey\": \"c1\"}, {\"MessageType\": "
              "\"OrderPaid\", \"Payload\": "
              "{\"n\": 2}, \"StreamKey\": \"c1\"}]'"),
        "2 c1 {\"n\": 1} [\"applied\", \"applied\"]");
}

/* covers: W04 W23 W24 W25 W41 B3.1 B3.8 */
static void completions_name_the_token_and_remove_the_message(void **state) {
    struct fixture *f = *state;
    value(f, "select pawl.send('t', '{}', 's')");
    batch(f, "claimed_outbox", "");
    value(f, "create table told as select " IN_FLIGHT("1", ", 'Status', 2") " as done");
    assert_string_equal(
        batch(f, "answers #>> '{Outbox,Completions,0}'", ", p_outbox_completions => (select done from told)"),
        "applied");
    assert_string_equal(value(f, "select count(*) from pawl_internal.live_message"), "0");
    /* Sent again, as after an unknown outcome: it had happened. */
    assert_string_equal(
        batch(f, "answers #>> '{Outbox,Completions,0}'", ", p_outbox_completions => (select done from told)"),
        "duplicate");
    assert_string_equal(
        batch(f, "answers #>> '{Outbox,Completions,0}'",
              ", p_outbox_completions => (select jsonb_set(done, '{0,Token}', '1') from told)"),
        "stale");
}

/* covers: B2.12 M35 BX.3 W25 */
static void a_status_of_zero_completes_nothing(void **state) {
    struct fixture *f = *state;
    value(f, "select pawl.send('t', '{}', 's')");
    batch(f, "claimed_outbox", "");
    assert_string_equal(batch(f, "answers #>> '{Outbox,Completions,0}'",
                              ", p_outbox_completions => " IN_FLIGHT("1", ", 'Status', 0")),
                        "invalid");
    assert_string_equal(value(f, "select count(*) from pawl_internal.live_message"), "1");
    assert_string_equal(
        batch(f, "answers #>> '{Outbox,Releases,0}'", ", p_outbox_releases => " IN_FLIGHT("1", "")),
        "applied");
    assert_string_equal(value(f, "select reason::text || attempts from pawl_internal.aside"), "40");
}

/* covers: W05 W26 */
static void a_failure_is_counted_and_keeps_its_error(void **state) {
    struct fixture *f = *state;
    value(f, "select pawl.send('t', '{}', 's')");
    batch(f, "claimed_outbox", "");
    assert_string_equal(batch(f, "answers #>> '{Outbox,Failures,0}'",
                              ", p_outbox_failures => " IN_FLIGHT(
                                  "1", ", 'Status', 8, 'Error', 'broken', 'StackTrace', 'line 1'")),
                        "applied");
    assert_string_equal(value(f, "select attempts || ' ' || error from pawl_internal.aside"),
                        "1 broken\nline 1");
}

/* covers: W13 W30 W42 M48 M49 B3.4 BX.2 */
static void a_duplicate_inbox_message_is_an_answer_not_an_error(void **state) {
    struct fixture *f = *state;
    const char *twice = ", p_new_inbox_messages => '[{\"MessageId\": "
                        "\"01900000-0000-7000-8000-000000000007\", \"MessageType\": "
                        "\"t\", \"Payload\": {}, \"SourceTopic\": \"orders\"}]'";
    value(f, "select pawl.send('t', '{}', 's')");
    batch(f, "claimed_outbox", "");
    assert_string_equal(batch(f, "answers #>> '{Inbox,NewMessages,0}'", twice), "applied");
    char both[1200];
    snprintf(both, sizeof both, "%s, p_outbox_completions => " IN_FLIGHT("1", ", 'Status', 2"), twice);
    assert_string_equal(
        batch(f, "(answers #>> '{Inbox,NewMessages,0}') || (answers #>> '{Outbox,Completions,0}')", both),
        "duplicateapplied"); /* somebody else's completion is not rolled back */
}

/* covers: W02 */
static void an_error_rolls_everything_back(void **state) {
    struct fixture *f = *state;
    assert_string_equal(
        sqlstate_on(
            f, f->conn,
            "select * from pawl.process_work_batch(" ME ", 'orders', 'host', 1, p_new_outbox_messages => "
            "'[{\"MessageType\": \"t\", \"Payload\": {}}]', p_new_inbox_messages => '[{\"Payload\": {}}]')"),
        "PW001");
    assert_string_equal(value(f,
                              "select (select count(*) from pawl_internal.live_message) + (select count(*) "
                              "from pawl_internal.instance)"),
                        "0");
}

/* covers: W16 W37 */
static void skip_claim_writes_and_claims_nothing(void **state) {
    struct fixture *f = *state;
    assert_string_equal(
        batch(f, "claimed_outbox::text || (answers #>> '{Outbox,NewMessages,0}')",
              ", p_flags => 1, p_new_outbox_messages => '[{\"MessageType\": \"t\", \"Payload\": {}}]'"),
        "[]applied");
}

/* covers: W14 W34 B3.3 */
static void a_renewal_names_the_token(void **state) {
    struct fixture *f = *state;
    value(f, "select pawl.send('t', '{}', 's')");
    batch(f, "claimed_outbox", ", p_lease_seconds => 10");
    assert_string_equal(batch(f, "answers #>> '{Outbox,Renewals,0}'",
                              ", p_lease_seconds => 1000, p_renew_outbox_leases => " IN_FLIGHT("1", "")),
                        "applied");
    assert_string_equal(value(f, "select lease_until_ms > pawl_internal.now_ms() + 900000 from "
                                 "pawl_internal.claim where items > 0"),
                        "t");
    assert_string_equal(sqlstate_on(f, f->conn,
                                    "select * from pawl.process_work_batch(" ME ", 'orders', 'host', 1, "
                                    "p_renew_outbox_leases => '[\"01900000-0000-7000-8000-000000000007\"]')"),
                        "PW001");
}

/* The error for handwritten JSON names the item, the parameter and the missing key. */
static void an_item_without_a_key_is_named(void **state) {
    struct fixture *f = *state;
    static const char *const cases[][2] = {
        {"p_outbox_completions => '[{\"MessageId\": \"01900000-0000-7000-8000-000000000007\", \"Token\": 1, "
         "\"Status\": 2}, {\"MessageId\": \"01900000-0000-7000-8000-000000000007\"}]'",
         "item 2 of p_outbox_completions lacks Token; every item names MessageId, Token"},
        {"p_renew_inbox_leases => '[7]'",
         "item 1 of p_renew_inbox_leases is no object; every item names MessageId, Token"},
        {"p_inbox_failures => '{}'", "p_inbox_failures is a JSON array of objects, or NULL"},
        {"p_perspective_completions => '[{\"StreamId\": \"s\", \"PerspectiveName\": \"totals@1\", \"Token\": "
         "1, "
         "\"LastVersion\": 3}]'",
         "item 1 of p_perspective_completions lacks Version; every item names StreamId, PerspectiveName, "
         "Version"},
        {"p_renew_perspective_leases => '[{\"StreamId\": \"s\"}]'",
         "item 1 of p_renew_perspective_leases lacks PerspectiveName; every item names StreamId, "
         "PerspectiveName"},
        {"p_receptor_completions => '[{\"EventId\": \"01900000-0000-7000-8000-000000000001\"}]'",
         "item 1 of p_receptor_completions lacks ReceptorName; every item names EventId, ReceptorName"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char sql[600];
        snprintf(sql, sizeof sql, "select pawl.process_work_batch(" ME ", 'orders', 'host', 1, %s)",
                 cases[i][0]);
        PGresult *result = PQexec(f->conn, sql);
        assert_string_equal(PQresultErrorField(result, PG_DIAG_SQLSTATE), "PW001");
        assert_string_equal(PQresultErrorField(result, PG_DIAG_MESSAGE_PRIMARY), cases[i][1]);
        PQclear(result);
    }
}

/* covers: W08 W09 W27 */
static void receptors_are_recorded(void **state) {
    struct fixture *f = *state;
    assert_string_equal(batch(f, "(answers -> 'Receptors')::text",
                              ", p_receptor_completions => '[{\"EventId\": "
                              "\"01900000-0000-7000-8000-000000000001\", \"ReceptorName\": \"mail\", "
                              "\"Status\": 4}]', p_receptor_failures => '[{\"EventId\": "
                              "\"01900000-0000-7000-8000-000000000001\", "
                              "\"ReceptorName\": \"sms\", \"Status\": 1, \"Error\": \"no\"}]'"),
                        "[\"applied\", \"applied\"]");
    assert_string_equal(
        value(f, "select string_agg(receptor || status, ' ' order by receptor) from pawl_internal.receptor"),
        "mail4 sms9");
}

/* totals@1, applied by the caller, and a stream s of three events. */
static void perspective_made(struct fixture *f) {
    value(f, "select pawl_internal.perspective_register('totals', 1, '{1}', '{Created}', 2::smallint, null, "
             "null, 0, 0, "
             "0::smallint, 1000)");
    value(f, "select pawl_internal.perspective_backfill('totals@1', 10)");
    value(f, "select pawl.append('s', 0, '[{\"type\": \"Created\", \"payload\": {}}, {\"type\": \"Created\", "
             "\"payload\": {}}, {\"type\": \"Created\", \"payload\": {}}]')");
}

#define COMPLETION(stream, token)                                                                            \
    ", p_perspective_completions => '[{\"StreamId\": \"" stream "\", \"PerspectiveName\": \"totals@1\", "    \
    "\"Version\": 3" token "}]'"

/* covers: W10 W28 B0.5 */
static void a_checkpoint_is_reported_under_its_grant_or_not_at_all(void **state) {
    struct fixture *f = *state;
    perspective_made(f);
    batch(f, "now_ms", "");
    assert_string_equal(batch(f, "answers #>> '{Perspectives,Completions,0}'", COMPLETION("s", "")), "stale");
    assert_string_equal(batch(f, "answers #>> '{Perspectives,Completions,0}'",
                              COMPLETION("s", ", \"Token\": 4611686018427387904")),
                        "stale");
    assert_string_equal(
        batch(f, "answers #>> '{Perspectives,Completions,0}'", COMPLETION("nobody", ", \"Token\": 1")),
        "not_found");
    assert_string_equal(
        value(f, "select version || ' ' || status || ' ' || token from pawl_internal.checkpoint"), "0 0 0");
    assert_string_equal(sqlstate_on(f, f->conn,
                                    "select pawl.process_work_batch(" ME ", 'orders', 'host', 1, "
                                    "p_perspective_completions => '[{\"StreamId\": \"s\", "
                                    "\"PerspectiveName\": \"totals@1\", \"Token\": 1}]')"),
                        "PW001"); /* no version */
}

/* What is granted to the caller, as a report names it, with more fields. */
#define GRANTED(more)                                                                                        \
    "(select jsonb_agg(jsonb_build_object('StreamId', stream, 'PerspectiveName', perspective, 'Token', "     \
    "token" more ")) from pawl_internal.checkpoint where status = 1)"

/* A worker that knows nothing but this function reads a model to its head, and is fenced when it is evicted.
 * covers: P10 P15 P19 P54 W10 W11 W22 W28 B0.10 B3.3 BX.4 */
static void a_worker_in_sql_drives_a_read_model(void **state) {
    struct fixture *f = *state;
    perspective_made(f);
    assert_string_equal(
        batch(f,
              "concat_ws(' ', jsonb_array_length(claimed_perspectives), claimed_perspectives #>> "
              "'{0,StreamId}', claimed_perspectives #>> '{0,PerspectiveName}', claimed_perspectives #>> "
              "'{0,LastVersion}', claimed_perspectives #>> '{0,HeadVersion}', (claimed_perspectives #>> "
              "'{0,LeaseUntilMs}')::bigint > now_ms)",
              ", p_kinds => 8"),
        "1 s totals@1 0 3 t");
    assert_string_equal(value(f, "select count(*) from pawl_internal.live_message where kind = 3"), "0");
    assert_string_equal(value(f, "select string_agg(version || type, ' ') from pawl.checkpoint_events('s', "
                                 "'totals@1', (select token from pawl_internal.checkpoint), 10)"),
                        "1Created 2Created 3Created");
    /* It goes on with it and renews; then one more event comes, and it completes what it had read. */
    assert_string_equal(batch(f, "(answers -> 'Perspectives')::text",
                              ", p_kinds => 8, p_renew_perspective_leases => " GRANTED(
                                  "") ", p_perspective_completions => " GRANTED(", 'Version', 1, 'Status', "
                                                                                "1")),
                        "{\"Renewals\": [\"applied\"], \"Completions\": [\"applied\"]}");
    value(f, "select pawl.append('s', 3, '[{\"type\": \"Created\", \"payload\": {}}]')");
    assert_string_equal(batch(f,
                              "(answers #>> '{Perspectives,Completions,0}') || ' ' || (claimed_perspectives "
                              "#>> '{0,LastVersion}') || ' ' || (claimed_perspectives #>> '{0,HeadVersion}')",
                              ", p_kinds => 8, p_perspective_completions => " GRANTED(", 'Version', 3")),
                        "applied 3 4");
    /* Failed with a delay, tried again, given back, and done. */
    assert_string_equal(batch(f, "answers #>> '{Perspectives,Failures,0}'",
                              ", p_kinds => 8, p_perspective_failures => " GRANTED(
                                  ", 'Version', 3, 'Error', 'no table', 'DelayMs', 1")),
                        "applied");
    assert_string_equal(value(f, "select error from pawl_internal.checkpoint"), "no table");
    value(f, "select pg_sleep(0.01)");
    batch(f, "now_ms", ", p_kinds => 8");
    assert_string_equal(batch(f,
                              "(answers #>> '{Perspectives,Releases,0}') || ' ' || (claimed_perspectives #>> "
                              "'{0,Attempt}')",
                              ", p_kinds => 8, p_perspective_releases => " GRANTED(", 'Version', 3")),
                        "applied 2");
    value(f, "create table late as select " GRANTED(", 'Version', 4") " as done");
    /* Evicted: its own batch is refused, and its token moves nothing from anywhere. */
    value(f, "select pawl_internal.instance_evict(" ME "::uuid)");
    assert_string_equal(sqlstate_on(f, f->conn,
                                    "select pawl.process_work_batch(" ME
                                    ", 'orders', 'host', 1, p_kinds => 8, "
                                    "p_perspective_completions => (select done from late))"),
                        "PW004");
    static const char other[] = "select (answers #>> '{Perspectives,Completions,0}') || ' ' || "
                                "jsonb_array_length(claimed_perspectives) "
                                "from pawl.process_work_batch('01900000-0000-7000-8000-aa0000000002', "
                                "'orders', 'host', 1, p_kinds => 8, "
                                "p_perspective_completions => %s)";
    char sql[1000];
    snprintf(sql, sizeof sql, other, "(select done from late)");
    assert_string_equal(value(f, sql), "stale 1");
    snprintf(sql, sizeof sql, other, GRANTED(", 'Version', 4"));
    assert_string_equal(value(f, sql), "applied 0");
    assert_string_equal(value(f, "select version || ' ' || status from pawl_internal.checkpoint"), "4 2");
    assert_string_equal(value(f, "select count(*) from pawl_internal.dead where kind = 3"), "0");
}

/* covers: W17 W20 B2.4 B2.13 B3.3 P52 */
static void what_belongs_to_the_schema_is_not_the_calls_to_change(void **state) {
    struct fixture *f = *state;
    static const char two_keys[] = "p_new_outbox_messages => '[{\"MessageType\": \"t\", \"Payload\": {}, "
                                   "\"StreamKey\": \"a\", \"PartitionKey\": \"b\"}]'";
    const char *const wrong[] = {"p_partition_count => 17", "p_stale_threshold_seconds => 17", two_keys};
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        char sql[400];
        snprintf(sql, sizeof sql, "select * from pawl.process_work_batch(" ME ", 'orders', 'host', 1, %s)",
                 wrong[i]);
        assert_string_equal(sqlstate_on(f, f->conn, sql), "PW001");
    }
    batch(
        f, "1",
        ", p_partition_count => 1000, p_stale_threshold_seconds => 600, p_lease_seconds => 7, p_flags => 2");
}

/* covers: W22 B2.5 */
static void partitions_are_listed_only_when_asked_for(void **state) {
    struct fixture *f = *state;
    assert_string_equal(
        batch(f,
              "coalesce(assigned_partitions::text, 'none') || jsonb_array_length(assigned_lanes -> 'Outbox')",
              ""),
        "none8");
    assert_string_equal(batch(f, "jsonb_array_length(assigned_partitions)", ", p_flags => 4"), "1000");
}

/* covers: B2.6 */
static void an_evicted_instance_hears_it(void **state) {
    struct fixture *f = *state;
    batch(f, "1", "");
    value(f, "select pawl_internal.instance_evict(" ME ")");
    assert_string_equal(
        sqlstate_on(f, f->conn, "select * from pawl.process_work_batch(" ME ", 'orders', 'host', 1)"),
        "PW004");
}

/* A call with nothing to do is short and writes nothing. Loose, because the machine may be busy: the best of
 * many. */
/* covers: B3.5 */
static void an_empty_call_is_short_and_writes_nothing(void **state) {
    struct fixture *f = *state;
    batch(f, "1", "");
    double best_ms = 1e9;
    for (int i = 0; i < 200; i++) {
        struct timespec from, to;
        clock_gettime(CLOCK_MONOTONIC, &from);
        batch(f, "1", "");
        clock_gettime(CLOCK_MONOTONIC, &to);
        double ms = (double)(to.tv_sec - from.tv_sec) * 1e3 + (double)(to.tv_nsec - from.tv_nsec) / 1e6;
        best_ms = ms < best_ms ? ms : best_ms;
    }
    assert_true(best_ms < 5.0);
    value(f,
          "update pawl_internal.settings set test_now_ms = pawl_internal.now_ms()"); /* no beat falls due */
    batch(f, "1", "");
    assert_string_equal(
        value(f, "begin; select now_ms > 0 from pawl.process_work_batch(" ME ", 'orders', 'host', 1)"), "t");
    assert_string_equal(value(f, "select coalesce(pg_current_xact_id_if_assigned()::text, 'none')"), "none");
    value(f, "rollback");
}

#define CASE(name) cmocka_unit_test_setup_teardown(name, schema_setup, fixture_teardown)

int main(void) {
    if (pgserver_url() == NULL)
        return PGSERVER_SKIP;
    const struct CMUnitTest tests[] = {
        CASE(new_messages_can_be_claimed_in_the_same_call),
        CASE(completions_name_the_token_and_remove_the_message),
        CASE(a_status_of_zero_completes_nothing),
        CASE(a_failure_is_counted_and_keeps_its_error),
        CASE(a_duplicate_inbox_message_is_an_answer_not_an_error),
        CASE(an_error_rolls_everything_back),
        CASE(skip_claim_writes_and_claims_nothing),
        CASE(a_renewal_names_the_token),
        CASE(an_item_without_a_key_is_named),
        CASE(receptors_are_recorded),
        CASE(a_checkpoint_is_reported_under_its_grant_or_not_at_all),
        CASE(a_worker_in_sql_drives_a_read_model),
        CASE(what_belongs_to_the_schema_is_not_the_calls_to_change),
        CASE(partitions_are_listed_only_when_asked_for),
        CASE(an_evicted_instance_hears_it),
        CASE(an_empty_call_is_short_and_writes_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
