/* What only SQL can show: shape of the functions, rows touched, plans that do not grow with partitions or
 * backlog. */
#include <libpq-fe.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "store/store.h"
#include "support/check.h"
#include "support/pgserver.h"

enum { VALUE_BYTES = 4096 };

/* A database with the schema pawl and one session on it. */
struct place {
    char url[PGSERVER_URL_BYTES];
    PGconn *conn;
};

static const char instance[] = "'01900000-0000-7000-8000-aa0000000001'";

/* The first value of the last statement in sql; fails the test on any error. */
static const char *value(struct place *place, const char *sql, char text[static VALUE_BYTES]) {
    PGresult *result = PQexec(place->conn, sql);
    ExecStatusType status = PQresultStatus(result);
    if (status != PGRES_TUPLES_OK && status != PGRES_COMMAND_OK)
        fail_msg("%s: %s", sql, PQerrorMessage(place->conn));
    snprintf(text, VALUE_BYTES, "%s",
             status == PGRES_TUPLES_OK && PQntuples(result) > 0 ? PQgetvalue(result, 0, 0) : "");
    PQclear(result);
    return text;
}

static long long number(struct place *place, const char *sql) {
    char text[VALUE_BYTES];
    return strtoll(value(place, sql, text), NULL, 10);
}

/* Rows read depend on what the server knows of its tables, and autovacuum may tell it in the middle of a
 * comparison: the tables are told once, here, and left alone from then on. */
static void settle_statistics(struct place *place) {
    char text[VALUE_BYTES];
    value(place,
          "DO $$ DECLARE t regclass; BEGIN FOR t IN SELECT c.oid FROM pg_class c "
          "WHERE c.relnamespace = 'pawl_internal'::regnamespace AND c.relkind = 'r' LOOP "
          "EXECUTE format('ALTER TABLE %s SET (autovacuum_enabled = false)', t); END LOOP; END $$",
          text);
    value(place, "VACUUM ANALYZE", text);
}

static void open_place(struct place *place, int partitions, int lanes) {
    struct migrate_config migrate = {.partition_count = partitions, .lane_count = lanes};
    struct migrate_result migrated;
    pawl_error err;
    char text[VALUE_BYTES];
    assert_true(pgserver_create_database("sql", place->url));
    struct store_config config = {.url = place->url};
    if (store_migrate(&config, &migrate, &migrated, &err) != PAWL_OK)
        fail_msg("%s: %s", err.op, err.text);
    place->conn = PQconnectdb(place->url);
    assert_int_equal(PQstatus(place->conn), CONNECTION_OK);
    value(place, "UPDATE pawl_internal.settings SET test_now_ms = 4102444800000", text);
    snprintf(text, sizeof text,
             "SELECT now_ms FROM pawl_internal.instance_register(%s, 'orders', 'host', 1, NULL, 14, "
             "86400000, 0, 0)",
             instance);
    value(place, text, text);
    settle_statistics(place);
}

static void close_place(struct place *place) {
    PQfinish(place->conn);
    pgserver_drop_database(place->url);
}

/* Rows written and rows read by the statement, counted by the server inside its transaction, which is rolled
 * back. */
struct rows {
    long long written, hot, read;
};

/* The server's counters of this session; they are not set back between transactions, so only differences
 * count. */
static struct rows rows_now(struct place *place) {
    return (struct rows){
        number(place,
               "SELECT coalesce(sum(n_tup_ins + n_tup_upd + n_tup_del), 0) FROM pg_stat_xact_user_tables"),
        number(place, "SELECT coalesce(sum(n_tup_hot_upd), 0) FROM pg_stat_xact_user_tables"),
        number(place, "SELECT coalesce(sum(coalesce(seq_tup_read, 0) + coalesce(idx_tup_fetch, 0)), 0) "
                      "FROM pg_stat_xact_user_tables")};
}

static struct rows rows_touched(struct place *place, const char *sql) {
    char text[VALUE_BYTES];
    value(place, "BEGIN", text);
    struct rows before = rows_now(place);
    value(place, sql, text);
    struct rows after = rows_now(place);
    value(place, "ROLLBACK", text);
    return (struct rows){after.written - before.written, after.hot - before.hot, after.read - before.read};
}

