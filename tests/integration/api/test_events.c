/* Perspectives in SQL on both databases, appends inside the caller's own transaction, and what SQL and C must
 * agree on. */
#include <sqlite3.h>

#include "domain/event_pattern.h"
#include "integration/postgres/postgres_fixture.h"
#include "pawl_events.h"
#include "support/sqlitefile.h"

static void must(pawl_status status, const pawl_error *err) {
    if (status != PAWL_OK)
        fail_msg("%s: %s", err->op, err->text);
}

/* One store, the words of its SQL, and how to look into its tables. */
struct place {
    struct store *store;
    struct arena *arena;
    struct fixture *postgres;
    const char *file;
    pawl_error err;
    char text[64];
};

static const char *look(struct place *p, const char *sql) {
    return p->postgres != NULL ? value(p->postgres, sql) : sqlitefile_sql(p->file, sql, p->text);
}

#define TRACED(digit) "00-0000000000000000000000000000000" digit "-000000000000000" digit "-01"

static void append_traced(struct place *p, const char *stream, const char *payload, const char *traceparent) {
    pawl_event event = {
        .type = STR("Shop.Sold"), .payload = str_from(payload), .traceparent = str_from(traceparent)};
    struct events_append in = {
        .stream = str_from(stream), .expected = EXPECT_ANY, .events = &event, .count = 1};
    struct append_result out;
    must(p->store->ops->events.events_append(p->store, &in, p->arena, &out, &p->err), &p->err);
}

static void append_one(struct place *p, const char *stream, const char *payload) {
    append_traced(p, stream, payload, NULL);
}

static void register_totals(struct place *p, int version, const char *table) {
    struct event_pattern pattern = {PATTERN_SUFFIX, STR("Sold")};
    bool postgres = p->postgres != NULL, done = false;
    struct perspective_new in = {
        .name = STR("totals"), .version = version, .patterns = &pattern, .pattern_count = 1, .run = RUN_SQL};
    in.target = str_from(arena_printf(
        p->arena,
        postgres
            ? "INSERT INTO public.%s AS t (stream, total) SELECT stream, sum((payload->>'n')::integer) FROM "
              "pawl.event_rows($1) GROUP BY stream ON CONFLICT (stream) DO UPDATE SET total = t.total + "
              "excluded.total"
            : "INSERT INTO %s (stream, total) SELECT json_extract(value, '$.stream'), "
              "sum(json_extract(value, '$.payload.n')) FROM "
              "json_each(?1) WHERE true GROUP BY 1 ON CONFLICT (stream) DO UPDATE SET total = total + "
              "excluded.total",
        table));
    in.clear = str_from(arena_printf(p->arena, "DELETE FROM %s%s", postgres ? "public." : "", table));
    struct perspective_registered out;
    must(p->store->ops->events.perspective_register(p->store, &in, &out, &p->err), &p->err);
    assert_int_equal(out.answer, ANSWER_APPLIED);
    pawl_str key = str_from(arena_printf(p->arena, "totals@%d", version));
    while (!done)
        must(p->store->ops->events.perspective_backfill(p->store, key, 100, &done, &p->err), &p->err);
}

/* Claims and applies everything that is due of one version; what came out of the first stream that failed. */
static struct apply_item run_due(struct place *p, const char *key_text) {
    pawl_str key = str_from(key_text), streams[64];
    struct apply_item failed = {0};
    for (;;) {
        struct checkpoints_claim in = {.instance = sqlitefile_id(1),
                                       .perspectives = &key,
                                       .perspective_count = 1,
                                       .max = 64,
                                       .lease_ms = 60000};
        struct checkpoint_grants grants;
        struct apply_result out;
        must(p->store->ops->events.checkpoints_claim(p->store, &in, p->arena, &grants, &p->err), &p->err);
        if (grants.count == 0)
            return failed;
        for (size_t i = 0; i < grants.count; i++)
            streams[i] = grants.grants[i].stream;
        struct perspective_apply apply = {.perspective = key,
                                          .token = grants.grants[0].token,
                                          .streams = streams,
                                          .stream_count = grants.count};
        must(p->store->ops->events.perspective_apply(p->store, &apply, p->arena, &out, &p->err), &p->err);
        for (size_t i = 0; i < out.count; i++)
            failed = out.items[i].answer == ANSWER_INVALID ? out.items[i] : failed;
    }
}

