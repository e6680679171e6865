/* Permissions in the PostgreSQL schema: the roles, and the catalog rules for them. */
#include "integration/postgres/postgres_fixture.h"
#include "sql_embedded.h"

enum { ROLE_PRODUCER = 1, ROLE_WORKER = 2, ROLE_VIEW = 4, ROLE_OPERATOR = 8, ROLE_COUNT = 4 };

static const char *const roles[ROLE_COUNT] = {"pawl_producer", "pawl_worker", "pawl_view", "pawl_operator"};

/* What is tried, and who may; the others must get 42501. Nobody may use what is in pawl_internal without
 * pawl_program. */
static const struct {
    const char *sql;
    int allowed;
} matrix[] = {
    {"select pawl.send('t', '{}', 's')", ROLE_PRODUCER | ROLE_WORKER},
    {"select pawl.receive('c', gen_random_uuid(), 't', '{}')", ROLE_PRODUCER | ROLE_WORKER},
    {"select * from pawl_internal.instance_register(gen_random_uuid(), 's', 'h', 1, null, 0, 0, 0, 0)",
     ROLE_WORKER},
    {"select * from pawl.process_work_batch(gen_random_uuid(), 's', 'h', 1, p_kinds => 0)", ROLE_WORKER},
    {"select pawl_internal.complete(gen_random_uuid(), 1::smallint, '{}', '{}', '{}', false)", ROLE_WORKER},
    {"select pawl_internal.fail(gen_random_uuid(), 1::smallint, '{}', '{}', '{}', '{}', '{}', '{}', '{}')",
     ROLE_WORKER},
    {"select pawl_internal.wait_begin(gen_random_uuid(), 1, 1000)", ROLE_WORKER},
    {"select pawl_internal.wait_late()", ROLE_WORKER},
    {"select pawl_internal.wait_end(gen_random_uuid())", ROLE_WORKER},
    {"select pawl_internal.wake()", ROLE_WORKER},
    {"select * from pawl_internal.maintain(null, 10)", ROLE_WORKER | ROLE_OPERATOR},
    {"select pawl_internal.dead_redrive('{}', '{}')", ROLE_OPERATOR},
    {"select pawl_internal.dead_discard('{}', '{}')", ROLE_OPERATOR},
    {"select pawl_internal.dead_edit(1::smallint, 1, '{}')", ROLE_OPERATOR},
    {"select pawl_internal.settings_change(-1, -1, -1, -1, -1, -1, -1)", ROLE_OPERATOR},
    {"select pawl_internal.epoch_raise()", ROLE_OPERATOR},
    {"select * from pawl_internal.view_messages(0::smallint, 0, null, null, null, null, -1, 0, 0, 10, 100)",
     ROLE_VIEW | ROLE_OPERATOR},
    {"select * from pawl_internal.view_counts()", ROLE_WORKER | ROLE_VIEW | ROLE_OPERATOR},
    /* a worker too: it measures for the alerts who is silent */
    {"select * from pawl_internal.view_instances()", ROLE_WORKER | ROLE_VIEW | ROLE_OPERATOR},
    {"select * from pawl_internal.why(gen_random_uuid())", ROLE_VIEW | ROLE_OPERATOR},
    {"select * from pawl.messages", ROLE_VIEW | ROLE_OPERATOR},
    {"select * from pawl.instances", ROLE_VIEW | ROLE_OPERATOR},
    {"select * from pawl_internal.message_all", 0},
    {"select * from pawl_internal.message", 0},
    {"select payload from pawl_internal.dead", 0},
    {"insert into pawl_internal.tombstone values (gen_random_uuid(), 0)", 0},
    {"update pawl_internal.settings set epoch = 99", 0},
    {"delete from pawl_internal.message", 0},
    {"truncate pawl_internal.message", 0},
    {"select nextval('pawl_internal.token_seq')", 0},
    {"select pawl_internal.token_next()", 0},
    {"select pawl_internal.claim_end(1, 1, 3::smallint, 0, 0, 0)", 0},
    {"select pawl_internal.tally_fold(1)", 0},
    {"create table pawl.mine (x int)", 0},
    {"create table pawl_internal.mine (x int)", 0},
    {"drop function pawl_internal.now_ms()", 0},
};

