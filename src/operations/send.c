/* Sending messages: one that the inputs describe, or a list of them. */
#include <string.h>

#include "base/error.h"
#include "base/hash.h"
#include "base/limits.h"
#include "base/str.h"
#include "operations/front/fields.h"
#include "operations/messages.h"
#include "operations/tables.h"
#include "view/names.h"

/* Of one message, alone or in `messages`. */
#define SEND_FIELDS                                                                                          \
    {TEXT_FIELD(IN_BODY, "type", PAWL_TYPE_BYTES_MAX, "The type, which chooses the handler."), .word = true, \
     .example = "\"order.created\""},                                                                        \
        {FIELD(FIELD_JSON, IN_BODY, "payload", "JSON; - is standard input, @FILE a file. Default: {}."),     \
         .word = true, .example = "{\"id\": 1}"},                                                            \
        {TEXT_FIELD(IN_BODY, "stream", PAWL_STREAM_BYTES_MAX,                                                \
                    "The stream: messages of one stream are handled in order.")},                            \
        {TEXT_FIELD(IN_BODY, "topic", PAWL_TOPIC_BYTES_MAX,                                                  \
                    "The topic: where an outbox message goes, where an inbox message came from.")},          \
        {FIELD(FIELD_OBJECT, IN_BODY, "headers", "Headers, an object of texts.")},                           \
        {FIELD(FIELD_UUID, IN_BODY, "id", "The id of the message. Default: a new UUIDv7.")},                 \
        {FIELD(FIELD_UUID, IN_BODY, "correlation_id",                                                        \
               "The id that all messages of one conversation share.")},                                      \
        {FIELD(FIELD_UUID, IN_BODY, "causation_id", "The id of the message that caused this one.")}, {       \
        TEXT_FIELD(IN_BODY, "traceparent", 100, "The W3C trace context to carry along.")                     \
    }

static const struct field message_fields[] = {SEND_FIELDS};

