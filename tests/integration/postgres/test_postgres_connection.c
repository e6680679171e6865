/* Errors of the PostgreSQL store when something is wrong with the server, the network or the address. */
#include <arpa/inet.h>
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/time/clock.h"
#include "integration/postgres/postgres_fixture.h"

enum { WAIT_MS = 60000 };

static pawl_status open_url(struct fixture *f, const char *url, struct store **store) {
    struct store_config config = {.url = url, .connect_timeout_ms = 5000};
    return store_open(&config, store, &f->err);
}

/* The fixture's address with another host, user or database, and a suffix. */
static void url_with(const struct fixture *f, const char *from, const char *to, const char *more,
                     char url[static PGSERVER_URL_BYTES]) {
    const char *at = strstr(f->url, from);
    assert_non_null(at);
    int written = snprintf(url, PGSERVER_URL_BYTES, "%.*s%s%s%s", (int)(at - f->url), f->url, to,
                           at + strlen(from), more);
    assert_in_range(written, 1, PGSERVER_URL_BYTES - 1);
}

/* 2130706433 is 127.0.0.1, but its name does not say so: it is treated as a host somewhere else.
 * covers: J51 */
static void a_host_elsewhere_needs_a_verified_certificate(void **state) {
    struct fixture *f = *state;
    struct store *store = NULL;
    char url[PGSERVER_URL_BYTES];
    store_close(store_made(f, "pawl"));
    url_with(f, "127.0.0.1", "2130706433", "", url);
    assert_int_equal(open_url(f, url, &store), PAWL_UNAVAILABLE);
    assert_true(strstr(f->err.text, "certificate") != NULL || strstr(f->err.text, "SSL") != NULL);
    /* If it is stated explicitly, it is the user's decision. */
    url_with(f, "127.0.0.1", "2130706433", "?sslmode=disable", url);
    assert_int_equal(open_url(f, url, &store), PAWL_OK);
    store_close(store);
}

/* covers: J51 */
static void no_password_is_ever_shown(void **state) {
    struct fixture *f = *state;
    static const char *const urls[] = {
        "postgres://me:hunter2@127.0.0.1:1/db",
        "postgres://me:hunter2%zz@127.0.0.1:1/db",
        "postgres://me@127.0.0.1:1/db?password=hunter2",
        "postgres://me:hunter2@127.0.0.1:1/db?nonsense=hunter2",
        "host=127.0.0.1 port=1 password=hunter2 dbname=x",
        "host=127.0.0.1 port=1 password hunter2",
    };
    for (size_t i = 0; i < sizeof urls / sizeof urls[0]; i++) {
        struct store *store = NULL;
        assert_int_not_equal(open_url(f, urls[i], &store), PAWL_OK);
        assert_null(strstr(f->err.text, "hunter2"));
        assert_true(strlen(f->err.text) > 20);
    }
}

/* Ours come after the user's: cut off, a session would run without them. */
static void options_that_are_too_long_are_refused(void **state) {
    struct fixture *f = *state;
    struct store *store = NULL;
    char url[PGSERVER_URL_BYTES + 1024];
    store_close(store_made(f, "pawl"));
    int len = snprintf(url, sizeof url, "%s?options=", f->url);
    for (int i = 0; i < 40; i++)
        len += snprintf(url + len, sizeof url - (size_t)len, "-c%%20x.y%d%%3D1%%20", i);
    assert_int_equal(open_url(f, url, &store), PAWL_INVALID);
    assert_non_null(strstr(f->err.text, "shorten options="));
}

static pawl_status put_one(struct fixture *f, struct store *store, pawl_uuid id) {
    pawl_outgoing message = {.id = id, .type = STR("t"), .payload = STR("{}")};
    struct messages_put put = {.kind = KIND_INBOX, .messages = &message, .count = 1, .consumer = STR("c")};
    struct put_result result;
    struct arena *arena = arena_create(0);
    pawl_status status = store->ops->core.messages_put(store, &put, arena, &result, &f->err);
    arena_free(arena);
    return status;
}

/* Ends the sessions of the stores, and waits until they are gone: a server closes a socket in its own time.
 */
static void end_sessions(struct fixture *f) {
    value(f, "select pg_terminate_backend(pid) from pg_stat_activity where application_name = 'pawl' and "
             "datname = current_database()");
    while (
        strcmp(value(f, "select count(*) from pg_stat_activity where application_name = 'pawl' and datname = "
                        "current_database()"),
               "0") != 0)
        continue;
}

