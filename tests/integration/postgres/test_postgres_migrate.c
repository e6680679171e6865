/* Migrations of the PostgreSQL store: many at once, several schemas, other versions. */
#include <sys/wait.h>
#include <unistd.h>

#include "integration/postgres/postgres_fixture.h"
#include "sql_embedded.h"
#include "store/postgres/calls.h"

enum { PROCESSES = 8 };

/* What each of the processes does: makes the schema, joins, leaves the result in its exit code. */
static int migrate_and_join(const char *url) {
    struct store_config config = {.url = url, .schema = "rush"};
    struct migrate_config counts = {.partition_count = 1000, .lane_count = 8};
    struct migrate_result made;
    struct instance_grant grant;
    struct store *store = NULL;
    pawl_error err;
    struct instance_new in = {
        .service = STR("rush"), .host = STR("here"), .kinds = KIND_BITS_ALL, .lease_ms = 600000};
    if (store_migrate(&config, &counts, &made, &err) != PAWL_OK || uuid_next(&in.id, &err) != PAWL_OK ||
        store_open(&config, &store, &err) != PAWL_OK ||
        store->ops->core.instance_register(store, &in, &grant, &err) != PAWL_OK) {
        fprintf(stderr, "%s: %s\n", err.op, err.text);
        return 100;
    }
    store_close(store);
    return made.applied == 0 ? 0 : made.applied == (int)sql_postgres_migrations_count ? 1 : 101;
}

/* covers: P68 P69 M21 */
static void eight_processes_make_the_schema_once(void **state) {
    struct fixture *f = *state;
    pid_t pids[PROCESSES];
    int applied = 0;
    for (int i = 0; i < PROCESSES; i++) {
        pids[i] = fork();
        assert_true(pids[i] >= 0);
        if (pids[i] == 0)
            _exit(migrate_and_join(f->url));
    }
    for (int i = 0; i < PROCESSES; i++) {
        int status = 0;
        assert_int_equal(waitpid(pids[i], &status, 0), pids[i]);
        assert_true(WIFEXITED(status));
        assert_in_range(WEXITSTATUS(status), 0, 1);
        applied += WEXITSTATUS(status);
    }
    assert_int_equal(applied, 1);
    assert_int_equal(strtol(value(f, "select count(*) from rush_internal.schema_migration"), NULL, 10),
                     sql_postgres_migrations_count);
    assert_string_equal(value(f, "select count(distinct id) from rush_internal.instance"), "8");
    /* Everybody has room for a share, and no lane has two owners by construction; none is left over after a
     * beat each. */
    assert_string_equal(value(f, "select count(*) from rush_internal.lane"), "24");
    assert_string_equal(
        value(f, "select count(*) from rush_internal.lane where kind = 1 and owner is not null"), "8");
}

/* covers: P66 P67 P68 P69 */
static void two_services_have_two_schemas_in_one_database(void **state) {
    struct fixture *f = *state;
    struct store *stores[2] = {store_made(f, "inventory"), store_made(f, "bff")};
    struct arena *arena = arena_create(0);
    for (int i = 0; i < 2; i++) {
        struct instance_new in = {.service = STR("svc"), .kinds = KIND_BIT(KIND_OUTBOX), .lease_ms = 600000};
        struct instance_grant grant;
        pawl_outgoing message = {.stream = STR("order-1"), .type = STR("t"), .payload = STR("{}")};
        struct messages_put put = {.kind = KIND_OUTBOX, .messages = &message, .count = 1};
        struct put_result done;
        assert_int_equal(uuid_next(&in.id, &f->err), PAWL_OK);
        assert_int_equal(stores[i]->ops->core.instance_register(stores[i], &in, &grant, &f->err), PAWL_OK);
        assert_int_equal(grant.lanes_owned, 8); /* nobody shares with the other service */
        assert_int_equal(stores[i]->ops->core.messages_put(stores[i], &put, arena, &done, &f->err), PAWL_OK);
        struct messages_claim claim = {.instance = in.id, .kind = KIND_OUTBOX, .max = 10, .lease_ms = 60000};
        struct item_list items;
        assert_int_equal(stores[i]->ops->core.messages_claim(stores[i], &claim, arena, &items, &f->err),
                         PAWL_OK);
        assert_int_equal(items.count, 1); /* both process the stream, each its own message */
    }
    assert_string_equal(
        value(
            f,
            "select (select id from inventory_internal.instance) <> (select id from bff_internal.instance)"),
        "t");
    /* No function of one schema names the other, or the one the files were written for. */
    assert_string_equal(value(f,
                              "select count(*) from pg_proc p join pg_namespace n on n.oid = p.pronamespace "
                              "where n.nspname like 'inventory%' and (p.prosrc ~ '\\mpawl(_internal)?\\.' or "
                              "p.prosrc ~ '\\mbff')"),
                        "0");
    arena_free(arena);
    store_close(stores[0]);
    store_close(stores[1]);
}

static void another_version_is_refused(void **state) {
    struct fixture *f = *state;
    struct store_config config = {.url = f->url, .schema = "later"};
    struct migrate_config counts = {0};
    struct migrate_result made;
    struct store *store = store_made(f, "later");
    char refusal[128];
    store_close(store);
    value(f, "insert into later_internal.schema_migration values (700, '0700_from_the_future', 'x', 0)");
    snprintf(refusal, sizeof refusal,
             "the schema has version 700, this program knows up to %zu: upgrade pawl",
             sql_postgres_migrations_count);
    assert_int_equal(store_open(&config, &store, &f->err), PAWL_CONFLICT);
    assert_non_null(strstr(f->err.text, refusal));
    assert_int_equal(store_migrate(&config, &counts, &made, &f->err), PAWL_CONFLICT);
    assert_non_null(strstr(f->err.text, refusal));
    value(f, "delete from later_internal.schema_migration where version = 700");
    value(f, "update later_internal.schema_migration set checksum = 'edited'");
    assert_int_equal(store_migrate(&config, &counts, &made, &f->err), PAWL_CONFLICT);
    assert_non_null(strstr(f->err.text, "0001_schema"));
}