static const char *claim_sql(int max, char text[static VALUE_BYTES]) {
    snprintf(text, VALUE_BYTES,
             "SELECT count(*) FROM pawl_internal.claim(%s, 1::smallint, %d, 300000, 0::smallint, 0, NULL)",
             instance, max);
    return text;
}

static const char *heartbeat_sql(char text[static VALUE_BYTES]) {
    snprintf(text, VALUE_BYTES, "SELECT now_ms FROM pawl_internal.heartbeat(%s)", instance);
    return text;
}

static const char *put_sql(int count, const char *stream, char text[static VALUE_BYTES]) {
    snprintf(text, VALUE_BYTES,
             "SELECT cardinality(pawl_internal.put(1::smallint, array_agg(gen_random_uuid()), array_agg(%s), "
             "p_types => array_agg('T'::text), p_payloads => array_agg('{}'::json))) "
             "FROM generate_series(1, %d) AS n",
             stream, count);
    return text;
}

/* covers: B2.5 M12 */
TEST(a_heartbeat_writes_one_row_however_many_partitions_there_are) {
    struct place few, many;
    char text[VALUE_BYTES];
    open_place(&few, 100, 64);
    open_place(&many, 100000, 64);
    struct rows a = rows_touched(&few, heartbeat_sql(text));
    struct rows b = rows_touched(&many, heartbeat_sql(text));
    assert_int_equal(a.written, 1);
    assert_int_equal(b.written, 1);
    assert_int_equal(b.hot, 1); /* no index is written either */
    assert_int_equal(b.read, a.read);
    close_place(&few);
    close_place(&many);
}

/* covers: B2.5 */
TEST(a_claim_touches_the_same_rows_however_many_partitions_there_are) {
    struct place few, many;
    char text[VALUE_BYTES];
    open_place(&few, 100, 64);
    open_place(&many, 100000, 64);
    value(&few, put_sql(10, "'one'::text", text), text);
    value(&many, put_sql(10, "'one'::text", text), text);
    struct rows a = rows_touched(&few, claim_sql(10, text));
    struct rows b = rows_touched(&many, claim_sql(10, text));
    assert_int_equal(a.written, b.written);
    assert_true(llabs(a.read - b.read) <= 64); /* the stream is in another lane: at most the lanes differ */
    assert_true(b.written <= 3);               /* the claim and its lane: nothing per message */
    close_place(&few);
    close_place(&many);
}

/* covers: B2.16 */
TEST(a_claim_of_a_hot_stream_reads_what_it_grants_and_not_the_backlog) {
    struct place place;
    char text[VALUE_BYTES];
    open_place(&place, 1000, 16);
    value(&place, put_sql(500, "'hot'::text", text), text);
    struct rows small = rows_touched(&place, claim_sql(100, text));
    value(&place, put_sql(30000, "'hot'::text", text), text);
    struct rows big = rows_touched(&place, claim_sql(100, text));
    assert_true(big.read <=
                small.read + 50); /* not a row more for sixty times the backlog; room for the catalog */
    assert_true(big.written <= 3);
    close_place(&place);
}

/* covers: B2.16 */
TEST(a_claim_after_many_claims_starts_at_its_cursor) {
    struct place place;
    char text[VALUE_BYTES];
    open_place(&place, 1000, 1);
    value(&place, put_sql(20000, "'stream-' || n % 50", text), text);
    struct rows first = rows_touched(&place, claim_sql(100, text));
    /* Everything in front is completed: it must cost the next claim nothing. */
    value(&place,
          "DO $$ DECLARE g record; BEGIN FOR i IN 1 .. 30 LOOP "
          "SELECT array_agg(c.token) AS tokens, array_agg(c.id) AS ids, array_agg(4) AS statuses INTO g "
          "FROM pawl_internal.claim('01900000-0000-7000-8000-aa0000000001', 1::smallint, 500, 300000, "
          "0::smallint, 0, "
          "NULL) c; "
          "PERFORM pawl_internal.complete('01900000-0000-7000-8000-aa0000000001', 1::smallint, g.tokens, "
          "g.ids, "
          "g.statuses, "
          "false); END LOOP; END $$",
          text);
    assert_int_equal(number(&place, "SELECT count(*) FROM pawl_internal.live_message"), 5000);
    struct rows later = rows_touched(&place, claim_sql(100, text));
    assert_true(later.read <= first.read + 50);
    close_place(&place);
}