#define INPUT(type, member)                                                                                  \
    { #member, INPUT_##type, offsetof(pawl_outgoing, member) }
/* In the order of SEND_FIELDS. */
const struct message_input message_inputs[] = {
    INPUT(TEXT, type),           INPUT(JSON, payload),      INPUT(TEXT, stream),
    INPUT(TEXT, topic),          INPUT(JSON, headers),      INPUT(UUID, id),
    INPUT(UUID, correlation_id), INPUT(UUID, causation_id), INPUT(TEXT, traceparent)};

const size_t message_input_count = sizeof message_inputs / sizeof *message_inputs;
_Static_assert(sizeof message_inputs / sizeof *message_inputs ==
                   sizeof message_fields / sizeof *message_fields,
               "every field of a message goes somewhere");

void message_input_set(pawl_outgoing *message, const struct message_input *input, pawl_str text,
                       pawl_uuid id) {
    char *at = (char *)message + input->offset;
    if (input->type == INPUT_UUID)
        memcpy(at, &id, sizeof id);
    else
        memcpy(at, &text, sizeof text);
}

static pawl_status message_of(struct request *request, const struct value *values, pawl_outgoing *message,
                              pawl_error *err) {
    *message = (pawl_outgoing){.payload = STR("{}")};
    for (size_t i = 0; i < message_input_count; i++) {
        pawl_str text = values[i].text;
        if (message_inputs[i].type == INPUT_JSON && values[i].tree == NULL)
            continue;
        if (message_inputs[i].type == INPUT_JSON)
            TRY(tree_text(request->arena, values[i].tree, 0, &text, err));
        message_input_set(message, &message_inputs[i], text, values[i].uuid);
    }
    return PAWL_OK;
}

/* Those of `messages`, or the one that the other inputs describe. */
static pawl_status read_messages(struct request *request, pawl_outgoing **messages, size_t *count,
                                 pawl_error *err) {
    static const struct operation one = {FIELDS(message_fields)};
    const struct tree *items = request_value(request, "messages").tree;
    bool alone = request_value(request, "type").present;
    if (alone == (items != NULL))
        return error_set(err, PAWL_INVALID, "send", "it needs a type, or messages, and not both");
    *count = items != NULL ? items->count : 1;
    *messages = arena_array(request->arena, *count, sizeof **messages);
    if (*messages == NULL)
        return error_set(err, PAWL_NO_MEMORY, "send", "no memory for the messages");
    for (size_t i = 0; i < *count; i++) {
        struct value values[MESSAGE_INPUTS_MAX + 1] = {0};
        for (size_t k = 0; alone && k < message_input_count; k++)
            values[k] = request_value(request, message_fields[k].name);
        if (!alone)
            TRY(operation_read(&one, "a message", items->items[i], values, err));
        TRY(message_of(request, values, &(*messages)[i], err));
    }
    return PAWL_OK;
}

const struct column sent_columns[SENT_COLUMNS] = {
    {COLUMN(UUID, "id")},
    {COLUMN(TEXT, "answer")},
    {COLUMN(TEXT, "kind")},
    {COLUMN(TEXT, "type"), .cut = true},
    {COLUMN(TEXT, "stream"), .cut = true},
    {COLUMN(INT, "partition")},
    {COLUMN(INT, "lane")},
};

void sent_cells(const struct sent *sent, const struct settings *settings,
                struct cell cells[static SENT_COLUMNS]) {
    pawl_str stream = sent->message->stream;
    bool placed = !str_absent(stream);
    uint32_t partition = placed ? partition_of(stream, (uint32_t)settings->partition_count) : 0;
    uint32_t lane = lane_of(partition, (uint32_t)settings->lane_count);
    cells[0] = cell_uuid(sent->id);
    cells[1] = cell_cstr(answer_name(sent->answer));
    cells[2] = cell_cstr(kind_name(sent->kind));
    cells[3] = cell_text(sent->message->type);
    cells[4] = cell_text(stream);
    cells[5] = placed ? cell_int(partition) : cell_none();
    cells[6] = placed ? cell_int(lane) : cell_none();
}

static pawl_status send_messages(struct request *request, pawl_error *err) {
    pawl_outgoing *messages = NULL;
    struct settings settings;
    struct messages_put put = {.kind = request_choice(request, "kind") == KIND_INBOX ? KIND_INBOX
                                                                                     : KIND_OUTBOX,
                               .consumer = request_text(request, "consumer")};
    struct put_result result;
    struct putter putter = request->front->putter(request->self);
    TRY(read_messages(request, &messages, &put.count, err));
    put.messages = messages;
    TRY(request->front->key(request->self, 0, &put.request, err));
    TRY(request->store->ops->core.settings_read(request->store, &settings, err));
    TRY(traced_put(&putter, &put, &result, err));
    request_list(request, sent_columns, SENT_COLUMNS);
    for (size_t i = 0; i < put.count; i++) {
        struct cell cells[SENT_COLUMNS];
        sent_cells(&(struct sent){put.kind, &messages[i], result.ids[i], result.answers[i]}, &settings,
                   cells);
        request_row(request, cells);
    }
    return request_list_end(request, NULL, err);
}

/* Combinations that cannot mean anything. */
static pawl_status check_usage(struct request *request, pawl_error *err) {
    bool ndjson = request_value(request, "ndjson").present, id = request_value(request, "id").present;
    struct value count = request_value(request, "count");
    bool inbox = request_choice(request, "kind") == KIND_INBOX;
    if (inbox != request_value(request, "consumer").present)
        return error_set(err, PAWL_INVALID, "send", "%s",
                         inbox ? "an inbox message needs --consumer, the name under which it is deduplicated"
                               : "--consumer is for --kind inbox");
    if (ndjson && (request_value(request, "payload").present || count.present || id))
        return error_set(err, PAWL_INVALID, "send",
                         "with --ndjson the lines have the payload, the count and the id");
    if (!ndjson && !request_value(request, "type").present && !request_value(request, "messages").present)
        return error_set(err, PAWL_INVALID, "send", "it needs a type: pawl send TYPE [PAYLOAD]");
    if (count.number > 1 && id)
        return error_set(err, PAWL_INVALID, "send",
                         "--id names one message, --count sends more: leave one out");
    if (count.number > PAWL_BATCH_MAX && request_value(request, "request").present)
        return error_set(err, PAWL_INVALID, "send", "more than %d messages cannot go under one --request",
                         PAWL_BATCH_MAX);
    return PAWL_OK;
}

/* ---- The table */

static const struct field send_fields[] = {
    SEND_FIELDS,
    {CHOICE_FIELD(IN_BODY, "kind", "outbox|inbox", "Where they go; the outbox by default.")},
    {TEXT_FIELD(IN_BODY, "consumer", PAWL_NAME_BYTES_MAX,
                "Inbox: an inbox message is accepted once per consumer and id.")},
    {FIELD(FIELD_OBJECTS, IN_BODY, "messages",
           "Many at once: objects with type and, as needed, payload, stream, topic, headers, id, "
           "correlation_id, "
           "causation_id and traceparent."),
     .min = 1, .max = PAWL_BATCH_DEFAULT},
    {TEXT_FIELD(IN_TERMINAL, "header", 0, "A header of the message; may be given more than once."),
     .many = true, .value = "KEY=VALUE"},
    {INT_FIELD(IN_TERMINAL, "count", 1, 100000000, "Send N copies, each with its own id.")},
    {FIELD(FIELD_UUID, IN_TERMINAL, "request",
           "An idempotency key: a second send with the same key within an hour writes nothing and answers "
           "duplicate.")},
    {TEXT_FIELD(
         IN_TERMINAL, "ndjson", 0,
         "Many at once: one JSON object per line with type, payload, stream, topic, id, headers, "
         "correlation_id, causation_id and traceparent; - is standard input. TYPE, --stream and --topic "
         "are used for lines that do not have their own."),
     .file = true}};

static const struct operation sends[] = {
    {OPERATION("send", "Send messages, in one transaction"), WORKS(METHOD_POST, "/v1/messages"),
     FIELDS(send_fields), COLUMNS(sent_columns), .run = send_messages, .check = check_usage,
     .options = OPTION(PAYLOAD_LIMIT) | OPTION(DURABILITY), .database = DATABASE_MAKE,
     .details =
         "The answer says the id, and whether the message was applied, is a duplicate (an inbox message that "
         "the consumer has, or a --request that was used), or is in conflict (the consumer has the id with "
         "another payload).\n"
         "\n"
         "With --count or --ndjson the answer is a list. A file is sent in calls of 500 lines: when a "
         "line is wrong, the error says how many messages before it were sent; with --request it is "
         "all or nothing.\n"
         "\n"
         "When the database is an SQLite file that does not exist, it is made.",
     .example = "pawl send order.created '{\"id\": 1}' --stream order-1\n"
                "pawl send order.created @order.json --topic orders --header tenant=acme\n"
                "pawl send mail.received - --kind inbox --consumer mailer --id "
                "01890a5d-ac96-774b-bcce-b302099a8057 < mail.json\n"
                "pawl send --ndjson events.ndjson"},
};

const struct operation_table send_operations = OPERATION_TABLE(sends);