static void sql_story(struct place *p) {
    bool postgres = p->postgres != NULL;
    sqlitefile_join(p->store, 1);
    register_totals(p, 1, "totals_1");
    append_one(p, "a", "{\"n\":1}");
    append_one(p, "a", "{\"n\":2}");
    append_one(p, "b", "{\"n\":40}");
    append_one(p, "c", "{\"n\":5}");
    append_one(p, "c", "{\"n\":5000}"); /* too much: this one cannot be applied */
    struct apply_item failed = run_due(p, "totals@1");
    assert_int_equal(failed.answer, ANSWER_INVALID);
    assert_int_equal(failed.failed_version, 2);
    assert_int_equal(failed.version, 1);
    assert_non_null(strstr(failed.error.ptr, postgres ? "check constraint" : "CHECK constraint"));
    const char *sum = postgres ? "SELECT sum(total) FROM public.totals_1" : "SELECT sum(total) FROM totals_1";
    assert_string_equal(look(p, sum), "48"); /* the others went on, and c has what came before */
    struct checkpoint_skip skip = {STR("totals@1"), STR("c"), 2, STR("no such amount")};
    enum store_answer answer;
    must(p->store->ops->events.checkpoint_skip(p->store, &skip, &answer, &p->err), &p->err);
    assert_int_equal(run_due(p, "totals@1").answer, 0);
    assert_string_equal(look(p, sum), "48");
    struct perspective_reset reset = {.perspective = STR("totals@1"), .mode = RESET_REBUILD};
    int64_t count = 0;
    must(p->store->ops->events.perspective_reset(p->store, &reset, &count, &p->err), &p->err);
    assert_int_equal(count, 3);
    assert_string_equal(
        look(p, postgres ? "SELECT count(*) FROM public.totals_1" : "SELECT count(*) FROM totals_1"), "0");
    assert_int_equal(run_due(p, "totals@1").answer, 0);
    assert_string_equal(look(p, sum), "48");
    /* A new version beside it, compared and switched. */
    register_totals(p, 2, "totals_2");
    struct checkpoint_skip again = {STR("totals@2"), STR("c"), 2, STR("no such amount")};
    must(p->store->ops->events.checkpoint_skip(p->store, &again, &answer, &p->err), &p->err);
    struct perspective_switch to = {.name = STR("totals"), .version = 2, .wait_ms = 100};
    to.digest_old = postgres ? STR("SELECT sum(total)::text FROM public.totals_1")
                             : STR("SELECT sum(total) FROM totals_1");
    to.digest_new = postgres ? STR("SELECT sum(total)::text FROM public.totals_2")
                             : STR("SELECT sum(total) FROM totals_2");
    struct switch_result out;
    must(p->store->ops->events.perspective_switch(p->store, &to, p->arena, &out, &p->err), &p->err);
    assert_int_equal(out.answer, ANSWER_CONFLICT);
    assert_int_equal(out.behind, 3);
    run_due(p, "totals@2");
    look(p, postgres ? "UPDATE public.totals_2 SET total = 0 WHERE stream = 'a'"
                     : "UPDATE totals_2 SET total = 0 WHERE stream = 'a'");
    must(p->store->ops->events.perspective_switch(p->store, &to, p->arena, &out, &p->err), &p->err);
    assert_int_equal(out.answer, ANSWER_CONFLICT); /* the digests differ */
    assert_int_equal(out.behind, 0);
    assert_true(str_equal(out.digest_old, STR("48")) && str_equal(out.digest_new, STR("45")));
    look(p, postgres ? "UPDATE public.totals_2 SET total = 3 WHERE stream = 'a'"
                     : "UPDATE totals_2 SET total = 3 WHERE stream = 'a'");
    must(p->store->ops->events.perspective_switch(p->store, &to, p->arena, &out, &p->err), &p->err);
    assert_int_equal(out.answer, ANSWER_APPLIED);
    sqlitefile_check(p->store);
}

static bool linked(const struct advance_result *out, const char *traceparent) {
    for (size_t i = 0; i < out->link_count; i++)
        if (str_equal_cstr(out->links[i], traceparent))
            return true;
    return false;
}

/* The events of SQL stay in the database; their traceparents come back when they are wanted, also that of
 * one that failed. */