/* A connection that was cut while idle is replaced silently. */
static void a_lost_idle_connection_is_replaced(void **state) {
    struct fixture *f = *state;
    struct store *store = store_made(f, "pawl");
    int64_t now_ms = 0;
    end_sessions(f);
    assert_int_equal(store->ops->core.clock_read(store, &now_ms, &f->err), PAWL_OK);
    assert_int_equal(put_one(f, store, (pawl_uuid){{1}}), PAWL_OK);
    store_close(store);
}

/* A statement is parsed once and called by name; if the schema changes, the store starts over. */
static void a_statement_whose_result_changed_is_asked_anew(void **state) {
    struct fixture *f = *state;
    struct store *store = store_made(f, "pawl");
    int64_t now_ms = 0;
    for (int i = 0; i < 3; i++)
        assert_int_equal(store->ops->core.clock_read(store, &now_ms, &f->err), PAWL_OK);
    value(f, "alter function pawl_internal.now_ms() rename to before; create function pawl_internal.now_ms() "
             "returns integer "
             "language sql as 'select 7'");
    if (store->ops->core.clock_read(store, &now_ms, &f->err) != PAWL_OK)
        fail_msg("%s", f->err.text);
    assert_int_equal(now_ms, 7);
    store_close(store);
}

static void a_server_that_is_down_is_unavailable(void **state) {
    struct fixture own = {.err = {0}};
    struct pgserver *server = pgserver_start(false);
    (void)state;
    assert_non_null(server);
    snprintf(own.url, sizeof own.url, "%s", server->url);
    struct store *store = store_made(&own, "pawl");
    pgserver_stop(server);
    int64_t now_ms = 0;
    assert_int_equal(store->ops->core.clock_read(store, &now_ms, &own.err), PAWL_UNAVAILABLE);
    assert_int_equal(put_one(&own, store, (pawl_uuid){{1}}), PAWL_UNAVAILABLE);
    assert_non_null(strstr(own.err.text, "cannot connect"));
    store_close(store);
}

struct writer {
    struct fixture fixture;
    struct store *store;
    pawl_status status;
};

static void *write_in_thread(void *self) {
    struct writer *writer = self;
    writer->status = put_one(&writer->fixture, writer->store, (pawl_uuid){{9}});
    return NULL;
}

/* Until one does not succeed: a server that was told to reload its settings takes them up when it likes. */
static void *write_on_in_thread(void *self) {
    struct writer *writer = self;
    for (uint8_t n = 1; n != 0 && writer->status == PAWL_OK; n++)
        writer->status = put_one(&writer->fixture, writer->store, (pawl_uuid){{9, n}});
    return NULL;
}

/* The process id of the store's backend, once it waits for the key that f's session holds. */
static pid_t waiting_backend(struct fixture *f) {
    for (int64_t until_ms = clock_boot_ms() + WAIT_MS; clock_boot_ms() < until_ms;) {
        long pid = strtol(
            value(f, "select coalesce(max(pid), 0) from pg_stat_activity where application_name = 'pawl' and "
                     "datname = current_database() and wait_event_type = 'Lock'"),
            NULL, 10);
        if (pid > 0)
            return (pid_t)pid;
    }
    fail_msg("no backend waits for the key");
    return 0;
}

/* A writer waits for a key of an open transaction; its backend ends by the signal. What does the writer hear?
 */
static pawl_status status_when_cut_off(struct fixture *own, int signal_number) {
    struct writer writer = {.fixture = *own};
    pthread_t thread;
    writer.store = store_made(&writer.fixture, "pawl");
    value(
        own,
        "begin; insert into pawl_internal.dedupe values ('c', '09000000-0000-0000-0000-000000000000', 1, 1)");
    assert_int_equal(pthread_create(&thread, NULL, write_in_thread, &writer), 0);
    assert_int_equal(kill(waiting_backend(own), signal_number), 0);
    assert_int_equal(pthread_join(thread, NULL), 0);
    store_close(writer.store);
    return writer.status;
}

/* covers: B3.8 */
static void a_write_that_was_cut_off_is_unknown(void **state) {
    (void)state;
    struct fixture own = {.err = {0}};
    struct pgserver *server = pgserver_start(false);
    assert_non_null(server);
    snprintf(own.url, sizeof own.url, "%s", server->url);
    own.conn = PQconnectdb(own.url);
    /* Told to end, the backend says so first: nothing happened, and the caller knows. */
    assert_int_equal(status_when_cut_off(&own, SIGTERM), PAWL_UNAVAILABLE);
    value(&own, "rollback");
    /* Killed, it says nothing: it may have happened. */
    assert_int_equal(status_when_cut_off(&own, SIGKILL), PAWL_UNKNOWN);
    PQfinish(own.conn);
    pgserver_stop(server);
}

