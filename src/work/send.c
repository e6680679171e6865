/* Opening stores, tracing and sending: functions of the public API. */
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/str.h"
#include "handler/message.h"
#include "pawl_pg.h"
#include "pawl_sqlite.h"
#include "store/foreign.h"
#include "store/store.h"
#include "work/send.h"

struct pawl_store {
    struct store *store;
    struct tracer *tracer; /* NULL: a traceparent is passed on as it is */
    void (*on_log)(void *self, int level, const char *line);
    void *self; /* of on_log */
};

struct store *send_store(pawl_store *store) {
    return store->store;
}

struct putter send_putter(pawl_store *store, struct arena *arena) {
    return (struct putter){.tracer = store->tracer, .store = store->store, .arena = arena};
}

static struct store_config config_of(const pawl_store_config *in) {
    return (struct store_config){
        .url = in->url,
        .schema = in->schema,
        .durability = in->durability_normal ? DURABILITY_NORMAL : DURABILITY_FULL,
        .connect_timeout_ms = in->connect_timeout_ms,
        .statement_timeout_ms = in->statement_timeout_ms,
    };
}

pawl_status pawl_open(const pawl_store_config *config, pawl_store **store, pawl_error *err) {
    struct store_config inner = config_of(config);
    struct pawl_store *made = calloc(1, sizeof(*made));
    if (made == NULL)
        return error_no_memory(err, "pawl_open");
    pawl_status status = store_open(&inner, &made->store, err);
    if (status != PAWL_OK) {
        free(made);
        return status;
    }
    *store = made;
    return PAWL_OK;
}

void pawl_close(pawl_store *store) {
    if (store == NULL)
        return;
    tracer_free(store->tracer);
    store_close(store->store);
    free(store);
}

static void log_line(void *self, enum log_level level, const char *line) {
    struct pawl_store *store = self;
    store->on_log(store->self, (int)level, line);
}

/* A program decides whether the library exports traces; opening a store does not imply it. */
pawl_status pawl_trace(pawl_store *store, const pawl_trace_config *config, bool *on, pawl_error *err) {
    if (store->tracer != NULL)
        return error_set(err, PAWL_CONFLICT, "pawl_trace", "the handle is traced already");
    store->on_log = config->on_log;
    store->self = config->self;
    const struct log log = {.level = config->on_log != NULL ? LOG_LEVEL_INFO : LOG_LEVEL_OFF,
                            .callback = log_line,
                            .self = store};
    store->tracer = tracer_open(config->service != NULL ? config->service : "pawl", &log);
    *on = store->tracer != NULL;
    return PAWL_OK;
}

pawl_status pawl_migrate(const pawl_store_config *config, pawl_error *err) {
    struct store_config inner = config_of(config);
    struct migrate_config migrate = {0};
    struct migrate_result result;
    return store_migrate(&inner, &migrate, &result, err);
}

static struct messages_put put_of(const pawl_send_config *config, const pawl_outgoing *messages,
                                  size_t count) {
    struct messages_put put = {.kind = KIND_OUTBOX, .messages = messages, .count = count};
    if (config != NULL) {
        put.kind = config->kind != 0 ? (enum store_kind)config->kind : KIND_OUTBOX;
        put.consumer = config->consumer;
        put.request = config->request;
    }
    return put;
}

/* ids may be NULL. PAWL_CONFLICT when an inbox message was known with another payload. */
static pawl_status send_answers(const struct put_result *result, size_t count, pawl_uuid *ids,
                                pawl_error *err) {
    size_t conflicts = 0, first = 0;
    for (size_t i = 0; i < count; i++) {
        if (result->answers[i] == ANSWER_CONFLICT && conflicts++ == 0)
            first = i;
    }
    if (ids != NULL)
        memcpy(ids, result->ids, count * sizeof(*ids));
    if (conflicts > 0)
        return error_set(
            err, PAWL_CONFLICT, "pawl_send",
            "%zu of %zu messages came before with another payload, the first is number %zu; the others "
            "are written",
            conflicts, count, first);
    return PAWL_OK;
}

static pawl_status send_to(const struct place *place, const pawl_send_config *config,
                           const pawl_outgoing *messages, size_t count, pawl_uuid *ids, pawl_error *err) {
    struct messages_put put = put_of(config, messages, count);
    struct put_result result;
    struct arena *arena = arena_create(0);
    if (arena == NULL)
        return error_no_memory(err, place->op);
    pawl_status status = PLACE_CALL(place, traced_put, sqlite_put_in_transaction, postgres_put_in_transaction,
                                    &put, arena, &result, err);
    if (status == PAWL_OK)
        status = send_answers(&result, count, ids, err);
    arena_free(arena);
    return status;
}

pawl_status pawl_send(pawl_store *store, const pawl_send_config *config, const pawl_outgoing *messages,
                      size_t count, pawl_uuid *ids, pawl_error *err) {
    struct place place = {.op = "pawl_send", .store = store};
    return send_to(&place, config, messages, count, ids, err);
}

pawl_status pawl_send_pg(struct pg_conn *conn, const char *schema, const pawl_send_config *config,
                         const pawl_outgoing *messages, size_t count, pawl_uuid *ids, pawl_error *err) {
    struct place place = {.op = "pawl_send_pg", .postgres = conn, .schema = schema};
    return send_to(&place, config, messages, count, ids, err);
}

pawl_status pawl_send_sqlite(struct sqlite3 *db, const pawl_send_config *config,
                             const pawl_outgoing *messages, size_t count, pawl_uuid *ids, pawl_error *err) {
    struct place place = {.op = "pawl_send_sqlite", .sqlite = db};
    return send_to(&place, config, messages, count, ids, err);
}

pawl_status pawl_finish_pg(struct pg_conn *conn, const char *schema, const pawl_message *message,
                           pawl_error *err) {
    if (message->kind == PAWL_JOB)
        return postgres_job_finish_in_transaction(conn, schema,
                                                  (struct job_ref){message->token, message->seq},
                                                  run_handle_elapsed_ms(message), err);
    return postgres_finish_in_transaction(conn, schema, (enum store_kind)message->kind,
                                          (struct item_ref){message->token, message->id}, err);
}

pawl_status pawl_finish_sqlite(struct sqlite3 *db, const pawl_message *message, pawl_error *err) {
    if (message->kind == PAWL_JOB)
        return sqlite_job_finish_in_transaction(db, (struct job_ref){message->token, message->seq},
                                                run_handle_elapsed_ms(message), err);
    return sqlite_finish_in_transaction(db, (enum store_kind)message->kind,
                                        (struct item_ref){message->token, message->id}, err);
}
