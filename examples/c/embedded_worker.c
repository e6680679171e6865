/* A program that sends messages inside its own transactions and handles them with its own functions. */

/*
 *   embedded_worker [URL]      URL: an SQLite file (default embedded_worker.db) or postgres://…
 *
 * It books orders: the order's row and the message about it are written by one transaction, so that there is
 * never one without the other. The worker then handles the messages of each customer one by one, in order.
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

enum { ORDERS = 60, CUSTOMERS = 3 };

struct shop {
    pawl_worker *worker;
    atomic_int handled;
    atomic_int wrong;
    int last[CUSTOMERS]; /* the worker handles one message of a customer at a time: no lock is needed */
};

/* ---- Sending ---- */

static pawl_outgoing order_message(int number, char *stream, char *payload, size_t size) {
    snprintf(stream, size, "customer-%d", number % CUSTOMERS);
    snprintf(payload, size, "{\"customer\":%d,\"order\":%d}", number % CUSTOMERS, number);
    return (pawl_outgoing){.type = {"order.created", strlen("order.created")},
                           .stream = {stream, strlen(stream)},
                           .payload = {payload, strlen(payload)}};
}

static int run_sql(sqlite3 *db, const char *sql) {
    char *message = NULL;
    int code = sqlite3_exec(db, sql, NULL, NULL, &message);
    if (code != SQLITE_OK)
        fprintf(stderr, "%s: %s\n", sql, message);
    sqlite3_free(message);
    return code == SQLITE_OK ? 0 : 1;
}

/* Every tenth order is rolled back: its message must never be seen. */
static int book_sqlite(const char *path) {
    sqlite3 *db = NULL;
    pawl_error error;
    int failed = sqlite3_open(path, &db) != SQLITE_OK;
    failed = failed ||
             run_sql(db, "PRAGMA wal_autocheckpoint = 0; CREATE TABLE IF NOT EXISTS orders (number INTEGER)");
    for (int i = 1; i <= ORDERS && !failed; i++) {
        char stream[64], payload[64], sql[96];
        pawl_outgoing message = order_message(i, stream, payload, sizeof(stream));
        snprintf(sql, sizeof(sql), "INSERT INTO orders VALUES (%d)", i);
        failed = run_sql(db, "BEGIN IMMEDIATE") || run_sql(db, sql);
        if (!failed && pawl_send_sqlite(db, NULL, &message, 1, NULL, &error) != PAWL_OK) {
            fprintf(stderr, "send: %s\n", error.text);
            failed = 1;
        }
        failed = failed || run_sql(db, i % 10 == 0 ? "ROLLBACK" : "COMMIT");
    }
    sqlite3_close(db);
    return failed;
}

static int run_pg(PGconn *conn, const char *sql) {
    PGresult *result = PQexec(conn, sql);
    int failed = PQresultStatus(result) != PGRES_COMMAND_OK;
    if (failed)
        fprintf(stderr, "%s: %s", sql, PQerrorMessage(conn));
    PQclear(result);
    return failed;
}

static int book_pg(const char *url, const char *schema) {
    PGconn *conn = PQconnectdb(url);
    pawl_error error;
    int failed = PQstatus(conn) != CONNECTION_OK;
    failed = failed || run_pg(conn, "CREATE TEMP TABLE orders (number integer)");
    for (int i = 1; i <= ORDERS && !failed; i++) {
        char stream[64], payload[64], sql[96];
        pawl_outgoing message = order_message(i, stream, payload, sizeof(stream));
        snprintf(sql, sizeof(sql), "INSERT INTO orders VALUES (%d)", i);
        failed = run_pg(conn, "BEGIN") || run_pg(conn, sql);
        if (!failed && pawl_send_pg(conn, schema, NULL, &message, 1, NULL, &error) != PAWL_OK) {
            fprintf(stderr, "send: %s\n", error.text);
            failed = 1;
        }
        failed = failed || run_pg(conn, i % 10 == 0 ? "ROLLBACK" : "COMMIT");
    }
    PQfinish(conn);
    return failed;
}

/* ---- Handling ---- */

static pawl_outcome ship(const pawl_message *message, pawl_result *result, void *self) {
    struct shop *shop = self;
    int customer = 0, order = 0;
    char text[64];
    snprintf(text, sizeof(text), "%.*s", (int)message->payload.len, message->payload.ptr);
    /* PostgreSQL gives JSON back with blanks of its own. */
    if (sscanf(text, "{ \"customer\" : %d , \"order\" : %d", &customer, &order) != 2 &&
        sscanf(text, "{ \"order\" : %d , \"customer\" : %d", &order, &customer) != 2) {
        snprintf(result->error, sizeof(result->error), "this is not an order: %s", text);
        return PAWL_REJECT;
    }
    if (order % 7 == 0 && message->attempt == 1) {
        result->retry_after_ms = 50;
        snprintf(result->error, sizeof(result->error), "the parcel service is busy");
        return PAWL_RETRY; /* the customer's later orders wait for this one */
    }
    if (order <= shop->last[customer] || order % 10 == 0)
        atomic_fetch_add(&shop->wrong, 1);
    shop->last[customer] = order;
    atomic_fetch_add(&shop->handled, 1);
    return PAWL_DONE;
}

static void tick(void *self, const pawl_metrics *metrics) {
    struct shop *shop = self;
    if (metrics->completed >= ORDERS - ORDERS / 10)
        pawl_worker_stop(shop->worker);
}

int main(int argc, char **argv) {
    const char *url = argc > 1 ? argv[1] : "embedded_worker.db";
    const char *schema = getenv("PAWL_SCHEMA");
    bool postgres = strncmp(url, "postgres", 8) == 0;
    pawl_error error = {.text = ""};
    pawl_store_config store = {.url = url, .schema = schema};
    if (pawl_migrate(&store, &error) != PAWL_OK) {
        fprintf(stderr, "migrate: %s\n", error.text);
        return 1;
    }
    if (postgres ? book_pg(url, schema) : book_sqlite(url))
        return 1;

    struct shop shop = {.worker = NULL};
    pawl_worker_config config = {
        .store = store, .service = "shop", .poll_ms = 50, .on_tick = tick, .self = &shop};
    pawl_handler handler = {.function = ship, .self = &shop};
    bool forced = false;
    pawl_status status = pawl_worker_create(&config, &shop.worker, &error);
    if (status == PAWL_OK)
        status = pawl_worker_on(shop.worker, "order.*", &handler, &error);
    if (status == PAWL_OK)
        status = pawl_worker_run(shop.worker, &forced, &error);
    pawl_worker_free(shop.worker);
    if (status != PAWL_OK) {
        fprintf(stderr, "worker: %s\n", error.text);
        return 1;
    }
    printf("%d orders shipped, %d out of order or never booked\n", atomic_load(&shop.handled),
           atomic_load(&shop.wrong));
    return atomic_load(&shop.wrong) == 0 && atomic_load(&shop.handled) == ORDERS - ORDERS / 10 ? 0 : 1;
}