/* The words of an application's trigger, or of the server about something else, say nothing about the commit.
 */
static void a_warning_is_not_a_lost_commit(void **state) {
    struct fixture *f = *state;
    struct store *store = store_made(f, "pawl");
    value(f, "create function public.warns() returns trigger language plpgsql as $$ begin raise warning 'the "
             "transaction has already committed locally, but might not have been replicated to the standby'; "
             "raise notice 'n'; raise warning using errcode = '57P01', message = 'w'; return new; end $$; "
             "create trigger warns before insert on pawl_internal.message for each row execute function "
             "public.warns()");
    if (put_one(f, store, (pawl_uuid){{1}}) != PAWL_OK)
        fail_msg("%s", f->err.text);
    store_close(store);
}

/* The status of a write whose wait for a standby that is not there ends by this. */
static pawl_status status_without_standby(struct fixture *own, const char *ends) {
    struct writer writer = {.fixture = *own};
    pthread_t thread;
    char text[256];
    writer.store = store_made(&writer.fixture, "pawl");
    value(own, "alter system set synchronous_standby_names = 'nobody'");
    value(own, "select pg_reload_conf()");
    assert_int_equal(pthread_create(&thread, NULL, write_on_in_thread, &writer), 0);
    snprintf(text, sizeof text,
             "select count(%s(pid)) from pg_stat_activity where application_name = 'pawl' and wait_event = "
             "'SyncRep'",
             ends);
    for (int64_t until_ms = clock_boot_ms() + WAIT_MS; strcmp(value(own, text), "0") == 0;)
        assert_true(clock_boot_ms() < until_ms);
    assert_int_equal(pthread_join(thread, NULL), 0);
    value(own, "alter system reset synchronous_standby_names");
    value(own, "select pg_reload_conf()");
    store_close(writer.store);
    return writer.status;
}

/* covers: B3.8 */
static void a_commit_without_its_standby_is_unknown(void **state) {
    (void)state;
    struct fixture own = {.err = {0}};
    struct pgserver *server = pgserver_start(false);
    assert_non_null(server);
    snprintf(own.url, sizeof own.url, "%s", server->url);
    own.conn = PQconnectdb(own.url);
    value(&own, "set synchronous_commit = local");
    assert_int_equal(status_without_standby(&own, "pg_cancel_backend"), PAWL_UNKNOWN);
    assert_int_equal(status_without_standby(&own, "pg_terminate_backend"), PAWL_UNKNOWN);
    PQfinish(own.conn);
    pgserver_stop(server);
}

static void a_server_that_takes_no_writes_is_unavailable(void **state) {
    struct fixture *f = *state;
    store_close(store_made(f, "pawl"));
    value(f, "do $$ begin execute format('alter database %I set default_transaction_read_only = on', "
             "current_database()); end $$");
    struct store *store = NULL;
    int64_t now_ms = 0;
    assert_int_equal(open_url(f, f->url, &store), PAWL_OK);
    assert_int_equal(store->ops->core.clock_read(store, &now_ms, &f->err), PAWL_OK);
    assert_int_equal(put_one(f, store, (pawl_uuid){{1}}), PAWL_UNAVAILABLE);
    assert_non_null(strstr(f->err.text, "takes no writes"));
    store_close(store);
    value(
        f,
        "set default_transaction_read_only = off; do $$ begin execute format('alter database %I reset all', "
        "current_database()); end $$");
}

static void waiting_too_long_for_somebody_is_busy(void **state) {
    struct fixture *f = *state;
    store_close(store_made(f, "pawl"));
    struct store_config config = {.url = f->url, .statement_timeout_ms = 300};
    struct store *store = NULL;
    assert_int_equal(store_open(&config, &store, &f->err), PAWL_OK);
    value(
        f,
        "begin; insert into pawl_internal.dedupe values ('c', '09000000-0000-0000-0000-000000000000', 1, 1)");
    assert_int_equal(put_one(f, store, (pawl_uuid){{9}}), PAWL_BUSY);
    value(f, "rollback");
    assert_int_equal(put_one(f, store, (pawl_uuid){{9}}), PAWL_OK);
    store_close(store);
}