/* Begins a transaction as a member of the role, and of pawl_program if it is to be: rolled back, no other
 * test sees it. */
static void become(struct fixture *f, const char *role, bool program) {
    char text[128];
    snprintf(text, sizeof text, "begin; %s%s; set local role %s",
             program ? "grant pawl_program to " : "select", program ? role : "", role);
    value(f, text);
}

static void every_role_may_what_it_needs_and_nothing_else(void **state) {
    struct fixture *f = *state;
    store_close(store_made(f, "pawl"));
    for (size_t i = 0; i < sizeof matrix / sizeof matrix[0]; i++) {
        for (int r = 0; r < 2 * ROLE_COUNT; r++) {
            const char *role = roles[r % ROLE_COUNT];
            bool program = r < ROLE_COUNT;
            become(f, role, program);
            const char *sqlstate = sqlstate_on(f, f->conn, matrix[i].sql);
            bool allowed = (matrix[i].allowed & (1 << (r % ROLE_COUNT))) != 0 &&
                           (program || strstr(matrix[i].sql, "pawl_internal.") == NULL);
            if (strcmp(sqlstate, allowed ? "" : "42501") != 0)
                fail_msg("%s as %s%s: SQLSTATE '%s'", matrix[i].sql, role, program ? " and the program" : "",
                         sqlstate);
            value(f, "rollback");
        }
    }
}

