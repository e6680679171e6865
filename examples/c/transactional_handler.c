/* A handler that writes its own table, sends a message and finishes its own, all in one transaction. */

/*
 *   transactional_handler [URL]      URL: an SQLite file (default transactional_handler.db) or postgres://…
 *
 * It keeps account balances: every inbox message "payment.received" adds to a balance, emits "payment.booked"
 * to the outbox, and is finished, by one commit. A worker that dies in between has done nothing; a late one,
 * whose message was given to somebody else, is refused and its transaction with it. So the sum is right
 * whatever happens: an exactly-once effect, because the effect is written in the completing transaction.
 */
#include <libpq-fe.h>
#include <sqlite3.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <pawl.h>
#include <pawl_pg.h>
#include <pawl_sqlite.h>

enum { PAYMENTS = 60, ACCOUNTS = 3, AMOUNT = 5 };

struct bank {
    const char *url, *schema;
    bool postgres;
    pawl_worker *worker;
    atomic_int handled, refused;
};

static pawl_str text(const char *ptr) { return (pawl_str){ptr, strlen(ptr)}; }

/* What the handler does besides finishing its message; the statements are the same on both databases. */
static void statements(const pawl_message *message, char *sql, size_t size) {
    snprintf(sql, size,
             "INSERT INTO savings (account, cents) VALUES ('%.*s', %d) "
             "ON CONFLICT (account) DO UPDATE SET cents = savings.cents + %d",
             (int)message->stream.len, message->stream.ptr, AMOUNT, AMOUNT);
}

static pawl_outgoing booked(const pawl_message *message) {
    return (pawl_outgoing){.type = text("payment.booked"),
                           .stream = message->stream,
                           .payload = message->payload,
                           .correlation_id = message->correlation_id,
                           .causation_id = message->id};
}

static pawl_status book_sqlite(const struct bank *bank, const pawl_message *message, pawl_error *error) {
    sqlite3 *db = NULL;
    char sql[256];
    statements(message, sql, sizeof(sql));
    pawl_outgoing out = booked(message);
    pawl_status status = PAWL_UNAVAILABLE;
    snprintf(error->text, sizeof(error->text), "the database did not take it");
    if (sqlite3_open(bank->url, &db) == SQLITE_OK && sqlite3_busy_timeout(db, 5000) == SQLITE_OK &&
        sqlite3_exec(db, "PRAGMA wal_autocheckpoint = 0; BEGIN IMMEDIATE", NULL, NULL, NULL) == SQLITE_OK &&
        sqlite3_exec(db, sql, NULL, NULL, NULL) == SQLITE_OK)
        status = pawl_send_sqlite(db, NULL, &out, 1, NULL, error);
    if (status == PAWL_OK)
        status = pawl_finish_sqlite(db, message, error);
    if (status == PAWL_OK && sqlite3_exec(db, "COMMIT", NULL, NULL, NULL) != SQLITE_OK)
        status = PAWL_UNAVAILABLE;
    sqlite3_close(db); /* rolls back what was not committed */
    return status;
}

static bool run_pg(PGconn *conn, const char *sql) {
    PGresult *result = PQexec(conn, sql);
    bool good = PQresultStatus(result) == PGRES_COMMAND_OK || PQresultStatus(result) == PGRES_TUPLES_OK;
    PQclear(result);
    return good;
}

static pawl_status book_pg(const struct bank *bank, const pawl_message *message, pawl_error *error) {
    char sql[256], path[128];
    statements(message, sql, sizeof(sql));
    snprintf(path, sizeof(path), "SET search_path TO \"%s\"", bank->schema);
    pawl_outgoing out = booked(message);
    PGconn *conn = PQconnectdb(bank->url);
    pawl_status status = PAWL_UNAVAILABLE;
    snprintf(error->text, sizeof(error->text), "the database did not take it");
    if (PQstatus(conn) == CONNECTION_OK && run_pg(conn, path) && run_pg(conn, "BEGIN") && run_pg(conn, sql))
        status = pawl_send_pg(conn, bank->schema, NULL, &out, 1, NULL, error);
    if (status == PAWL_OK)
        status = pawl_finish_pg(conn, bank->schema, message, error);
    if (status == PAWL_OK && !run_pg(conn, "COMMIT"))
        status = PAWL_UNAVAILABLE;
    PQfinish(conn); /* rolls back what was not committed */
    return status;
}

static pawl_outcome book(const pawl_message *message, pawl_result *result, void *self) {
    struct bank *bank = self;
    pawl_error error = {0};
    /* A late worker: the same message under a token that is no longer in force must change nothing. */
    pawl_message late = *message;
    late.token--;
    pawl_status status = bank->postgres ? book_pg(bank, &late, &error) : book_sqlite(bank, &late, &error);
    atomic_fetch_add(&bank->refused, status == PAWL_STALE);
    status = bank->postgres ? book_pg(bank, message, &error) : book_sqlite(bank, message, &error);
    if (status == PAWL_OK) {
        atomic_fetch_add(&bank->handled, 1);
        return PAWL_DONE;
    }
    snprintf(result->error, sizeof(result->error), "%s", error.text);
    return status == PAWL_CONFLICT ? PAWL_SNOOZE : PAWL_RETRY;
}