static void a_role_without_rights_hears_what_to_grant(void **state) {
    struct fixture *f = *state;
    struct store *store = NULL;
    char url[PGSERVER_URL_BYTES];
    store_close(store_made(f, "pawl"));
    value(f, "do $$ begin if not exists (select from pg_roles where rolname = 'nobody_yet') then create role "
             "nobody_yet "
             "login; end if; end $$");
    value(f, "revoke pawl_worker, pawl_program from nobody_yet"); /* roles outlive databases */
    url_with(f, "postgres@", "nobody_yet@", "", url);
    assert_int_equal(open_url(f, url, &store), PAWL_CONFLICT);
    assert_non_null(strstr(f->err.text, "pawl_worker"));
    assert_non_null(strstr(f->err.text, "pawl_program"));
    value(f, "grant pawl_worker to nobody_yet");
    assert_int_equal(open_url(f, url, &store), PAWL_CONFLICT);
    value(f, "grant pawl_program to nobody_yet");
    assert_int_equal(open_url(f, url, &store), PAWL_OK);
    assert_int_equal(put_one(f, store, (pawl_uuid){{1}}), PAWL_OK);
    store_close(store);
}

/* A port on which connections are accepted, by the kernel, and never answered: a server that is frozen. */
static int silent_server(int *port) {
    struct sockaddr_in name = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t len = sizeof name;
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    assert_return_code(fd, errno);
    assert_return_code(bind(fd, (struct sockaddr *)&name, len), errno);
    assert_return_code(listen(fd, 16), errno);
    assert_return_code(getsockname(fd, (struct sockaddr *)&name, &len), errno);
    *port = ntohs(name.sin_port);
    return fd;
}

/* After a failover the old primary may be frozen and still first in the list. The next connection begins with
 * the server that answered. */
static void a_host_that_does_not_answer_is_passed_over(void **state) {
    struct fixture *f = *state;
    struct store *store = NULL;
    char url[PGSERVER_URL_BYTES], hosts[64];
    int64_t now_ms = 0;
    int port;
    store_close(store_made(f, "pawl"));
    int fd = silent_server(&port);
    snprintf(hosts, sizeof hosts, "127.0.0.1:%d,127.0.0.1", port);
    url_with(f, "127.0.0.1", hosts, "", url);
    int64_t began_ms = clock_boot_ms();
    assert_int_equal(open_url(f, url, &store), PAWL_OK);
    assert_in_range(clock_boot_ms() - began_ms, 0, 5000 - 1);
    end_sessions(f);
    began_ms = clock_boot_ms();
    assert_int_equal(store->ops->core.clock_read(store, &now_ms, &f->err), PAWL_OK);
    assert_int_equal(put_one(f, store, (pawl_uuid){{1}}), PAWL_OK);
    assert_in_range(clock_boot_ms() - began_ms, 0, 1000);
    store_close(store);
    /* The address may set the time for each. */
    url_with(f, "127.0.0.1", hosts, "?connect_timeout=1", url);
    began_ms = clock_boot_ms();
    assert_int_equal(open_url(f, url, &store), PAWL_OK);
    assert_in_range(clock_boot_ms() - began_ms, 900, 2000);
    store_close(store);
    close(fd);
}

static void a_wrong_schema_name_never_reaches_the_server(void **state) {
    struct fixture *f = *state;
    static const char *const names[] = {"",        "Pawl",  "a b", "x; drop schema pawl",
                                        "pg_pawl", "\"q\"", "1st", "pawl_internal"};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        struct store_config config = {.url = f->url, .schema = names[i]};
        struct migrate_config counts = {0};
        struct migrate_result made;
        assert_int_equal(store_migrate(&config, &counts, &made, &f->err), PAWL_INVALID);
    }
}

#define CASE(name) cmocka_unit_test_setup_teardown(name, fixture_setup, fixture_teardown)

int main(void) {
    if (pgserver_url() == NULL)
        return PGSERVER_SKIP;
    const struct CMUnitTest tests[] = {
        CASE(a_host_elsewhere_needs_a_verified_certificate),
        CASE(options_that_are_too_long_are_refused),
        CASE(no_password_is_ever_shown),
        CASE(a_lost_idle_connection_is_replaced),
        CASE(a_statement_whose_result_changed_is_asked_anew),
        CASE(a_server_that_is_down_is_unavailable),
        CASE(a_write_that_was_cut_off_is_unknown),
        CASE(a_warning_is_not_a_lost_commit),
        CASE(a_commit_without_its_standby_is_unknown),
        CASE(a_server_that_takes_no_writes_is_unavailable),
        CASE(waiting_too_long_for_somebody_is_busy),
        CASE(a_role_without_rights_hears_what_to_grant),
        CASE(a_host_that_does_not_answer_is_passed_over),
        CASE(a_wrong_schema_name_never_reaches_the_server),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