static void links_story(struct place *p) {
    register_totals(p, 3, "totals_1");
    struct perspective_advance in = {
        .instance = sqlitefile_id(1), .perspective = STR("totals@3"), .links_max = 10};
    struct advance_result out = {0};
    look(p, p->postgres != NULL ? "DELETE FROM public.totals_1" : "DELETE FROM totals_1");
    for (size_t count = 1; count > 0; count = out.count) /* what is there has no traceparent */
        must(p->store->ops->events.perspective_advance(p->store, &in, p->arena, &out, &p->err), &p->err);
    assert_int_equal(out.link_count, 0);
    append_traced(p, "a", "{\"n\":1}", TRACED("1"));
    append_traced(p, "a", "{\"n\":1}", TRACED("1"));
    append_traced(p, "b", "{\"n\":1}", TRACED("2"));
    append_traced(p, "b", "{\"n\":5000}", TRACED("3")); /* too much */
    pawl_str streams[] = {STR("a"), STR("b")};
    in.streams = streams;
    in.stream_count = 2;
    must(p->store->ops->events.perspective_advance(p->store, &in, p->arena, &out, &p->err), &p->err);
    assert_int_equal(out.count, 2);
    assert_int_equal(out.items[1].answer, ANSWER_INVALID);
    assert_int_equal(out.link_count, 3);
    assert_true(linked(&out, TRACED("1")) && linked(&out, TRACED("2")) && linked(&out, TRACED("3")));
}

static void sql_perspectives_on_postgres(void **state) {
    struct place p = {.postgres = *state, .arena = arena_create(0)};
    p.store = store_made(p.postgres, "pawl");
    value(p.postgres, "CREATE TABLE public.totals_1 (stream text PRIMARY KEY, total integer NOT NULL CHECK "
                      "(total < 1000)); "
                      "CREATE TABLE public.totals_2 (LIKE public.totals_1 INCLUDING ALL)");
    sql_story(&p);
    links_story(&p);
    store_close(p.store);
    arena_free(p.arena);
}

static void sql_perspectives_on_sqlite(void **state) {
    struct sqlitefile *file = *state;
    struct place p = {.file = file->path, .arena = arena_create(0)};
    sqlitefile_migrate(file->path);
    p.store = sqlitefile_open(file->path);
    look(&p, "CREATE TABLE totals_1 (stream TEXT PRIMARY KEY, total INTEGER NOT NULL CHECK (total < 1000))");
    look(&p, "CREATE TABLE totals_2 (stream TEXT PRIMARY KEY, total INTEGER NOT NULL CHECK (total < 1000))");
    sql_story(&p);
    links_story(&p);
    store_close(p.store);
    arena_free(p.arena);
}

static const pawl_event one = {.type = {"Created", 7}, .payload = {"{}", 2}};