/* covers: B3.5 */
TEST(nothing_to_do_writes_nothing_and_takes_no_transaction_id) {
    struct place place;
    char text[VALUE_BYTES];
    open_place(&place, 10000, 64);
    value(&place, "BEGIN", text);
    for (int kind = 1; kind <= 3; kind++) {
        snprintf(
            text, sizeof text,
            "SELECT count(*) FROM pawl_internal.claim(%s, %d::smallint, 500, 300000, 0::smallint, 0, NULL)",
            instance, kind);
        assert_int_equal(number(&place, text), 0);
    }
    assert_int_equal(number(&place, "SELECT (pg_current_xact_id_if_assigned() IS NULL)::integer"), 1);
    value(&place, "ROLLBACK", text);
    struct rows rows = rows_touched(&place, claim_sql(500, text));
    assert_int_equal(rows.written, 0);
    assert_true(rows.read <= 4 * 64 + 50); /* the lanes, not the partitions */
    close_place(&place);
}

/* covers: B3.5 */
TEST(a_batch_with_nothing_to_do_is_short) {
    struct place place;
    char text[VALUE_BYTES];
    open_place(&place, 10000, 64);
    /* Measured on the server, the best of many. An idle machine takes about half a millisecond and a busy one
     * twice that; the limit is far above both and far below the 17 ms of a call that does every step. */
    double best_ms = atof(value(
        &place,
        "CREATE FUNCTION pg_temp.best() RETURNS double precision LANGUAGE plpgsql AS $$ DECLARE t "
        "timestamptz; "
        "best double precision := 1e9; BEGIN FOR i IN 1 .. 200 LOOP t := clock_timestamp(); "
        "PERFORM pawl_internal.batch_begin('01900000-0000-7000-8000-aa0000000001', 'orders', 'host', 1, "
        "NULL, 14, 86400000, 0, 0, "
        "NULL); "
        "PERFORM pawl_internal.claim('01900000-0000-7000-8000-aa0000000001', k::smallint, 500, 300000, "
        "0::smallint, 0, NULL) "
        "FROM generate_series(1, 3) k; "
        "best := least(best, extract(epoch FROM clock_timestamp() - t) * 1000); END LOOP; RETURN "
        "best; END $$; "
        "SELECT pg_temp.best()",
        text));
    print_message("an empty batch: %.3f ms\n", best_ms);
    assert_true(best_ms < 5.0);
    close_place(&place);
}

/* covers: B3.9 W38 */
TEST(functions_take_typed_arrays_and_answer_each_item_in_one_call) {
    struct place place;
    char text[VALUE_BYTES];
    open_place(&place, 100, 4);
    /* JSON is what a user puts in; it is nowhere the envelope of a call. */
    assert_int_equal(
        number(&place,
               "SELECT count(*) FROM pg_proc p JOIN pg_namespace n ON n.oid = p.pronamespace "
               "WHERE n.nspname = 'pawl_internal' AND p.proname IN ('put', 'claim', 'complete', 'fail', "
               "'release', 'renew') AND pg_get_function_arguments(p.oid) LIKE '%jsonb%'"),
        0);
    PGresult *prepared =
        PQprepare(place.conn, "put",
                  "SELECT pawl_internal.put(1::smallint, $1, $2, p_types => $3, p_payloads => $4)", 0, NULL);
    assert_int_equal(PQresultStatus(prepared), PGRES_COMMAND_OK);
    PQclear(prepared);
    const char *values[4] = {"{01900000-0000-7000-8000-010000000001,01900000-0000-7000-8000-010000000002}",
                             "{a,b}", "{T,T}", "{\"{}\",\"[1]\"}"};
    for (int round = 1; round <= 3; round++) { /* one statement, prepared once, one round trip each */
        PGresult *result = PQexecPrepared(place.conn, "put", 4, values, NULL, NULL, 0);
        assert_int_equal(PQresultStatus(result), PGRES_TUPLES_OK);
        assert_string_equal(PQgetvalue(result, 0, 0), "{1,1}");
        PQclear(result);
    }
    assert_int_equal(number(&place, "SELECT count(*) FROM pawl_internal.live_message"), 6);
    value(&place, "SELECT 1", text);
    close_place(&place);
}

