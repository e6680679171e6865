/* The plans of the hot statements: by index, whatever the statistics say. */
#include "integration/postgres/postgres_fixture.h"

enum { PLANS_BYTES = 1 << 20 };

#define ME "'01900000-0000-7000-8000-aa0000000001'"

/* Every plan that the server tells of while a session is watched. */
struct plans {
    char text[PLANS_BYTES];
    size_t len;
};

static void plan_receive(void *self, const PGresult *result) {
    struct plans *plans = self;
    const char *message = PQresultErrorField(result, PG_DIAG_MESSAGE_PRIMARY);
    size_t len = message != NULL ? strlen(message) : 0;
    if (len == 0 || plans->len + len + 2 > PLANS_BYTES)
        return;
    memcpy(plans->text + plans->len, message, len);
    plans->len += len;
    plans->text[plans->len++] = '\n';
    plans->text[plans->len] = '\0';
}

static void watch(struct fixture *f, struct plans *plans) {
    value(f, "load 'auto_explain'; set auto_explain.log_min_duration = 0; set "
             "auto_explain.log_nested_statements = on; "
             "set client_min_messages = log");
    PQsetNoticeReceiver(f->conn, plan_receive, plans);
}

static void backlog_make(struct fixture *f, int messages) {
    char sql[200];
    store_close(store_made(f, "pawl"));
    value(f, "select * from pawl_internal.instance_register(" ME ", 's', 'h', 1, null, 14, 3600000, 0, 0)");
    snprintf(sql, sizeof sql,
             "select count(pawl.send('t', '{}', 'stream-' || g %% 1000)) from generate_series(1, %d) g",
             messages);
    value(f, sql);
}

static void claim_and_complete(struct fixture *f) {
    value(f, "create temp table granted as select token, id from pawl_internal.claim(" ME
             ", 1::smallint, 100, 60000, 0::smallint, 0, null)");
    assert_string_equal(value(f, "select count(*) from granted"), "100");
    assert_string_equal(value(f, "select pawl_internal.complete(" ME
                                 ", 1::smallint, array_agg(token), array_agg(id), array_agg(2), false) = "
                                 "array_fill(1::smallint, array[100]) from granted"),
                        "t");
    value(f, "drop table granted");
}

/* No table that grows with the work is read as a whole, and messages are read along their key. */
static void assert_by_index(const struct plans *plans) {
    static const char *const tables[] = {"message_0", "message_1", "claim", "aside",
                                         "hold",      "dedupe",    "dead"};
    for (size_t i = 0; i < sizeof tables / sizeof tables[0]; i++) {
        char scan[64];
        snprintf(scan, sizeof scan, "Seq Scan on %s ", tables[i]);
        const char *found = strstr(plans->text, scan);
        if (found != NULL)
            fail_msg("%.400s", found > plans->text + 200 ? found - 200 : found);
    }
    assert_non_null(strstr(plans->text, "using message_0_kind_lane_seq_idx on message_0"));
    assert_non_null(strstr(plans->text, "using claim_pkey on claim"));
    assert_null(strstr(plans->text, "JIT:"));
}

/* covers: B2.16 */
static void a_full_table_without_statistics(void **state) {
    struct fixture *f = *state;
    struct plans *plans = calloc(1, sizeof *plans);
    assert_non_null(plans);
    backlog_make(f, 5000);
    watch(f, plans);
    claim_and_complete(f);
    assert_by_index(plans);
    free(plans);
}

/* The planner was told that the tables are empty, then they fill: the plans must not change to scans. */
/* covers: B2.16 */
static void statistics_that_say_the_tables_are_empty(void **state) {
    struct fixture *f = *state;
    struct plans *plans = calloc(1, sizeof *plans);
    assert_non_null(plans);
    store_close(store_made(f, "pawl"));
    value(f, "analyze pawl_internal.message, pawl_internal.claim, pawl_internal.hold, pawl_internal.aside");
    backlog_make(f, 5000);
    watch(f, plans);
    for (int i = 0; i < 8; i++) /* beyond the point where a session settles for one plan */
        claim_and_complete(f);
    assert_by_index(plans);
    free(plans);
}

/* Statistics made when everything had ended: an index on few active claims looks small, and is not when a
 * long-open transaction keeps the entries of all. */
static void statistics_that_say_that_nothing_is_in_flight(void **state) {
    struct fixture *f = *state;
    struct plans *plans = calloc(1, sizeof *plans);
    assert_non_null(plans);
    backlog_make(f, 5000);
    for (int i = 0; i < 20; i++)
        claim_and_complete(f);
    value(f, "analyze pawl_internal.claim, pawl_internal.lane, pawl_internal.message");
    watch(f, plans);
    for (int i = 0; i < 8; i++)
        claim_and_complete(f);
    assert_by_index(plans);
    free(plans);
}

/* An empty claim neither reads a table as a whole nor takes a transaction id. */
/* covers: B3.5 */
static void an_empty_claim_locks_nothing(void **state) {
    struct fixture *f = *state;
    struct plans *plans = calloc(1, sizeof *plans);
    assert_non_null(plans);
    backlog_make(f, 0);
    watch(f, plans);
    value(f,
          "begin; select * from pawl_internal.claim(" ME ", 1::smallint, 100, 60000, 0::smallint, 0, null)");
    assert_string_equal(value(f, "select coalesce(pg_current_xact_id_if_assigned()::text, 'none')"), "none");
    assert_string_equal(
        value(f,
              "select count(*) from pg_locks where pid = pg_backend_pid() and mode in ('RowExclusiveLock', "
              "'ExclusiveLock') and locktype = 'relation'"),
        "0");
    value(f, "rollback");
    assert_null(strstr(plans->text, "Seq Scan on message_"));
    free(plans);
}

#define CASE(name) cmocka_unit_test_setup_teardown(name, fixture_setup, fixture_teardown)

int main(void) {
    if (pgserver_url() == NULL)
        return PGSERVER_SKIP;
    const struct CMUnitTest tests[] = {
        CASE(a_full_table_without_statistics),
        CASE(statistics_that_say_the_tables_are_empty),
        CASE(statistics_that_say_that_nothing_is_in_flight),
        CASE(an_empty_claim_locks_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