static void an_append_lives_and_dies_with_the_callers_transaction(void **state) {
    struct fixture *f = *state;
    store_close(store_made(f, "pawl"));
    pawl_append_to to = {.stream = STR("x"), .expected_version = PAWL_NO_STREAM};
    pawl_appended at;
    assert_int_equal(pawl_append_pg(f->conn, &to, &one, 1, &at, &f->err), PAWL_INVALID);
    value(f, "BEGIN");
    must(pawl_append_pg(f->conn, &to, &one, 1, &at, &f->err), &f->err);
    value(f, "ROLLBACK; BEGIN");
    must(pawl_append_pg(f->conn, &to, &one, 1, &at, &f->err), &f->err);
    assert_int_equal(at.version, 1);
    assert_int_equal(pawl_append_pg(f->conn, &to, &one, 1, &at, &f->err), PAWL_CONFLICT);
    assert_int_equal(at.version, 1);
    assert_non_null(strstr(f->err.text, "version 1"));
    value(f, "COMMIT");
    assert_string_equal(value(f, "SELECT count(*) FROM pawl_internal.event"), "1");
    assert_string_equal(value(f,
                              "SELECT version FROM pawl.append('x', 1, "
                              "'[{\"type\":\"Paid\",\"payload\":{}},{\"type\":\"Paid\",\"payload\":{}}]')"),
                        "3");
    /* Repeated: the versions of the first call, whatever came after it; the same id with anything else:
     * refused. */
    static const char paid[] =
        "SELECT first_version || ' ' || version || ' ' || repeated FROM pawl.append('y', 0, "
        "'[{\"id\":\"01900000-0000-7000-8000-000000000077\",\"type\":\"Paid\","
        "\"payload\":{\"n\":1}}]')";
    assert_string_equal(value(f, paid), "1 1 false");
    value(f, "SELECT pawl.append('y', 1, '[{\"type\":\"Shipped\",\"payload\":{}}]')");
    assert_string_equal(value(f, paid), "1 1 true");
    assert_string_equal(sqlstate_on(f, f->conn,
                                    "SELECT pawl.append('y', -1, '[{\"id\":\"01900000-0000-7000-8000-"
                                    "000000000077\",\"type\":\"Paid\",\"payload\":{\"n\":2}}]')"),
                        "PW003");
    assert_string_equal(sqlstate_on(f, f->conn,
                                    "SELECT pawl.append('z', -1, '[{\"id\":\"01900000-0000-7000-8000-"
                                    "000000000077\",\"type\":\"Paid\",\"payload\":{\"n\":1}}]')"),
                        "PW003");
    assert_string_equal(value(f, "SELECT version FROM pawl_internal.stream WHERE stream = 'y'"), "2");
    assert_string_equal(
        sqlstate_on(f, f->conn, "SELECT pawl.append('x', 1, '[{\"type\":\"Paid\",\"payload\":{}}]')"),
        "PW003");
    assert_string_equal(sqlstate_on(f, f->conn, "SELECT pawl.append('x', -1, '[{\"type\":\"Paid\"}]')"),
                        "PW001");
    assert_string_equal(sqlstate_on(f, f->conn, "SELECT pawl.append('x', -1, '[]')"), "PW001");
    assert_string_equal(sqlstate_on(f, f->conn,
                                    "SELECT pawl.append('x', -1, json_build_array(json_build_object('type', "
                                    "repeat('x', 500), 'payload', 1)))"),
                        "23514");
    assert_string_equal(value(f, "SELECT version FROM pawl_internal.stream WHERE stream = 'x'"), "3");
}

static void see_state(void *self, int64_t version, pawl_str state_json) {
    assert_int_equal(version, 1);
    *(bool *)self = str_equal(state_json, STR("{\"sum\":3}"));
}

/* Stream x is at version 1. */
static void snapshots_of(pawl_store *store) {
    pawl_error err;
    bool kept = false, seen = false;
    assert_int_equal(pawl_snapshot_get(store, STR("x"), STR("sum"), 0, see_state, &seen, &err),
                     PAWL_NOT_FOUND);
    assert_int_equal(pawl_snapshot_put(store, STR("x"), STR("sum"), 2, STR("{}"), &kept, &err),
                     PAWL_CONFLICT);
    must(pawl_snapshot_put(store, STR("x"), STR("sum"), 1, STR("{\"sum\":3}"), &kept, &err), &err);
    assert_true(kept);
    must(pawl_snapshot_put(store, STR("x"), STR("sum"), 1, STR("{}"), &kept, &err), &err);
    assert_false(kept);
    must(pawl_snapshot_get(store, STR("x"), STR("sum"), 0, see_state, &seen, &err), &err);
    assert_true(seen);
}