/* The whole result of one process_work_batch as text, "claimed/answers". */
static const char *work(struct place *place, const char *arguments, char text[static VALUE_BYTES]) {
    char sql[2 * VALUE_BYTES];
    snprintf(
        sql, sizeof sql,
        "SELECT (SELECT coalesce(string_agg(right(x ->> 'MessageId', 2), ' ' ORDER BY n), '') "
        "FROM jsonb_array_elements(b.claimed_outbox || b.claimed_inbox) WITH ORDINALITY AS e(x, n)) "
        "|| ' / ' || (b.answers::text) "
        "FROM pawl.process_work_batch('01900000-0000-7000-8000-aa0000000001', 'orders', 'host', 1%s%s) AS b",
        arguments[0] != '\0' ? ", " : "", arguments);
    return value(place, sql, text);
}

/* covers: W38 W01 W22 W36 B3.3 */
TEST(one_json_call_does_the_whole_batch_in_one_round_trip) {
    struct place place;
    char text[VALUE_BYTES], arguments[VALUE_BYTES];
    open_place(&place, 100, 1);
    assert_string_equal(work(&place,
                             "p_new_outbox_messages => '[{\"MessageId\": "
                             "\"01900000-0000-7000-8000-010000000001\", \"MessageType\": \"T\", "
                             "\"Payload\": {\"a\": 1}, \"Topic\": \"t\", \"StreamKey\": \"x\"}, "
                             "{\"MessageId\": \"01900000-0000-7000-8000-010000000002\", \"MessageType\": "
                             "\"T\", \"Payload\": {}, "
                             "\"StreamKey\": \"x\"}]', "
                             "p_new_inbox_messages => '[{\"MessageId\": "
                             "\"01900000-0000-7000-8000-010000000011\", \"MessageType\": \"T\", "
                             "\"Payload\": {}, \"StreamKey\": \"x\"}, {\"MessageId\": "
                             "\"01900000-0000-7000-8000-010000000011\", "
                             "\"MessageType\": \"T\", \"Payload\": {}, \"StreamKey\": \"x\"}]'",
                             text),
                        "01 02 11 / {\"Inbox\": {\"NewMessages\": [\"applied\", \"duplicate\"]}, "
                        "\"Outbox\": {\"NewMessages\": [\"applied\", \"applied\"]}}");
    long long token = number(&place, "SELECT token FROM pawl_internal.claim WHERE kind = 1 AND items > 0");
    snprintf(arguments, sizeof arguments,
             "p_outbox_completions => '[{\"MessageId\": \"01900000-0000-7000-8000-010000000001\", \"Token\": "
             "%lld, "
             "\"Status\": 2}, {\"MessageId\": \"01900000-0000-7000-8000-010000000002\", \"Token\": %lld, "
             "\"Status\": 0}, "
             "{\"MessageId\": \"01900000-0000-7000-8000-010000000002\", \"Token\": 1, \"Status\": 2}]'",
             token, token);
    assert_string_equal(work(&place, arguments, text),
                        " / {\"Outbox\": {\"Completions\": [\"applied\", \"invalid\", \"stale\"]}}");
    assert_int_equal(number(&place, "SELECT count(*) FROM pawl_internal.live_message WHERE kind = 1"), 1);
    close_place(&place);
}

/* The SQLSTATE of a batch that must be refused. */
static const char *refused(struct place *place, const char *arguments, char text[static VALUE_BYTES]) {
    snprintf(text, VALUE_BYTES,
             "SELECT * FROM pawl.process_work_batch('01900000-0000-7000-8000-aa0000000001', 'orders', "
             "'host', 1, %s)",
             arguments);
    PGresult *result = PQexec(place->conn, text);
    snprintf(text, VALUE_BYTES, "%s",
             PQresultStatus(result) == PGRES_FATAL_ERROR ? PQresultErrorField(result, PG_DIAG_SQLSTATE)
                                                         : "accepted");
    PQclear(result);
    return text;
}

