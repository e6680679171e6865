/* Who may do what in the PostgreSQL schema: the roles, and the catalog rules behind them. */
#include "integration/postgres_fixture.h"
#include "sql_embedded.h"

enum { ROLE_PRODUCER = 1, ROLE_WORKER = 2, ROLE_VIEW = 4, ROLE_OPERATOR = 8, ROLE_COUNT = 4 };

static const char *const roles[ROLE_COUNT] = {"pawl_producer", "pawl_worker", "pawl_view", "pawl_operator"};

/* What is tried, and who may; the others must get 42501. */
static const struct {
    const char *sql;
    int allowed;
} matrix[] = {
    {"select pawl.send('t', '{}', 's')", ROLE_PRODUCER | ROLE_WORKER},
    {"select pawl.receive('c', gen_random_uuid(), 't', '{}')", ROLE_PRODUCER | ROLE_WORKER},
    {"select * from pawl.instance_register(gen_random_uuid(), 's', 'h', 1, null, 0, 0, 0, 0)", ROLE_WORKER},
    {"select * from pawl.process_work_batch(gen_random_uuid(), 's', 'h', 1, p_kinds => 0)", ROLE_WORKER},
    {"select pawl.complete(gen_random_uuid(), 1::smallint, '{}', '{}', '{}', false)", ROLE_WORKER},
    {"select pawl.fail(gen_random_uuid(), 1::smallint, '{}', '{}', '{}', '{}', '{}', '{}', '{}')",
     ROLE_WORKER},
    {"select pawl.wait_begin(gen_random_uuid(), 1, 1000)", ROLE_WORKER},
    {"select pawl.wait_late()", ROLE_WORKER},
    {"select pawl.wait_end(gen_random_uuid())", ROLE_WORKER},
    {"select pawl.wake()", ROLE_WORKER},
    {"select * from pawl.maintain(null, 10)", ROLE_WORKER | ROLE_OPERATOR},
    {"select pawl.dead_redrive('{}', '{}')", ROLE_OPERATOR},
    {"select pawl.dead_discard('{}', '{}')", ROLE_OPERATOR},
    {"select pawl.settings_change(-1, -1, -1, -1, -1, -1, -1)", ROLE_OPERATOR},
    {"select pawl.epoch_raise()", ROLE_OPERATOR},
    {"select * from pawl.view_messages(0::smallint, 0, null, null, null, null, -1, 0, 0, 10, 100)",
     ROLE_OPERATOR},
    {"select * from pawl.view_counts()", ROLE_WORKER | ROLE_VIEW | ROLE_OPERATOR},
    /* a worker too: it measures for the alerts who is silent */
    {"select * from pawl.view_instances()", ROLE_WORKER | ROLE_VIEW | ROLE_OPERATOR},
    {"select * from pawl.why(gen_random_uuid())", ROLE_VIEW | ROLE_OPERATOR},
    {"select * from pawl.messages", ROLE_VIEW | ROLE_OPERATOR},
    {"select * from pawl.instances", ROLE_VIEW | ROLE_OPERATOR},
    {"select * from pawl.message_all", 0},
    {"select * from pawl.message", 0},
    {"select payload from pawl.dead", 0},
    {"insert into pawl.tombstone values (gen_random_uuid(), 0)", 0},
    {"update pawl.settings set epoch = 99", 0},
    {"delete from pawl.message", 0},
    {"truncate pawl.message", 0},
    {"select nextval('pawl.token_seq')", 0},
    {"select pawl.token_next()", 0},
    {"select pawl.claim_end(1, 1, 3::smallint, 0)", 0},
    {"select pawl.tally_fold(1)", 0},
    {"create table pawl.mine (x int)", 0},
    {"drop function pawl.now_ms()", 0},
};

static void every_role_may_what_it_needs_and_nothing_else(void **state) {
    struct fixture *f = *state;
    store_close(store_made(f, "pawl"));
    for (size_t i = 0; i < sizeof matrix / sizeof matrix[0]; i++) {
        for (int r = 0; r < ROLE_COUNT; r++) {
            char text[64];
            snprintf(text, sizeof text, "set role %s", roles[r]);
            value(f, "begin");
            value(f, text);
            const char *sqlstate = sqlstate_on(f, f->conn, matrix[i].sql);
            bool allowed = (matrix[i].allowed & (1 << r)) != 0;
            if (strcmp(sqlstate, allowed ? "" : "42501") != 0)
                fail_msg("%s as %s: SQLSTATE '%s'", matrix[i].sql, roles[r], sqlstate);
            value(f, "rollback");
        }
    }
}