static void the_same_on_sqlite_and_waiting_has_a_deadline(void **state) {
    struct sqlitefile *file = *state;
    sqlite3 *db = NULL;
    pawl_error err;
    pawl_store_config config = {.url = file->path};
    pawl_store *store = NULL;
    pawl_append_to to = {.stream = STR("x"), .expected_version = PAWL_NO_STREAM};
    pawl_appended at;
    bool reached = true;
    sqlitefile_migrate(file->path);
    assert_int_equal(sqlite3_open(file->path, &db), SQLITE_OK);
    assert_int_equal(pawl_append_sqlite(db, &to, &one, 1, &at, &err), PAWL_INVALID);
    assert_int_equal(sqlite3_exec(db, "BEGIN IMMEDIATE", NULL, NULL, NULL), SQLITE_OK);
    must(pawl_append_sqlite(db, &to, &one, 1, &at, &err), &err);
    assert_int_equal(sqlite3_exec(db, "ROLLBACK", NULL, NULL, NULL), SQLITE_OK);
    sqlite3_close(db);
    must(pawl_open(&config, &store, &err), &err);
    must(pawl_append(store, STR("x"), PAWL_NO_STREAM, &one, 1, &at, &err), &err);
    assert_int_equal(at.version, 1);
    pawl_event named = {.id = {{1, 2, 3}}, .type = STR("Paid"), .payload = STR("{}")};
    must(pawl_append(store, STR("y"), PAWL_NO_STREAM, &named, 1, &at, &err), &err);
    assert_false(at.repeated);
    must(pawl_append(store, STR("y"), 1, &one, 1, &at, &err), &err);
    must(pawl_append(store, STR("y"), PAWL_NO_STREAM, &named, 1, &at, &err), &err);
    assert_true(at.repeated);
    assert_int_equal(at.version, 1);
    named.payload = STR("[]");
    assert_int_equal(pawl_append(store, STR("y"), PAWL_ANY_VERSION, &named, 1, &at, &err), PAWL_CONFLICT);
    assert_int_equal(at.version, 2);
    assert_int_equal(pawl_append(store, STR("x"), 7, &one, 1, &at, &err), PAWL_CONFLICT);
    assert_int_equal(at.version, 1);
    assert_int_equal(pawl_wait_for(store, STR("nobody"), STR("x"), 1, 10, &reached, &err), PAWL_NOT_FOUND);
    snapshots_of(store);
    pawl_close(store);
    struct store *inner = sqlitefile_open(file->path);
    struct event_pattern pattern = {PATTERN_EXACT, STR("Created")};
    struct perspective_new in = {
        .name = STR("p"), .version = 1, .patterns = &pattern, .pattern_count = 1, .run = RUN_FUNCTION};
    struct perspective_registered registered;
    must(inner->ops->events.perspective_register(inner, &in, &registered, &err), &err);
    store_close(inner);
    must(pawl_open(&config, &store, &err), &err);
    must(pawl_wait_for(store, STR("p"), STR("x"), 1, 30, &reached, &err), &err);
    assert_false(reached);
    pawl_close(store);
}

/* covers: P03 P04 B0.1 B0.17 */
static void patterns_agree_in_sql_and_c(void **state) {
    struct fixture *f = *state;
    static const char *const texts[] = {"OrderCreated",
                                        "order*",
                                        "*.Order?reated",
                                        "Outer+Inner",
                                        ".*Order.*",
                                        "(My\\.)?Order.*",
                                        "^Order(Created|Paid)$",
                                        "[A-C]x{2,3}",
                                        "a[^0-9]b",
                                        "(a+)+",
                                        "(a|b)*c",
                                        "a{0}",
                                        "a{2,1}",
                                        "a**",
                                        "x|",
                                        "(",
                                        ")",
                                        "[",
                                        "[]",
                                        "[a-",
                                        "[z-a]",
                                        "\\d",
                                        "\\.",
                                        "$",
                                        "^",
                                        "a$b",
                                        "{",
                                        "}",
                                        "(a?)*",
                                        "((a+)b)?",
                                        "((a+)b)+",
                                        "a.b",
                                        "??",
                                        "**",
                                        "a b",
                                        "a-b",
                                        "[a-c_.]+",
                                        "(((((((((a)))))))))",
                                        "a{1,101}",
                                        "",
                                        "\xc3\xa9"};
    static const char *const types[] = {"OrderCreated",  "My.OrderCreated",
                                        "my.orderpaid",  "Outer+Inner",
                                        "X.Outer+Inner", "ReorderRequested",
                                        "axx",           "Cxxx",
                                        "a\303\251b",    "a1b",
                                        "abac",          "c",
                                        "a.b",           "aXb",
                                        "a b",           "a-b",
                                        "abc_.",         "ab"};
    store_close(store_made(f, "pawl"));
    for (int mode = 1; mode <= 4; mode++) {
        for (size_t t = 0; t < sizeof texts / sizeof texts[0]; t++) {
            struct event_pattern pattern = {(enum pattern_mode)mode, str_from(texts[t])};
            char number[8];
            snprintf(number, sizeof number, "%d", mode);
            bool matches = false;
            pawl_error err;
            pawl_status status = event_pattern_matches(&pattern, STR("x"), &matches, &err);
            const char *values[3] = {number, texts[t], NULL};
            PGresult *made = PQexecParams(f->conn, "SELECT pawl_internal.pattern_regex($1::smallint, $2)", 2,
                                          NULL, values, NULL, NULL, 0);
            if ((PQresultStatus(made) == PGRES_TUPLES_OK) != (status == PAWL_OK))
                fail_msg("mode %d \"%s\": C says %s, SQL %s", mode, texts[t],
                         status == PAWL_OK ? "right" : err.text, PQerrorMessage(f->conn));
            if (status != PAWL_OK) {
                if (texts[t][0] >= 0 && mode == 4)
                    assert_string_equal(PQresultErrorField(made, PG_DIAG_MESSAGE_PRIMARY), err.text);
                PQclear(made);
                continue;
            }
            for (size_t i = 0; i < sizeof types / sizeof types[0]; i++) {
                must(event_pattern_matches(&pattern, str_from(types[i]), &matches, &err), &err);
                const char *pair[2] = {PQgetvalue(made, 0, 0), types[i]};
                PGresult *matched = PQexecParams(f->conn, "SELECT pawl_internal.pattern_matches($1, $2)", 2,
                                                 NULL, pair, NULL, NULL, 0);
                if ((PQgetvalue(matched, 0, 0)[0] == 't') != matches)
                    fail_msg("mode %d \"%s\" and \"%s\": C %d, SQL %s", mode, texts[t], types[i], matches,
                             PQgetvalue(matched, 0, 0));
                PQclear(matched);
            }
            PQclear(made);
        }
    }
}