/* covers: W02 B2.13 B3.1 W17 */
TEST(a_json_call_that_is_wrong_changes_nothing) {
    struct place place;
    char text[VALUE_BYTES];
    open_place(&place, 100, 1);
    assert_string_equal(
        refused(&place,
                "p_new_outbox_messages => '[{\"MessageType\": \"T\", \"Payload\": {}, \"StreamKey\": \"x\"}, "
                "{\"MessageType\": \"T\", \"Payload\": {}, \"StreamKey\": \"x\", \"PartitionKey\": \"y\"}]'",
                text),
        "PW001"); /* one key: a stream cannot lie in two partitions */
    assert_string_equal(
        refused(&place,
                "p_new_outbox_messages => '[{\"MessageType\": \"T\", \"Payload\": {}}]', "
                "p_outbox_completions => '[{\"MessageId\": \"01900000-0000-7000-8000-010000000001\", "
                "\"Status\": 2}]'",
                text),
        "PW001"); /* an id without its token proves nothing */
    assert_string_equal(refused(&place, "p_partition_count => 10001", text), "PW001");
    assert_string_equal(refused(&place, "p_lease_seconds => -1", text), "PW001");
    assert_int_equal(number(&place, "SELECT count(*) FROM pawl_internal.live_message"), 0);
    close_place(&place);
}

/* Words of the error of one statement that must be refused as wrong input; the test fails otherwise. */
static const char *fault(struct place *place, const char *sql, char text[static VALUE_BYTES]) {
    PGresult *result = PQexec(place->conn, sql);
    const char *sqlstate = PQresultErrorField(result, PG_DIAG_SQLSTATE);
    const char *words = PQresultErrorField(result, PG_DIAG_MESSAGE_PRIMARY);
    snprintf(text, VALUE_BYTES, "%s: %s", sqlstate != NULL ? sqlstate : "accepted",
             words != NULL ? words : "");
    PQclear(result);
    return text;
}

/* A batch by instance n that names the lease of the instance, or not. */
static const char *leased_batch(int n, const char *arguments, char text[static VALUE_BYTES]) {
    snprintf(
        text, VALUE_BYTES,
        "SELECT coalesce(answers -> 'Outbox' -> 'Completions' ->> 0, claimed_outbox -> 0 ->> 'Token') || "
        "' ' || (lease_until_ms - now_ms) / 1000 FROM pawl.process_work_batch("
        "'01900000-0000-7000-8000-bb000000000%d', 'orders', 'host', 1, p_kinds => 2, %s)",
        n, arguments);
    return text;
}

#define ONE_MESSAGE                                                                                          \
    "p_new_outbox_messages => '[{\"MessageId\": \"01900000-0000-7000-8000-010000000001\", "                  \
    "\"MessageType\": \"T\", \"Payload\": {}}]'"

/* A caller that calls every minute keeps what it claimed for five, if its instance is to live as long; with
 * the schema's lease (15 s) another instance finds it silent. */
TEST(a_batch_keeps_its_claims_for_as_long_as_its_instance_is_to_live) {
    static const struct {
        const char *first, *second, *end;
    } callers[] = {
        {"p_instance_lease_seconds => 300, " ONE_MESSAGE, NULL, "applied 300"},
        {ONE_MESSAGE, "p_instance_lease_seconds => 300, p_flags => 1", "applied 300"}, /* it says so later */
        {ONE_MESSAGE, NULL, "PW004"},
    };
    struct place place;
    char sql[VALUE_BYTES], text[VALUE_BYTES], arguments[256];
    for (int n = 0; n < (int)(sizeof callers / sizeof callers[0]); n++) {
        open_place(&place, 100, 1);
        snprintf(sql, sizeof sql, "SELECT pawl.deregister(%s)", instance); /* leave the lane to the caller */
        value(&place, sql, text);
        long long token = strtoll(value(&place, leased_batch(n, callers[n].first, sql), text), NULL, 10);
        assert_true(token > 0);
        if (callers[n].second != NULL)
            value(&place, leased_batch(n, callers[n].second, sql), text);
        value(&place, "UPDATE pawl_internal.settings SET test_now_ms = test_now_ms + 60000", text);
        value(&place, "SELECT pawl.heartbeat(pawl.register('other'))", text);
        snprintf(arguments, sizeof arguments,
                 "p_outbox_completions => '[{\"MessageId\": \"01900000-0000-7000-8000-010000000001\", "
                 "\"Token\": %lld, \"Status\": 2}]'",
                 token);
        PGresult *result = PQexec(place.conn, leased_batch(n, arguments, sql));
        assert_string_equal(PQresultStatus(result) == PGRES_TUPLES_OK
                                ? PQgetvalue(result, 0, 0)
                                : PQresultErrorField(result, PG_DIAG_SQLSTATE),
                            callers[n].end);
        PQclear(result);
        close_place(&place);
    }
}