/* A call that the program makes and no role may make works only for the owner, whom no test is. */
static void every_call_of_the_program_is_granted_to_some_role(void **state) {
    struct fixture *f = *state;
    store_close(store_made(f, "pawl"));
    for (size_t i = 0; i < POSTGRES_Q_COUNT; i++) {
        const char *call = strstr(sql_postgres_queries[i].text, " pawl.");
        size_t len = call != NULL ? strspn(call + 6, "abcdefghijklmnopqrstuvwxyz0123456789_") : 0;
        if (len == 0 || call[6 + len] != '(' || strncmp(sql_postgres_queries[i].name, "migrate", 7) == 0)
            continue;
        char text[512];
        snprintf(text, sizeof text,
                 "select count(*) from pg_proc p, pg_roles r where p.pronamespace = 'pawl'::regnamespace and "
                 "p.proname = '%.*s' and r.rolname in ('pawl_producer', 'pawl_worker', 'pawl_view', "
                 "'pawl_operator') and has_function_privilege(r.oid, p.oid, 'execute')",
                 (int)len, call + 6);
        if (strcmp(value(f, text), "0") == 0)
            fail_msg("%.*s (query %s) is granted to nobody", (int)len, call + 6,
                     sql_postgres_queries[i].name);
    }
}

static void a_stranger_may_nothing(void **state) {
    struct fixture *f = *state;
    store_close(store_made(f, "pawl"));
    value(f, "do $$ begin if not exists (select from pg_roles where rolname = 'stranger') then create role "
             "stranger; "
             "end if; end $$");
    for (size_t i = 0; i < sizeof matrix / sizeof matrix[0]; i++) {
        value(f, "begin");
        value(f, "set role stranger");
        if (strcmp(sqlstate_on(f, f->conn, matrix[i].sql), "42501") != 0)
            fail_msg("%s as a stranger: SQLSTATE '%s'", matrix[i].sql, f->value);
        value(f, "rollback");
    }
}

/* covers: M52 */
static void a_producer_writes_in_its_own_transaction(void **state) {
    struct fixture *f = *state;
    store_close(store_made(f, "pawl"));
    value(f, "create table orders (id int)");
    value(f, "grant all on orders to pawl_producer");
    value(f, "begin; set local role pawl_producer; insert into orders values (1); select pawl.send('t', "
             "'{}'); rollback");
    assert_string_equal(value(f, "select count(*) from pawl.message"), "0");
    value(f, "begin; set local role pawl_producer; insert into orders values (1); select pawl.send('t', "
             "'{}'); commit");
    assert_string_equal(value(f, "select count(*) from pawl.message"), "1");
}

/* The view role sees no payload, not even through a cheap function in its own query. */
static void the_view_role_sees_no_payload(void **state) {
    struct fixture *f = *state;
    store_close(store_made(f, "pawl"));
    assert_string_equal(
        value(
            f,
            "select count(*) from information_schema.columns where table_schema = 'pawl' and "
            "table_name in ('messages', 'dead_letters') and column_name in ('payload', 'headers', 'error')"),
        "0");
    assert_string_equal(
        value(
            f,
            "select count(*) from pg_class c where c.relnamespace = 'pawl'::regnamespace and c.relkind = 'v' "
            "and c.relname <> 'message_all' and not 'security_barrier=true' = any (coalesce(c.reloptions, "
            "'{}'))"),
        "0");
}

/* These run the SQL of perspectives: with the rights and the search_path of the caller, whom alone they
 * serve. */
#define RUNS_USER_SQL                                                                                        \
    "'page_commit', 'page_select', 'perspective_apply', 'perspective_advance', 'apply_stream', "             \
    "'event_rows_typed', 'perspective_reset', 'perspective_switch'"