/* A worker may run a perspective with its own rights only; a producer may append and nothing more. */
static void roles_are_kept_apart(void **state) {
    struct fixture *f = *state;
    store_close(store_made(f, "pawl"));
    value(
        f,
        "DO $$ BEGIN CREATE ROLE runs_worker IN ROLE pawl_worker, pawl_program; CREATE ROLE runs_operator IN "
        "ROLE pawl_operator, pawl_program; EXCEPTION WHEN duplicate_object THEN NULL; END $$");
    assert_string_equal(value(f, "SET ROLE pawl_producer; SELECT version FROM pawl.append('x', 0, "
                                 "'[{\"type\":\"Created\",\"payload\":{}}]')"),
                        "1");
    assert_string_equal(sqlstate_on(f, f->conn, "SELECT * FROM pawl_internal.events_all(0, false, 0, 10)"),
                        "42501");
    assert_string_equal(sqlstate_on(f, f->conn, "SELECT * FROM pawl_internal.event"), "42501");
    value(f, "RESET ROLE; CREATE TABLE public.secret (n integer); SET ROLE runs_worker");
    static const char registering[] =
        "SELECT answer FROM pawl_internal.perspective_register('p', 1, '{3}', '{*}', 1::smallint, "
        "'INSERT INTO public.secret VALUES (1)', NULL, 0, 0, 0::smallint, 1000)";
    assert_string_equal(sqlstate_on(f, f->conn, registering), "42501");
    value(f, "RESET ROLE; SET ROLE runs_operator");
    assert_string_equal(value(f, registering), "1");
    value(f, "SELECT pawl_internal.perspective_backfill('p@1', 10); RESET ROLE; SET ROLE runs_worker");
    value(f, "SELECT now_ms FROM pawl_internal.instance_register('00000000-0000-0000-0000-000000000001', "
             "'s', 'h', 1, "
             "NULL, 8, 0, 0, 0)");
    char sql[256];
    snprintf(
        sql, sizeof sql, "SELECT error FROM pawl_internal.perspective_apply('p@1', %.40s, '{x}', 0)",
        value(f, "SELECT token FROM pawl_internal.checkpoints_claim('00000000-0000-0000-0000-000000000001', "
                 "NULL, '{p@1}', 1, 60000)"));
    assert_non_null(strstr(value(f, sql), "permission denied"));
    value(f, "RESET ROLE");
    assert_string_equal(value(f, "SELECT count(*) FROM public.secret"), "0");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(sql_perspectives_on_sqlite, sqlitefile_setup, sqlitefile_teardown),
        cmocka_unit_test_setup_teardown(the_same_on_sqlite_and_waiting_has_a_deadline, sqlitefile_setup,
                                        sqlitefile_teardown),
        cmocka_unit_test_setup_teardown(sql_perspectives_on_postgres, fixture_setup, fixture_teardown),
        cmocka_unit_test_setup_teardown(an_append_lives_and_dies_with_the_callers_transaction, fixture_setup,
                                        fixture_teardown),
        cmocka_unit_test_setup_teardown(patterns_agree_in_sql_and_c, fixture_setup, fixture_teardown),
        cmocka_unit_test_setup_teardown(roles_are_kept_apart, fixture_setup, fixture_teardown),
    };
    if (pgserver_url() == NULL)
        return PGSERVER_SKIP;
    return cmocka_run_group_tests(tests, NULL, NULL);
}