TEST(a_key_of_pawl_is_refused_from_any_language) {
    static const struct {
        const char *sql, *words;
    } calls[] = {
        {"SELECT pawl.enqueue('a', unique_key => 'run:5:0:3')",
         "PW001: job 1 of 1: the unique key begins with 'run:'"},
        {"SELECT pawl.enqueue('a', key => 'schedule:nightly')",
         "PW001: job 1 of 1: the key begins with 'schedule:'"},
        {"SELECT pawl.enqueue('a', unique_key => 'run-plan:x')",
         "PW001: job 1 of 1: the unique key begins with 'run-plan:'"},
        {"SELECT pawl_internal.jobs_enqueue('{a,a}', NULL, NULL, NULL, '{fine,schedule:n}', NULL, NULL, "
         "NULL, NULL, "
         "NULL, NULL, "
         "NULL, NULL, NULL, NULL, NULL)",
         "PW001: job 2 of 2: the unique key begins with 'schedule:'"},
        {"SELECT pawl_internal.task_put('t', NULL, 'a', NULL, NULL, NULL, NULL, 'run:5', 0, 0, 0, 0, 0, 0)",
         "PW001: the key begins with 'run:'"},
    };
    struct place place;
    char text[VALUE_BYTES];
    open_place(&place, 100, 1);
    for (size_t i = 0; i < sizeof calls / sizeof calls[0]; i++)
        if (strstr(fault(&place, calls[i].sql, text), calls[i].words) != text)
            fail_msg("%s: %s", calls[i].sql, text);
    assert_int_equal(number(&place, "SELECT count(*) FROM pawl_internal.job"), 0);
    close_place(&place);
}

/* Calls of every function that a role may execute, found in the catalog: each argument in turn is NULL, has a
 * NULL member, has a member more than the others, or is the lowest or highest number of its type. */