static void stop_when_idle(void *self) {
    struct bank *bank = self;
    if (atomic_load(&bank->handled) >= PAYMENTS)
        pawl_worker_stop(bank->worker);
}

static long long ask_sqlite(const char *path, const char *sql) {
    sqlite3 *db = NULL;
    sqlite3_stmt *statement = NULL;
    long long number = -1;
    if (sqlite3_open(path, &db) == SQLITE_OK &&
        sqlite3_prepare_v2(db, sql, -1, &statement, NULL) == SQLITE_OK &&
        sqlite3_step(statement) == SQLITE_ROW)
        number = sqlite3_column_int64(statement, 0);
    sqlite3_finalize(statement);
    sqlite3_close(db);
    return number;
}

static long long ask_pg(const struct bank *bank, const char *sql) {
    char path[128];
    PGconn *conn = PQconnectdb(bank->url);
    long long number = -1;
    snprintf(path, sizeof(path), "SET search_path TO \"%s\"", bank->schema);
    if (run_pg(conn, path)) {
        PGresult *result = PQexec(conn, sql);
        if (PQresultStatus(result) == PGRES_TUPLES_OK && PQntuples(result) == 1)
            number = strtoll(PQgetvalue(result, 0, 0), NULL, 10);
        PQclear(result);
    }
    PQfinish(conn);
    return number;
}

static long long ask(const struct bank *bank, const char *sql) {
    return bank->postgres ? ask_pg(bank, sql) : ask_sqlite(bank->url, sql);
}

static pawl_status receive_payments(const pawl_store_config *config, pawl_error *error) {
    pawl_store *store = NULL;
    pawl_status status = pawl_open(config, &store, error);
    pawl_send_config inbox = {.kind = PAWL_INBOX, .consumer = text("bank")};
    for (int i = 0; i < PAYMENTS && status == PAWL_OK; i++) {
        char stream[32], payload[32];
        snprintf(stream, sizeof(stream), "account-%d", i % ACCOUNTS);
        snprintf(payload, sizeof(payload), "{\"cents\":%d}", AMOUNT);
        pawl_outgoing message = {
            .type = text("payment.received"), .stream = text(stream), .payload = text(payload)};
        status = pawl_send(store, &inbox, &message, 1, NULL, error);
    }
    pawl_close(store);
    return status;
}

int main(int argc, char **argv) {
    const char *schema = getenv("PAWL_SCHEMA");
    struct bank bank = {.url = argc > 1 ? argv[1] : "transactional_handler.db",
                        .schema = schema != NULL ? schema : "pawl"};
    bank.postgres = strncmp(bank.url, "postgres", 8) == 0;
    pawl_store_config store = {.url = bank.url, .schema = bank.schema};
    pawl_worker_config config = {.store = store,
                                 .service = "bank",
                                 .inbox = true,
                                 .poll_ms = 50,
                                 .on_idle = stop_when_idle,
                                 .self = &bank};
    pawl_handler handler = {.function = book, .self = &bank};
    pawl_error error = {0};
    pawl_status status = pawl_migrate(&store, &error);
    (void)ask(&bank, "CREATE TABLE savings (account TEXT PRIMARY KEY, cents BIGINT NOT NULL)");
    if (status == PAWL_OK)
        status = receive_payments(&store, &error);
    if (status == PAWL_OK)
        status = pawl_worker_create(&config, &bank.worker, &error);
    if (status == PAWL_OK)
        status = pawl_worker_on(bank.worker, "payment.*", &handler, &error);
    if (status == PAWL_OK)
        status = pawl_worker_run(bank.worker, NULL, &error);
    pawl_worker_free(bank.worker);
    if (status != PAWL_OK) {
        fprintf(stderr, "transactional_handler: %s\n", error.text);
        return 1;
    }
    long long sum = ask(&bank, "SELECT sum(cents) FROM savings");
    bool postgres =
        bank.postgres; /* where views show them in pawl's schema; the tables of SQLite have a prefix */
    long long sent = ask(&bank, postgres ? "SELECT count(*) FROM messages WHERE kind = 'outbox'"
                                         : "SELECT count(*) FROM pawl_message WHERE kind = 1");
    long long left = ask(&bank, postgres ? "SELECT count(*) FROM messages WHERE kind = 'inbox'"
                                         : "SELECT count(*) FROM pawl_message WHERE kind = 2");
    printf("%d payments: the balances are %lld cents, %lld messages were sent, %lld are left, %d late "
           "writers were refused\n",
           PAYMENTS, sum, sent, left, atomic_load(&bank.refused));
    return sum == PAYMENTS * AMOUNT && sent == PAYMENTS && left == 0 && atomic_load(&bank.refused) == PAYMENTS
               ? 0
               : 1;
}
