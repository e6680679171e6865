/* The state of a PostgreSQL database: a table that has changed is copied into a schema of the observer's own.
 */
#include <libpq-fe.h>
#include <stdlib.h>
#include <string.h>

#include "support/check.h"
#include "sweep/state.h"

struct postgres_state {
    struct state state; /* first */
    PGconn *conn;
};

/* Run once. What a lost connection was doing may still go on: a look waits until no other session is in a
 * statement or a transaction. */
static const char setup[] =
    "SET client_min_messages = warning; CREATE SCHEMA sweep;"
    "CREATE TABLE sweep.saved (rel regclass PRIMARY KEY, rows text, copy text, columns text);"
    "CREATE FUNCTION sweep.rows(rel regclass) RETURNS text LANGUAGE plpgsql AS $$ DECLARE r text; BEGIN "
    "EXECUTE format('SELECT count(*) || '':'' || coalesce(md5(string_agg(t::text, chr(10) ORDER BY "
    "t::text)), '''') FROM "
    "ONLY %s t', rel) INTO r; RETURN r; END $$;"
    "CREATE VIEW sweep.tables AS SELECT oid::regclass AS rel FROM pg_class WHERE relkind = 'r' AND "
    "relnamespace IN "
    "('pawl'::regnamespace, 'pawl_internal'::regnamespace);"
    "CREATE FUNCTION sweep.settle() RETURNS void LANGUAGE plpgsql AS $$ BEGIN FOR i IN 1 .. 2000 LOOP "
    "PERFORM pg_stat_clear_snapshot(); "
    "PERFORM 1 FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid() AND "
    "backend_type = "
    "'client backend' AND state <> 'idle'; EXIT WHEN NOT FOUND; PERFORM pg_sleep(0.005); END LOOP; END $$;"
    "CREATE FUNCTION sweep.save() RETURNS void LANGUAGE plpgsql AS $$ DECLARE t record; now text; BEGIN "
    "FOR t IN SELECT v.rel, s.rows, s.copy FROM sweep.tables v LEFT JOIN sweep.saved s USING (rel) LOOP "
    "now := sweep.rows(t.rel); CONTINUE WHEN now IS NOT DISTINCT FROM t.rows; "
    "IF t.copy IS NULL THEN t.copy := 'sweep.t' || t.rel::oid; EXECUTE format('CREATE TABLE %s (LIKE %s)', "
    "t.copy, t.rel); "
    "INSERT INTO sweep.saved SELECT t.rel, now, t.copy, string_agg(quote_ident(attname), ', ' ORDER BY "
    "attnum) FROM "
    "pg_attribute WHERE attrelid = t.rel AND attnum > 0 AND NOT attisdropped AND attgenerated = ''; "
    "ELSE EXECUTE format('DELETE FROM %s', t.copy); UPDATE sweep.saved SET rows = now WHERE rel = t.rel; END "
    "IF; "
    "EXECUTE format('INSERT INTO %s SELECT * FROM ONLY %s', t.copy, t.rel); END LOOP; END $$;"
    "CREATE FUNCTION sweep.restore() RETURNS void LANGUAGE plpgsql AS $$ DECLARE t record; BEGIN "
    "SET LOCAL session_replication_role = replica; "
    "FOR t IN SELECT s.* FROM sweep.saved s WHERE s.rows <> sweep.rows(s.rel) LOOP "
    "EXECUTE format('DELETE FROM ONLY %s', t.rel); EXECUTE format('INSERT INTO %s (%s) OVERRIDING SYSTEM "
    "VALUE SELECT %s "
    "FROM %s', t.rel, t.columns, t.columns, t.copy); END LOOP; END $$";

/* The first cell of the answer; PQclear the result. */
static const char *ask(struct postgres_state *self, const char *sql, PGresult **result) {
    *result = PQexec(self->conn, sql);
    if (PQresultStatus(*result) != PGRES_TUPLES_OK && PQresultStatus(*result) != PGRES_COMMAND_OK)
        fail_msg("the observer: %s", PQerrorMessage(self->conn));
    return PQntuples(*result) > 0 ? PQgetvalue(*result, 0, 0) : "";
}

static void run(struct state *state, const char *sql) {
    PGresult *result = NULL;
    (void)ask((struct postgres_state *)(void *)state, sql, &result);
    PQclear(result);
}

static struct state *open_state(const struct store_config *config) {
    struct postgres_state *self = calloc(1, sizeof *self);
    assert_non_null(self);
    self->state.ops = &state_postgres;
    self->conn = PQconnectdb(config->url);
    run(&self->state, setup);
    return &self->state;
}

static void close_state(struct state *state) {
    struct postgres_state *self = (struct postgres_state *)(void *)state;
    PQfinish(self->conn);
    free(self);
}

static void save(struct state *state) { run(state, "SELECT sweep.save()"); }

static bool same(struct state *state) {
    PGresult *result = NULL;
    run(state,
        "SELECT sweep.settle()"); /* in a transaction of its own: the next look must see what has ended */
    bool equal = strcmp(ask((struct postgres_state *)(void *)state,
                            "SELECT count(*) FROM sweep.saved s WHERE s.rows <> sweep.rows(s.rel)", &result),
                        "0") == 0;
    PQclear(result);
    return equal;
}

static void restore(struct state *state) { run(state, "SELECT sweep.restore()"); }

static char *counts(struct state *state) {
    PGresult *result = NULL;
    char *text = strdup(
        ask((struct postgres_state *)(void *)state,
            "SELECT string_agg(rel || ' ' || split_part(sweep.rows(rel), ':', 1), E'\\n' ORDER BY rel::text) "
            "FROM sweep.tables",
            &result));
    PQclear(result);
    return text;
}

const struct state_ops state_postgres = {open_state, close_state, save, same, restore, counts};