static const char wrong_calls[] =
    "CREATE TEMP TABLE calls AS "
    "WITH fn AS ( "
    "SELECT p.oid, p.proname, p.proargnames AS names, p.proargtypes::oid[] AS types, p.pronargs "
    "FROM pg_proc p WHERE p.pronamespace IN ('pawl'::regnamespace, 'pawl_internal'::regnamespace) AND "
    "p.prokind = 'f' "
    "AND (has_function_privilege('pawl_producer', p.oid, 'execute') OR "
    "has_function_privilege('pawl_worker', p.oid, 'execute') "
    "OR has_function_privilege('pawl_view', p.oid, 'execute') OR "
    "has_function_privilege('pawl_operator', p.oid, 'execute'))), "
    "arg AS ( "
    "SELECT f.oid, f.proname, b.n, f.names[b.n] AS name, format_type(b.type, NULL) AS type, "
    "y.typcategory = 'A' AS is_array, "
    "replace(format_type(b.type, NULL), '[]', '') AS base "
    "FROM fn f CROSS JOIN LATERAL unnest(f.types) WITH ORDINALITY AS b(type, n) JOIN pg_type y "
    "ON y.oid = b.type), "
    "good AS ( "
    "SELECT a.*, CASE "
    "WHEN a.name = 'task' THEN NULL WHEN a.name = 'kind' THEN 'outbox' WHEN a.name = 'kinds' THEN 'jobs' "
    "WHEN a.base = 'boolean' THEN 'false' WHEN a.name = 'p_events' AND a.type = 'json' THEN '[]' "
    "WHEN a.name = 'events' THEN '[{\"type\": \"t\", \"payload\": {}}]' "
    "WHEN a.base IN ('json', 'jsonb') AND (a.name = 'partitions' OR a.name ~ "
    "'completions|failures|messages$|leases$|releases|scopes|cells') THEN '[]' "
    "WHEN a.name = 'p_payload' THEN '{}' WHEN a.name = 'p_step_ms' THEN '10000' "
    "WHEN a.name = 'p_partition_count' THEN '100' WHEN a.name ~ 'stale' THEN '600' "
    "WHEN a.name IN ('p_flags', 'p_max_partitions_per_instance') THEN '0' WHEN a.name = "
    "'p_kinds' THEN '6' "
    "WHEN a.base = 'uuid' THEN '01900000-0000-7000-8000-aa0000000001' WHEN a.base = 'text' THEN "
    "'x' "
    "WHEN a.base IN ('json', 'jsonb') THEN '{}' WHEN a.base = 'boolean' THEN 'false' WHEN a.base "
    "= 'timestamp with time zone' THEN '2036-01-01' "
    "WHEN a.base = 'interval' THEN '1 s' WHEN a.base = 'bytea' THEN '\\x00' ELSE '1' END AS value "
    "FROM arg a), "
    "lit AS ( "
    "SELECT g.*, CASE WHEN g.value IS NULL THEN 'NULL' WHEN g.is_array THEN format('ARRAY[%L]', "
    "g.value) ELSE quote_literal(g.value) END AS plain FROM good g), "
    "variant AS ( "
    "SELECT l.oid, l.n, v.what, v.text FROM lit l CROSS JOIN LATERAL (VALUES "
    "('null', 'NULL'), "
    "('null member', CASE WHEN l.is_array THEN 'ARRAY[NULL]' END), "
    "('too long', CASE WHEN l.is_array AND (SELECT count(*) FROM lit o WHERE o.oid = l.oid AND "
    "o.is_array) > 1 AND l.value IS NOT NULL THEN format('ARRAY[%L, %L]', l.value, l.value) END), "
    "('lowest', CASE l.type WHEN 'smallint' THEN '-32768' WHEN 'integer' THEN '-2147483648' WHEN "
    "'bigint' THEN '-9223372036854775808' "
    "WHEN 'smallint[]' THEN '{-32768}' WHEN 'integer[]' THEN '{-2147483648}' WHEN 'bigint[]' "
    "THEN '{-9223372036854775808}' END), "
    "('highest', CASE l.type WHEN 'smallint' THEN '32767' WHEN 'integer' THEN '2147483647' WHEN "
    "'bigint' THEN '9223372036854775807' "
    "WHEN 'smallint[]' THEN '{32767}' WHEN 'integer[]' THEN '{2147483647}' WHEN 'bigint[]' THEN "
    "'{9223372036854775807}' END)) v(what, text) "
    "WHERE v.text IS NOT NULL) "
    "SELECT l.proname, x.name AS argument, v.what, "
    "format('SELECT %s(%s)', l.oid::regproc, string_agg(format('%I => ', l.name) || CASE WHEN "
    "l.n = v.n THEN CASE WHEN v.text ~ '^(NULL|ARRAY)' THEN v.text ELSE quote_literal(v.text) "
    "END ELSE l.plain END || '::' || l.type, ', ' ORDER BY l.n)) AS call "
    "FROM variant v JOIN lit l ON l.oid = v.oid JOIN lit x ON x.oid = v.oid AND x.n = v.n "
    "GROUP BY l.oid, l.proname, x.name, v.what ";

static const char run_calls[] = "DO $$ DECLARE c record; BEGIN "
                                "ALTER TABLE calls ADD n serial, ADD state text, ADD words text; "
                                "FOR c IN SELECT k.n, k.call FROM calls k LOOP "
                                "DECLARE v_state text; v_words text; BEGIN "
                                "BEGIN "
                                "EXECUTE c.call; "
                                "v_state := 'fine'; "
                                "RAISE EXCEPTION 'undo'; "
                                "EXCEPTION WHEN OTHERS THEN "
                                "IF v_state IS NULL THEN v_state := SQLSTATE; v_words := SQLERRM; END IF; "
                                "END; "
                                "UPDATE calls SET state = v_state, words = v_words WHERE n = c.n; "
                                "END; END LOOP; END $$ ";

/* An argument has a meaning, or the call is refused and names it, with the number of the item: never an error
 * about pawl's own tables, and never work that is half described. put checks its messages member by member.
 */
static const char badly_refused[] =
    "SELECT format('%s %s %s: %s %s', c.proname, c.argument, c.what, c.state, c.words) FROM "
    "calls c, "
    "LATERAL (SELECT c.words ~ replace(regexp_replace(c.argument, '^p_|(ies|es|s|_seconds)$', '', 'g'), '_', "
    "'[_ ]') AS named) w "
    "WHERE NOT CASE WHEN c.what = 'too long' THEN c.state = 'PW001' AND w.named "
    "OR c.proname || c.argument ~ "
    "'^(advance_begin|advance_take|perspective_advance|checkpoints_claim)p_(streams|mine|keys)$' "
    "OR c.proname = 'put' "
    "WHEN c.what = 'null member' THEN c.state IN ('fine', 'PW002', 'PW004') OR c.state = 'PW001' "
    "AND w.named AND c.words ~ '\\m1\\M' "
    "ELSE c.state = 'fine' OR c.state LIKE 'PW%' AND (c.state <> 'PW001' OR w.named) END ORDER "
    "BY 1 ";