static void a_missing_schema_says_what_to_do(void **state) {
    struct fixture *f = *state;
    struct store_config config = {.url = f->url, .schema = "nowhere"};
    struct store *store = NULL;
    assert_int_equal(store_open(&config, &store, &f->err), PAWL_CONFLICT);
    assert_non_null(strstr(f->err.text, "pawl migrate"));
    assert_null(store);
}

/* A function of another version: other parameters, another result, other text. Migrating puts ours in its
 * place. */
static void a_changed_function_is_replaced(void **state) {
    struct fixture *f = *state;
    struct store_config config = {.url = f->url, .schema = "changed"};
    struct migrate_config counts = {0};
    struct migrate_result made;
    store_close(store_made(f, "changed"));
    value(
        f,
        "set role changed_owner; drop function changed_internal.answer_names(smallint[]); "
        "create function changed_internal.answer_names(text, text) returns text language sql as 'select $1';"
        "drop function changed_internal.now_ms(); create function changed_internal.now_ms() returns text "
        "language sql as "
        "'select 1::text';"
        "update changed_internal.schema_function set checksum = 'old' where name in ('answer_names', "
        "'now_ms'); "
        "reset role");
    assert_int_equal(store_migrate(&config, &counts, &made, &f->err), PAWL_OK);
    assert_int_equal(made.applied, 0);
    assert_string_equal(
        value(f, "select count(*) from pg_proc p where p.pronamespace = 'changed_internal'::regnamespace "
                 "and p.proname in ('answer_names', 'now_ms')"),
        "2");
    assert_string_equal(value(f, "select changed_internal.answer_names('{1}')::text"), "[\"applied\"]");
    assert_string_equal(value(f, "select pg_typeof(changed_internal.now_ms())"), "bigint");
}

/* Without the right to make roles everything still works, as the owner. */
static void roles_are_not_needed(void **state) {
    struct fixture *f = *state;
    value(f, "do $$ begin if not exists (select from pg_roles where rolname = 'plain_owner') then "
             "create role plain_owner login; end if; end $$");
    value(f, "do $$ begin execute format('grant create on database %I to plain_owner', current_database()); "
             "end $$");
    struct fixture plain = *f;
    char *at = strstr(plain.url, "postgres@");
    assert_non_null(at);
    char rest[PGSERVER_URL_BYTES];
    snprintf(rest, sizeof rest, "%s", at + strlen("postgres@"));
    snprintf(at, sizeof plain.url - (size_t)(at - plain.url), "plain_owner@%s", rest);
    struct store *store = store_made(&plain, "modest");
    struct store_config modest = {.url = plain.url, .schema = "modest"};
    struct store_config other = {.url = f->url, .schema = "usual"};
    struct migrate_result again = {0};
    assert_int_equal(store_migrate(&modest, &(struct migrate_config){0}, &again, &f->err), PAWL_OK);
    assert_true(again.without_roles); /* and whoever migrates can say so */
    assert_int_equal(store_migrate(&other, &(struct migrate_config){0}, &again, &f->err), PAWL_OK);
    assert_false(again.without_roles);
    int64_t now_ms = 0;
    assert_int_equal(store->ops->core.clock_read(store, &now_ms, &f->err), PAWL_OK);
    assert_true(now_ms > 0);
    store_close(store);
    assert_string_equal(value(f, "select count(*) from pg_roles where rolname like 'modest\\_%'"), "0");
}

/* Migrations come in pairs: one dialect may have nothing to do. */
static void a_migration_of_comments_does_nothing(void **state) {
    struct fixture *f = *state;
    static const char *const texts[] = {"-- 0042_other_dialect: nothing to do here\n", "/* nothing */ ;", "",
                                        ";"};
    struct store *store = store_made(f, "pawl");
    struct postgres *self = postgres_of(store);
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        char sqlstate[6];
        assert_int_equal(pg_script_run(self, "script", texts[i], sqlstate, &f->err), PAWL_OK);
        assert_string_equal(sqlstate, "");
    }
    int64_t now_ms = 0; /* the connection is as good as before */
    assert_int_equal(store->ops->core.clock_read(store, &now_ms, &f->err), PAWL_OK);
    char sqlstate[6];
    assert_int_not_equal(pg_script_run(self, "script", "-- wrong\nSELEC", sqlstate, &f->err), PAWL_OK);
    assert_string_equal(sqlstate, "42601");
    store_close(store);
}

int main(void) {
    if (pgserver_url() == NULL)
        return PGSERVER_SKIP;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(eight_processes_make_the_schema_once, fixture_setup,
                                        fixture_teardown),
        cmocka_unit_test_setup_teardown(two_services_have_two_schemas_in_one_database, fixture_setup,
                                        fixture_teardown),
        cmocka_unit_test_setup_teardown(another_version_is_refused, fixture_setup, fixture_teardown),
        cmocka_unit_test_setup_teardown(a_missing_schema_says_what_to_do, fixture_setup, fixture_teardown),
        cmocka_unit_test_setup_teardown(a_changed_function_is_replaced, fixture_setup, fixture_teardown),
        cmocka_unit_test_setup_teardown(a_migration_of_comments_does_nothing, fixture_setup,
                                        fixture_teardown),
        cmocka_unit_test_setup_teardown(roles_are_not_needed, fixture_setup, fixture_teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