/* A call that the program makes and no role may make works only for the owner, whom no test is. */
static void every_call_of_the_program_is_granted_to_some_role(void **state) {
    struct fixture *f = *state;
    store_close(store_made(f, "pawl"));
    for (size_t i = 0; i < POSTGRES_Q_COUNT; i++) {
        const char *call = strstr(sql_postgres_queries[i].text, " pawl");
        call = call != NULL ? strchr(call, '.') : NULL;
        size_t len = call != NULL ? strspn(call + 1, "abcdefghijklmnopqrstuvwxyz0123456789_") : 0;
        if (len == 0 || call[1 + len] != '(' || strncmp(sql_postgres_queries[i].name, "migrate", 7) == 0)
            continue;
        char text[512];
        snprintf(text, sizeof text,
                 "select count(*) from pg_proc p, pg_roles r where p.pronamespace::regnamespace::text ~ "
                 "'^pawl' and "
                 "p.proname = '%.*s' and r.rolname in ('pawl_producer', 'pawl_worker', 'pawl_view', "
                 "'pawl_operator') and has_function_privilege(r.oid, p.oid, 'execute')",
                 (int)len, call + 1);
        if (strcmp(value(f, text), "0") == 0)
            fail_msg("%.*s (query %s) is granted to nobody", (int)len, call + 1,
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
    assert_string_equal(value(f, "select count(*) from pawl_internal.message"), "0");
    value(f, "begin; set local role pawl_producer; insert into orders values (1); select pawl.send('t', "
             "'{}'); commit");
    assert_string_equal(value(f, "select count(*) from pawl_internal.message"), "1");
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

/* What work carries and what came of it, by its column: every JSON, and texts with these names. What a worker
 * says about itself and what people did is none of it. */
#define IS_CONTENT                                                                                           \
    "(a.atttypid in ('json'::regtype, 'jsonb'::regtype) or a.atttypid = 'text'::regtype and a.attname in "   \
    "('error', 'cursor', 'payload', 'detail', 'sample', 'sample_error', 'output', 'input', 'result')) and "  \
    "(c.relname, a.attname) not in (('instance', 'metadata'), ('audit', 'detail'), ('alert_change', "        \
    "'detail'))"

/* Rows of every table, made from the catalog: keys are x and 1, states 1 to 5, and what is content is SECRET.
 * So a function or a table that comes later is looked at too. */
static const char *const secrets[] = {
    "do $$ declare k record; begin for k in select conname, conrelid::regclass as t from pg_constraint where "
    "connamespace = 'pawl_internal'::regnamespace and contype in ('c', 'f', 'p', 'u') order by contype = 'p' "
    "loop "
    "execute format('alter table %s drop constraint if exists %I cascade', k.t, k.conname); end loop; "
    "for k in select i.indexrelid::regclass as t from pg_index i join pg_class c on c.oid = i.indexrelid "
    "where "
    "c.relnamespace = 'pawl_internal'::regnamespace and i.indisunique loop execute format('drop index %s', "
    "k.t); end "
    "loop; "
    "end $$",
    "do $$ declare t record; begin for t in select c.oid::regclass as name, "
    "string_agg(quote_ident(a.attname), "
    "', ' order by a.attnum) as columns, string_agg(case when " IS_CONTENT " then case when a.atttypid = "
    "'text'::regtype then '''SECRET''' else '''\"SECRET\"''' end when a.attname in ('state', 'status') then "
    "'n' else case when a.attname = 'perspective' or (c.relname, a.attname) = ('perspective', 'key') then "
    "'''x@1''' when a.atttypid = 'text'::regtype then '''x''' when a.atttypid = 'uuid'::regtype then "
    "'''01900000-0000-7000-8000-000000000001''' when a.atttypid = 'bool'::regtype then 'false' when "
    "y.typcategory = 'A' then '''{}''' when a.atttypid = 'bytea'::regtype then '''x''' when a.atttypid = "
    "'pg_snapshot'::regtype then '''1:1:''' when y.typtype = 'c' then '''(1:1:,1,1,1,{},{},1)''' else "
    "'''1''' end || "
    "'::' || format_type(a.atttypid, null) end, ', ' order by a.attnum) as row, case when bool_or(a.attname "
    "in ('state', 'status')) then 5 else 1 end as rows from pg_class c join "
    "pg_attribute a on a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped and a.attgenerated = '' "
    "join pg_type y on y.oid = a.atttypid where c.relnamespace = 'pawl_internal'::regnamespace and c.relkind "
    "= 'r' "
    "and "
    "c.relname !~ '^(settings|stamper|schema_|message_[02])' group by c.oid loop execute format('insert into "
    "%s (%s) "
    "overriding system value select %s from unnest(array[3, 1, 2, 4, 5]) n limit %s', t.name, t.columns, "
    "t.row, t.rows); end "
    "loop; "
    "end "
    "$$",
};

/* Ways to call every function that pawl_view may, and the views; content: the answer has columns that hold
 * it. */
static const char looks_sql[] =
    "select p.proname, v.way, format('select count(*) filter (where r::text like ''%%SECRET%%'') from "
    "%s(%s) r', "
    "p.oid::regproc, (select string_agg(case when t.typname = 'text' then case when v.way like 'x%' then "
    "case "
    "when "
    "p.proargnames[a.n] ~ 'perspective|p_key' then '''x@1''' else '''x''' end else 'null' end when t.typname "
    "= "
    "'uuid' then '''01900000-0000-7000-8000-000000000001''' when t.typname = 'bool' then 'false' when "
    "p.proargnames[a.n] ~ 'limit|scan' then '100' when p.proargnames[a.n] ~ 'status' then '-1' when "
    "p.proargnames[a.n] ~ 'version|position' then '9' when t.typcategory = 'N' then right(v.way, 1) when "
    "t.typcategory = 'A' then '''{1}''' else "
    "'null' "
    "end || '::' || format_type(t.oid, null), ', ' order by a.n) from unnest(p.proargtypes::oid[]) with "
    "ordinality "
    "a(type, n) join pg_type t on t.oid = a.type)) as call, exists (select from unnest(p.proallargtypes, "
    "p.proargmodes, p.proargnames) as c(type, mode, attname) where c.mode in ('o', 't') and (c.type in "
    "('json'::regtype, 'jsonb'::regtype) and (p.proname, c.attname) <> ('view_instances', 'metadata') or "
    "c.attname "
    "in ('error', 'cursor', 'payload', 'sample', 'sample_error', 'output'))) as content from pg_proc p, "
    "(values "
    "('x1'), ('x0'), ('null1'), ('null0')) v(way) where p.pronamespace in ('pawl'::regnamespace, "
    "'pawl_internal'::regnamespace) and "
    "p.prorettype <> "
    "'void'::regtype and has_function_privilege('pawl_view', p.oid, 'execute') union all select c.relname, "
    "'view', "
    "format('select count(*) filter (where r::text like ''%%SECRET%%'') from pawl.%I r', c.relname), false "
    "from "
    "pg_class c where c.relnamespace = 'pawl'::regnamespace and has_table_privilege('pawl_view', c.oid, "
    "'select') "
    "order by 1, 2";

/* How many rows of the call hold the secret; 0 when it fails: rows like
 * these break what functions rely on. */
static int secrets_seen(struct fixture *f, const char *role, const char *call) {
    become(f, role, true);
    PGresult *result = PQexec(f->conn, call);
    int seen = PQresultStatus(result) == PGRES_TUPLES_OK ? atoi(PQgetvalue(result, 0, 0)) : 0;
    PQclear(result);
    value(f, "rollback");
    return seen;
}

/* Role × function × column: what pawl_view may call shows it nothing of what work carries; to an operator,
 * who may see it, each of these functions shows it, or the test did not reach it. */
static void the_view_role_sees_no_content_through_any_function(void **state) {
    struct fixture *f = *state;
    store_close(store_made(f, "pawl"));
    for (size_t i = 0; i < sizeof secrets / sizeof secrets[0]; i++)
        value(f, secrets[i]);
    PGresult *looks = PQexec(f->conn, looks_sql);
    if (PQresultStatus(looks) != PGRES_TUPLES_OK)
        fail_msg("%s", PQerrorMessage(f->conn));
    int functions = 0, leaks = 0;
    for (int i = 0; i < PQntuples(looks);) {
        const char *name = PQgetvalue(looks, i, 0);
        bool holds = PQgetvalue(looks, i, 3)[0] == 't';
        int shown = 0, leaked = 0;
        for (; i < PQntuples(looks) && strcmp(PQgetvalue(looks, i, 0), name) == 0; i++) {
            leaked += secrets_seen(f, "pawl_view", PQgetvalue(looks, i, 2));
            shown += secrets_seen(f, "pawl_operator", PQgetvalue(looks, i, 2));
        }
        functions += shown > 0;
        if (leaked > 0)
            print_error("pawl_view sees content through %s\n", name);
        else if (holds && shown == 0)
            print_error("%s has content and was not reached: teach looks_sql how to call it\n", name);
        leaks += leaked > 0 || (holds && shown == 0);
    }
    PQclear(looks);
    assert_int_equal(leaks, 0);
    assert_true(functions >= 10);
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
        /* what runs with the owner's rights has a search_path of its own, in which nobody else's names are
           found, and no exceptions */
        "select string_agg(p.proname, ' ') from pg_proc p where p.pronamespace in ('pawl'::regnamespace, "
        "'pawl_internal'::regnamespace) and "
        "p.prosecdef and not coalesce('search_path=pg_catalog, pg_temp' = any (p.proconfig), false)",
        /* so does everything else, but for what the planner writes out where it is called, and steps of claim
           and complete, which have one */
        "select string_agg(p.proname, ' ') from pg_proc p where p.pronamespace in ('pawl'::regnamespace, "
        "'pawl_internal'::regnamespace) and "
        "p.proname not in ('uuid7', 'partition_here', 'partition_count', 'partition_wrap', "
        "'lane_count', 'clock_is_stopped', 'lane_claims', 'was_read', 'lanes_look', 'lanes_filled', "
        "'cursor_next', 'complete_whole', " RUNS_USER_SQL ") and not "
        "coalesce('search_path=pg_catalog, pg_temp' = any (p.proconfig), false)",
        /* nobody but the owner and those it was granted to may call: PUBLIC has nothing */
        "select string_agg(p.proname, ' ') from pg_proc p where p.pronamespace in ('pawl'::regnamespace, "
        "'pawl_internal'::regnamespace) and "
        "has_function_privilege('public', p.oid, 'execute')",
        "select string_agg(c.relname, ' ') from pg_class c where c.relnamespace in ('pawl'::regnamespace, "
        "'pawl_internal'::regnamespace) and "
        "c.relkind in "
        "('r', 'v') and has_table_privilege('public', c.oid, 'select')",
        /* the owner's rights are not a superuser's */
        "select string_agg(p.proname, ' ') from pg_proc p join pg_roles r on r.oid = p.proowner where "
        "p.pronamespace in ('pawl'::regnamespace, 'pawl_internal'::regnamespace) and p.prosecdef and "
        "r.rolsuper",
        /* no dynamic SQL in functions */
        "select string_agg(p.proname, ' ') from pg_proc p where p.pronamespace in ('pawl'::regnamespace, "
        "'pawl_internal'::regnamespace) and "
        "p.proname not in (" RUNS_USER_SQL ") and p.prosrc ~* "
        "'\\mexecute\\M[^'']'",
        /* a user's SQL never runs with the owner's rights */
        "select string_agg(p.proname, ' ') from pg_proc p where p.pronamespace in ('pawl'::regnamespace, "
        "'pawl_internal'::regnamespace) and "
        "p.proname in (" RUNS_USER_SQL ") and p.prosecdef",
        /* one function per name: no forgotten overload */
        "select string_agg(p.proname, ' ') from (select proname from pg_proc where pronamespace "
        "in ('pawl'::regnamespace, 'pawl_internal'::regnamespace) "
        "group by pronamespace, 1 having count(*) > 1) p",
        /* new functions of the owner are not for everybody */
        "select case when exists (select from pg_default_acl a join pg_roles r on r.oid = a.defaclrole where "
        "r.rolname = "
        "'pawl_owner' and a.defaclobjtype = 'f') then '' else 'default privileges' end",
    };
    for (size_t i = 0; i < sizeof rules / sizeof rules[0]; i++)
        assert_string_equal(value(f, rules[i]), "");
}

/* What an attacker with a role of pawl's can make: domains in place of types, functions, operators, casts and
 * tables, in a schema of its own and in pg_temp. A trap that runs with another's rights raises TRAPP; for the
 * attacker itself it is harmless. */
static const char *const traps[] = {
    "create schema evil; grant all on schema evil to public; set session authorization attacker",
    "create function evil.trap() returns boolean language plpgsql set search_path = pg_catalog as $$ begin "
    "if current_user <> "
    "session_user then raise exception 'trapped' using errcode = 'TRAPP'; end if; return true; end $$",
    "do $$ declare t record; begin for t in select p.typname, n.place from pg_type p, (values ('evil'), "
    "('pg_temp')) n(place) where p.typnamespace = 'pg_catalog'::regnamespace and p.typtype = 'b' and "
    "p.typcategory <> 'A' and p.typlen <> -2 and has_type_privilege(p.oid, 'usage') loop "
    "execute format('create domain %s.%I as pg_catalog.%I check (evil.trap())', t.place, t.typname, "
    "t.typname); end loop; end $$",
    "do $$ declare o record; begin for o in select p.oid, p.oprname, format_type(p.oprleft, null) as l, "
    "format_type(p.oprright, null) as r, format_type(p.oprresult, null) as t from pg_operator p join pg_type "
    "a on a.oid = p.oprleft join pg_type b on b.oid = p.oprright join pg_type c on c.oid = p.oprresult where "
    "p.oprnamespace = 'pg_catalog'::regnamespace and 'p' not in (a.typtype, b.typtype, c.typtype) loop "
    "execute format('create function evil.trap_%s(%s, %s) returns %s language plpgsql as $_$ begin perform "
    "evil.trap(); return null; end $_$; create operator evil.%s (leftarg = %s, rightarg = %s, function = "
    "evil.trap_%s)', o.oid, o.l, o.r, o.t, o.oprname, o.l, o.r, o.oid); end loop; end $$",
    "do $$ declare o record; begin for o in select p.proname, p.proretset, "
    "pg_get_function_identity_arguments(p.oid) as args, format_type(p.prorettype, null) as t from pg_proc p "
    "join pg_type r on r.oid = p.prorettype where p.pronamespace = 'pg_catalog'::regnamespace and p.prokind "
    "= 'f' and not p.proretset and p.provariadic = 0 and r.typtype <> 'p' and not exists (select from "
    "unnest(p.proargtypes::oid[]) a join pg_type t on t.oid = a where t.typtype = 'p') and "
    "p.proargmodes is null and exists (select from pg_proc f where f.pronamespace in ('pawl'::regnamespace, "
    "'pawl_internal'::regnamespace) and "
    "f.prosrc ~ ('\\m' || p.proname || '\\s*\\(')) loop "
    "execute format('create function evil.%I(%s) returns %s language plpgsql as $_$ begin perform "
    "evil.trap(); return null; end $_$', o.proname, o.args, o.t); end loop; end $$",
    "do $$ declare c record; begin for c in select p.relname from pg_class p where p.relnamespace "
    "in ('pawl'::regnamespace, 'pawl_internal'::regnamespace) and p.relkind in ('r', 'v') loop "
    "execute format('create temp table %I (x int)', c.relname); "
    "execute format('create table evil.%I (x int)', c.relname); end loop; end $$",
    "create type evil.word as (w pg_catalog.text); create function evil.said(evil.word) returns "
    "pg_catalog.text language plpgsql as $$ begin perform evil.trap(); return 'said'; end $$; create cast "
    "(evil.word as pg_catalog.text) with function evil.said(evil.word) as implicit",
};

/* One call of each function that the attacker may execute; $1 says what the arguments are: nothing, or
 * something of their types. */
static const char calls_sql[] =
    "select format('select %s(%s)', p.oid::regproc, (select string_agg(case when $1 = 'null' then "
    "'null::' else quote_literal(case when t.typcategory = 'A' then '{' || e.sample || '}' else e.sample "
    "end) || '::' end || format('%I.%I', n.nspname, t.typname), ', ' order by a.n) from "
    "unnest(p.proargtypes::oid[]) with ordinality a(type, n) join pg_type t on t.oid = a.type join "
    "pg_namespace n on n.oid = t.typnamespace cross join lateral (select case case when t.typcategory = 'A' "
    "then t.typelem else t.oid end when 'uuid'::regtype then '01900000-0000-7000-8000-000000000001' when "
    "'text'::regtype then 'x' when 'json'::regtype then case when t.typcategory = 'A' or a.n % 2 = 0 then "
    "'{}' else '[]' end when 'jsonb'::regtype then '{}' when 'bool'::regtype then 'true' when "
    "'xid8'::regtype then '1' when 'bytea'::regtype then '' else '1' end as sample) e where true)) "
    "from pg_proc p where p.pronamespace in ('pawl'::regnamespace, 'pawl_internal'::regnamespace) and "
    "has_function_privilege(p.oid, 'execute') "
    "order by 1";

/* Calls everything that the role may, as an attacker whose names come first. What it meets must not be its
 * own with the owner's rights, nor a table of its own in place of ours (an undefined column, 42703). */
static void attack_as(struct fixture *f, const char *role, const char *path) {
    const char *const kinds[] = {"null", "something"};
    int called = 0, worked = 0;
    char text[128];
    snprintf(text, sizeof text, "reset session authorization; grant %s, pawl_program to attacker", role);
    value(f, text);
    value(f, "set session authorization attacker; set search_path to default");
    for (size_t k = 0; k < sizeof kinds / sizeof kinds[0]; k++) {
        PGresult *calls = PQexecParams(f->conn, calls_sql, 1, NULL, &kinds[k], NULL, NULL, 0);
        assert_int_equal(PQresultStatus(calls), PGRES_TUPLES_OK);
        assert_true(PQntuples(calls) > 10);
        value(f, path);
        for (int i = 0; i < PQntuples(calls); i++, called++) {
            value(f, "begin");
            const char *sqlstate = sqlstate_on(f, f->conn, PQgetvalue(calls, i, 0));
            if (strcmp(sqlstate, "TRAPP") == 0 || strcmp(sqlstate, "42703") == 0)
                fail_msg("%s as %s with '%s': SQLSTATE '%s'", PQgetvalue(calls, i, 0), role, path, sqlstate);
            worked += sqlstate[0] == '\0';
            value(f, "rollback");
        }
        PQclear(calls);
        value(f, "set search_path to default");
    }
    assert_true(worked * 3 > called); /* most of what is called gets beyond its arguments */
    snprintf(text, sizeof text, "reset session authorization; revoke %s, pawl_program from attacker", role);
    value(f, text);
}

/* Nothing that a caller has in its search_path, or in pg_temp, runs with the owner's rights. */
static void a_role_cannot_become_the_owner(void **state) {
    struct fixture *f = *state;
    store_close(store_made(f, "pawl"));
    value(f, "do $$ begin if not exists (select from pg_roles where rolname = 'attacker') then create role "
             "attacker; end if; end $$");
    value(f, "select pawl_internal.instance_register('01900000-0000-7000-8000-000000000001', 's', 'h', 1, "
             "null, 14, "
             "0, 0, 0)");
    value(f, "grant pawl_producer to attacker"); /* to see what there is to shadow */
    for (size_t i = 0; i < sizeof traps / sizeof traps[0]; i++)
        value(f, traps[i]);
    value(f, "reset session authorization; revoke pawl_producer from attacker");
    for (int r = 0; r < ROLE_COUNT; r++) {
        attack_as(f, roles[r], "set search_path to default");
        attack_as(f, roles[r], "set search_path = evil, pg_catalog");
        attack_as(f, roles[r], "set search_path = pg_temp, evil, pg_catalog");
    }
    value(f, "set session authorization attacker; set search_path = pg_temp, evil, pg_catalog");
    assert_string_equal(sqlstate_on(f, f->conn, "select pawl.send('t', '{}', 's')"), "42501");
    value(f, "reset session authorization; grant pawl_producer to attacker; set session authorization "
             "attacker");
    value(f, "select pawl.send('t', '{}', 's')");
    value(f, "select pawl.send(row('t')::evil.word, '{}', row('s')::evil.word)");
    value(f, "reset session authorization; revoke pawl_producer from attacker; set search_path to default");
    assert_string_equal(value(f, "select count(*) from pawl_internal.message where type in ('t', 'said')"),
                        "2");
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
        cmocka_unit_test_setup_teardown(the_view_role_sees_no_content_through_any_function, fixture_setup,
                                        fixture_teardown),
        cmocka_unit_test_setup_teardown(the_catalog_keeps_the_rules, fixture_setup, fixture_teardown),
        cmocka_unit_test_setup_teardown(a_role_cannot_become_the_owner, fixture_setup, fixture_teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