TEST(a_wrong_argument_is_refused_by_its_name) {
    struct place place;
    char text[VALUE_BYTES];
    open_place(&place, 100, 1);
    value(&place, wrong_calls, text);
    value(&place, run_calls, text);
    assert_true(number(&place, "SELECT count(*) FROM calls") > 1000);
    PGresult *result = PQexec(place.conn, badly_refused);
    assert_int_equal(PQresultStatus(result), PGRES_TUPLES_OK);
    for (int i = 0; i < PQntuples(result); i++)
        print_error("%s\n", PQgetvalue(result, i, 0));
    assert_int_equal(PQntuples(result), 0);
    PQclear(result);
    close_place(&place);
}

/* covers: P66 P67 */
TEST(two_services_in_two_schemas_of_one_database_do_not_see_each_other) {
    static const char *const schemas[2] = {"inventory", "bff"};
    char url[PGSERVER_URL_BYTES], text[VALUE_BYTES];
    pawl_error err;
    assert_true(pgserver_create_database("sql", url));
    struct place place = {.conn = PQconnectdb(url)};
    for (int i = 0; i < 2; i++) {
        struct store_config config = {.url = url, .schema = schemas[i]};
        struct migrate_config migrate = {.partition_count = 10, .lane_count = 2};
        struct migrate_result migrated;
        if (store_migrate(&config, &migrate, &migrated, &err) != PAWL_OK)
            fail_msg("%s: %s", err.op, err.text);
    }
    for (int i = 0; i < 2; i++) { /* the same instance id, message id and stream in both */
        snprintf(text, sizeof text,
                 "SELECT now_ms FROM %s_internal.instance_register(%s, 'x', 'h', 1, NULL, 2, 0, 0, 0)",
                 schemas[i], instance);
        value(&place, text, text);
        snprintf(text, sizeof text,
                 "SELECT %s.send('T', '{}', 'same', id => '01900000-0000-7000-8000-010000000001')",
                 schemas[i]);
        value(&place, text, text);
    }
    for (int i = 0; i < 2; i++) {
        snprintf(text, sizeof text,
                 "SELECT count(*) FROM %s_internal.claim(%s, 1::smallint, 10, 300000, 0::smallint, 0, NULL)",
                 schemas[i], instance);
        assert_int_equal(number(&place, text), 1);
    }
    assert_int_equal(number(&place, "SELECT count(*) FROM pg_namespace WHERE nspname LIKE 'pawl%'"), 0);
    PQfinish(place.conn);
    pgserver_drop_database(url);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_heartbeat_writes_one_row_however_many_partitions_there_are),
        cmocka_unit_test(a_claim_touches_the_same_rows_however_many_partitions_there_are),
        cmocka_unit_test(a_claim_of_a_hot_stream_reads_what_it_grants_and_not_the_backlog),
        cmocka_unit_test(a_claim_after_many_claims_starts_at_its_cursor),
        cmocka_unit_test(nothing_to_do_writes_nothing_and_takes_no_transaction_id),
        cmocka_unit_test(a_batch_with_nothing_to_do_is_short),
        cmocka_unit_test(functions_take_typed_arrays_and_answer_each_item_in_one_call),
        cmocka_unit_test(one_json_call_does_the_whole_batch_in_one_round_trip),
        cmocka_unit_test(a_json_call_that_is_wrong_changes_nothing),
        cmocka_unit_test(a_batch_keeps_its_claims_for_as_long_as_its_instance_is_to_live),
        cmocka_unit_test(a_key_of_pawl_is_refused_from_any_language),
        cmocka_unit_test(a_wrong_argument_is_refused_by_its_name),
        cmocka_unit_test(two_services_in_two_schemas_of_one_database_do_not_see_each_other),
    };
    if (pgserver_url() == NULL)
        return PGSERVER_SKIP;
    return cmocka_run_group_tests_name("sql", tests, NULL, NULL);
}
