/* Loopback: the inbox of another service, in another schema of the same database or in another database. */
#include <string.h>

#include "base/error.h"
#include "base/str.h"
#include "base/uuid.h"
#include "store/store.h"
#include "transport/transport.h"

struct transport {
    TRANSPORT_SESSION
    struct store *store;
    struct arena *call; /* of one call */
    pawl_str consumer;
};

static void loopback_close(struct transport *session) {
    store_close(session->store);
    arena_free(session->call);
}

/* "loopback:SCHEMA"; SQLite has one schema per file, so there the other database is named instead. */
static pawl_status loopback_open(struct transport *session, const struct transport_config *config,
                                 pawl_error *err) {
    const char *database = transport_option(config, "database-url");
    const char *consumer = transport_option(config, "consumer");
    const char *schema = config->url + strlen("loopback:");
    schema += strncmp(schema, "//", 2) == 0 ? 2 : 0;
    if (database == NULL)
        return error_set(err, PAWL_INVALID, "loopback", "no database is named");
    if (schema[0] == '\0')
        schema = "pawl";
    struct store_config store = {.url = database,
                                 .schema = schema,
                                 .connect_timeout_ms = config->connect_ms,
                                 .statement_timeout_ms = config->confirm_ms};
    session->call = arena_create(0);
    pawl_status status =
        str_dup(session->arena, str_from(consumer != NULL ? consumer : schema), &session->consumer, err);
    if (status == PAWL_OK)
        status = store_open(&store, &session->store, err);
    return status == PAWL_CONFLICT || status == PAWL_NOT_FOUND ? (err->status = PAWL_INVALID) : status;
}

static bool optional_uuid(pawl_str text, pawl_uuid *id) {
    *id = uuid_nil();
    return str_absent(text) || uuid_parse(text, id);
}

static bool to_message(const struct transport_message *in, pawl_outgoing *out) {
    const struct event *event = &in->event;
    *out = (pawl_outgoing){.stream = event->stream,
                           .topic = in->destination,
                           .type = event->type,
                           .payload = event->data,
                           .headers = event->headers,
                           .traceparent = event->traceparent};
    return uuid_parse(event->id, &out->id) && optional_uuid(event->correlation_id, &out->correlation_id) &&
           optional_uuid(event->causation_id, &out->causation_id);
}

static void judge(enum store_answer answer, struct transport_result *result) {
    if (answer == ANSWER_APPLIED || answer == ANSWER_DUPLICATE)
        transport_result_confirm(result);
    else
        transport_result_set(result, FATE_REJECTED,
                             "the other inbox has a message with this id and another payload");
}

/* One transaction for all of them: either every message is stored or none. */
static pawl_status loopback_publish(struct transport *session, const struct transport_message *messages,
                                    size_t count, struct transport_result *results, pawl_error *err) {
    transport_results_unknown(results, count, "the database did not answer");
    arena_reset(session->call);
    pawl_outgoing *list = arena_array(session->call, count, sizeof(*list));
    if (list == NULL)
        return error_no_memory(err, "loopback");
    for (size_t i = 0; i < count; i++) {
        if (!to_message(&messages[i], &list[i]))
            return error_set(err, PAWL_INTERNAL, "loopback", "a message has an id that is not a UUID");
    }
    struct messages_put put = {
        .kind = KIND_INBOX, .messages = list, .count = count, .consumer = session->consumer};
    struct put_result result;
    pawl_status status =
        session->store->ops->core.messages_put(session->store, &put, session->call, &result, err);
    for (size_t i = 0; i < count && status == PAWL_OK; i++)
        judge(result.answers[i], &results[i]);
    for (size_t i = 0; i < count && status == PAWL_INVALID; i++)
        transport_result_set(&results[i], FATE_REFUSED, "%.200s", err->text);
    return status == PAWL_INVALID ? PAWL_OK : status;
}

__attribute__((visibility("default"))) const struct transport_module pawl_transport_module = {
    .abi = TRANSPORT_ABI,
    .name = "loopback",
    .keeps_order = true,
    .session_bytes = sizeof(struct transport),
    .open = loopback_open,
    .publish = loopback_publish,
    .close = loopback_close,
};