/* Reads the catalog for what a reviewer could overlook. */
static void the_catalog_keeps_the_rules(void **state) {
    struct fixture *f = *state;
    store_close(store_made(f, "pawl"));
    const char *const rules[] = {
        /* every function has a safe search_path of its own, but for those that say of every operator whose it
           is: see a_callers_search_path_does_not_matter */
        "select string_agg(p.proname, ' ') from pg_proc p where p.pronamespace = 'pawl'::regnamespace and "
        "p.proname not in ('put_one', 'send', 'partition_here', 'partition_count', 'partition_wrap', "
        "'lane_count', 'clock_is_stopped', " RUNS_USER_SQL ") and not "
        "coalesce('search_path=pg_catalog, pg_temp' = any (p.proconfig), false)",
        /* nobody but the owner and those it was granted to may call: PUBLIC has nothing */
        "select string_agg(p.proname, ' ') from pg_proc p where p.pronamespace = 'pawl'::regnamespace and "
        "has_function_privilege('public', p.oid, 'execute')",
        "select string_agg(c.relname, ' ') from pg_class c where c.relnamespace = 'pawl'::regnamespace and "
        "c.relkind in "
        "('r', 'v') and has_table_privilege('public', c.oid, 'select')",
        /* the owner's rights are not a superuser's */
        "select string_agg(p.proname, ' ') from pg_proc p join pg_roles r on r.oid = p.proowner where "
        "p.pronamespace = "
        "'pawl'::regnamespace and p.prosecdef and r.rolsuper",
        /* no dynamic SQL in functions */
        "select string_agg(p.proname, ' ') from pg_proc p where p.pronamespace = 'pawl'::regnamespace and "
        "p.proname not in (" RUNS_USER_SQL ") and p.prosrc ~* "
        "'\\mexecute\\M[^'']'",
        /* a user's SQL never runs with the owner's rights */
        "select string_agg(p.proname, ' ') from pg_proc p where p.pronamespace = 'pawl'::regnamespace and "
        "p.proname in (" RUNS_USER_SQL ") and p.prosecdef",
        /* one function per name: no forgotten overload */
        "select string_agg(p.proname, ' ') from (select proname from pg_proc where pronamespace = "
        "'pawl'::regnamespace "
        "group by 1 having count(*) > 1) p",
        /* new functions of the owner are not for everybody */
        "select case when exists (select from pg_default_acl a join pg_roles r on r.oid = a.defaclrole where "
        "r.rolname = "
        "'pawl_owner' and a.defaclobjtype = 'f') then '' else 'default privileges' end",
    };
    for (size_t i = 0; i < sizeof rules / sizeof rules[0]; i++)
        assert_string_equal(value(f, rules[i]), "");
}

/* A hostile search_path of the caller changes nothing: every name inside is qualified or of pg_catalog,
 * operators too. */
static void a_callers_search_path_does_not_matter(void **state) {
    struct fixture *f = *state;
    store_close(store_made(f, "pawl"));
    value(f, "create schema evil; create function evil.now_ms() returns bigint language sql as 'select "
             "1::bigint'; "
             "create function evil.coalesce_(text) returns text language sql as 'select null::text'; "
             "create table evil.message (x int); create table evil.settings (x int)");
    value(f, "do $$ declare o record; begin for o in select p.oid, p.oprname, p.oprleft::regtype as l, "
             "p.oprright::regtype as r, p.oprresult::regtype as t from pg_operator p where p.oprname in "
             "('%', '+', '-', '*', '/', '<', '>', '=', '<>', '&', '||') and p.oprleft in (20, 21, 23, 25, "
             "1700, 16, 2950) and p.oprright in (20, 21, 23, 25, 1700, 16, 2950) loop "
             "execute format('create function evil.trap_%s(%s, %s) returns %s language plpgsql as %L', "
             "o.oid, o.l, "
             "o.r, o.t, 'begin raise exception ''trapped''; end'); "
             "execute format('create operator evil.%s (leftarg = %s, rightarg = %s, function = "
             "evil.trap_%s)', o.oprname, o.l, o.r, o.oid); end loop; end $$");
    value(f, "set search_path = evil, pg_catalog, pg_temp; create temp table message (x int); create temp "
             "table settings "
             "(x int)");
    value(f, "select pawl.send('t', '{}', 's')");
    assert_string_equal(value(f, "select count(*) from pawl.message"), "1");
}

int main(void) {
    if (pgserver_url() == NULL)
        return PGSERVER_SKIP;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(every_role_may_what_it_needs_and_nothing_else, fixture_setup,
                                        fixture_teardown),
        cmocka_unit_test_setup_teardown(every_call_of_the_program_is_granted_to_some_role, fixture_setup,
                                        fixture_teardown),
        cmocka_unit_test_setup_teardown(a_stranger_may_nothing, fixture_setup, fixture_teardown),
        cmocka_unit_test_setup_teardown(a_producer_writes_in_its_own_transaction, fixture_setup,
                                        fixture_teardown),
        cmocka_unit_test_setup_teardown(the_view_role_sees_no_payload, fixture_setup, fixture_teardown),
        cmocka_unit_test_setup_teardown(the_catalog_keeps_the_rules, fixture_setup, fixture_teardown),
        cmocka_unit_test_setup_teardown(a_callers_search_path_does_not_matter, fixture_setup,
                                        fixture_teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
