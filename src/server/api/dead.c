/* Routes of dead letters: groups, redrive, discard. */

#include "base/error.h"
#include "base/str.h"
#include "operations/messages.h"
#include "server/api/fields.h"
#include "server/api/ids.h"
#include "server/http/call.h"
#include "server/operation.h"
#include "view/names.h"
#include "view/note.h"

static pawl_status groups(struct call *call, pawl_error *err) {
    int kind = call_choice(call, "kind");
    int first = kind != 0 ? kind : KIND_OUTBOX, last = kind != 0 ? kind : KIND_COUNT;
    pawl_status status = PAWL_OK;
    call_list(call);
    for (kind = first; status == PAWL_OK && kind <= last; kind++) {
        struct dead_groups found = {.count = 0};
        status = call->store->ops->view.dead_groups(call->store, (enum store_kind)kind, call_limit(call),
                                                    call->arena, &found, err);
        if (status == PAWL_OK)
            call_rows(call, found.groups, sizeof *found.groups, found.count);
    }
    return status == PAWL_OK ? call_list_end(call, NULL, err) : status;
}

/* ---- One */

static const struct column answer_columns[] = {
    {COLUMN(UUID, "id")}, {COLUMN(TEXT, "kind")}, {COLUMN(INT, "seq")}, {COLUMN(TEXT, "answer")}};

/* The dead letter with the id of the path. */
static pawl_status find(struct call *call, struct message_row *row, pawl_error *err) {
    pawl_uuid id;
    struct message_rows rows = {.count = 0};
    struct request request = http_request(call);
    pawl_status status = ids_message(call, "id", &id, err);
    if (status == PAWL_OK)
        status = messages_with_id(&request, id, STATE_DEAD, 0, &rows, err);
    if (status != PAWL_OK && status != PAWL_NOT_FOUND)
        return status;
    if (rows.count > 0) {
        *row = rows.rows[0];
        return PAWL_OK;
    }
    return error_set(err, PAWL_NOT_FOUND, "dead", "there is no dead letter with id %.*s",
                     STR_ARG(call_text(call, "id")));
}

static pawl_status end_one(struct call *call, bool redrive, pawl_error *err) {
    struct message_row row = {.reason = 0};
    struct answer_list answers;
    pawl_status status = find(call, &row, err);
    if (status != PAWL_OK)
        return status;
    struct dead_ref ref = {row.item.kind, row.item.seq};
    status = redrive ? call->store->ops->core.dead_redrive(call->store, &ref, 1, call->arena, &answers, err)
                     : call->store->ops->core.dead_discard(call->store, &ref, 1, call->arena, &answers, err);
    if (status != PAWL_OK)
        return status;
    if (answers.answers[0] != ANSWER_APPLIED)
        return error_set(err, PAWL_CONFLICT, "dead",
                         "it was not: a parked message follows the dead letter it is waiting for (%s)",
                         answer_name(answers.answers[0]));
    call_record(call, (struct cell[]){cell_uuid(row.item.id), cell_cstr(kind_name(row.item.kind)),
                                      cell_int(row.item.seq), cell_cstr("applied")});
    return PAWL_OK;
}

static pawl_status redrive_one(struct call *call, pawl_error *err) { return end_one(call, true, err); }
static pawl_status discard_one(struct call *call, pawl_error *err) { return end_one(call, false, err); }

/* ---- Many */

/* How many there are, if a tally has it; counting the table would take too long. */
static pawl_status known_total(struct call *call, const struct message_filter *filter, int64_t *total,
                               pawl_error *err) {
    struct counts counts;
    *total = -1;
    if (!str_absent(filter->stream) || !str_absent(filter->type) || !str_absent(filter->topic) ||
        !str_absent(filter->fingerprint) || filter->before_ms != 0)
        return PAWL_OK;
    pawl_status status = call->store->ops->view.counts(call->store, &counts, err);
    if (status != PAWL_OK)
        return status;
    *total = 0;
    for (int kind = KIND_OUTBOX; kind <= KIND_COUNT; kind++)
        if (filter->kind == 0 || (int)filter->kind == kind)
            *total += counts.kind[kind].dead;
    return PAWL_OK;
}

static pawl_status end_many(struct call *call, enum operation_verb verb, pawl_error *err) {
    struct request request = http_request(call);
    struct operation_new in = {.verb = verb,
                               .messages = message_filter_from(&request),
                               .max = call_int(call, "max", 0),
                               .per_second = call_int(call, "per_second", 0),
                               .dry_run = call_bool(call, "dry_run")};
    in.messages.state = STATE_DEAD;
    in.messages.before_ms = call_int(call, "before_ms", 0);
    bool filtered = in.messages.kind != 0 || !str_absent(in.messages.stream) ||
                    !str_absent(in.messages.type) || !str_absent(in.messages.topic) ||
                    !str_absent(in.messages.fingerprint) || in.messages.before_ms != 0;
    if (filtered == call_bool(call, "all"))
        return error_set(err, PAWL_INVALID, "dead", "%s",
                         filtered ? "a filter and all exclude each other: give one of them"
                                  : "it needs a filter such as type or fingerprint, or all");
    pawl_status status = known_total(call, &in.messages, &in.total, err);
    return status == PAWL_OK ? operation_start(call, &in, err) : status;
}

static pawl_status redrive_many(struct call *call, pawl_error *err) {
    return end_many(call, OPERATION_REDRIVE_DEAD, err);
}
static pawl_status discard_many(struct call *call, pawl_error *err) {
    return end_many(call, OPERATION_DISCARD_DEAD, err);
}

static const struct field group_fields[] = {
    {CHOICE_FIELD(IN_QUERY, "kind", KIND_CHOICES, "Only of this kind.")}, FIELD_ROW_LIMIT};
static const struct field one_fields[] = {FIELD_ROW_MESSAGE_ID};
static const struct field many_fields[] = {
    {CHOICE_FIELD(IN_BODY, "kind", KIND_CHOICES, "Only of this kind.")},
    {TEXT_FIELD(IN_BODY, "stream", PAWL_STREAM_BYTES_MAX, "Only of this stream.")},
    {TEXT_FIELD(IN_BODY, "type", PAWL_TYPE_BYTES_MAX, "Only of this type.")},
    {TEXT_FIELD(IN_BODY, "topic", PAWL_TOPIC_BYTES_MAX, "Only with this topic.")},
    {TEXT_FIELD(IN_BODY, "fingerprint", PAWL_NAME_BYTES_MAX, "Only of this group.")},
    {INT_FIELD(IN_BODY, "before_ms", 1, 0, "Only those that died before this time.")},
    {FIELD(FIELD_BOOL, IN_BODY, "all", "Every dead letter; instead of a filter.")},
    {INT_FIELD(IN_BODY, "max", 1, 0, "At most this many.")},
    {INT_FIELD(IN_BODY, "per_second", 1, 1000000, "The maximum rate.")},
    {FIELD(FIELD_BOOL, IN_BODY, "dry_run", "Only count them.")}};

static const struct route routes[] = {
    {READS("/v1/dead/groups", "listDeadGroups"), .tag = "dead letters",
     .summary = "Count dead letters by cause, biggest group first", FIELDS(group_fields),
     COLUMNS(group_columns), .run = groups},
    {ACTS(METHOD_POST, "/v1/dead/redrive", "redriveDead"), .tag = "dead letters",
     .summary = "Give every matching dead letter another round of attempts, as an operation",
     FIELDS(many_fields), .shape = ANSWER_RECORD, COLUMNS(operation_columns), .status = 202,
     .run = redrive_many},
    {ACTS(METHOD_POST, "/v1/dead/discard", "discardDead"), .tag = "dead letters",
     .summary = "Discard every matching dead letter: the messages are lost, as an operation",
     FIELDS(many_fields), .shape = ANSWER_RECORD, COLUMNS(operation_columns), .status = 202,
     .run = discard_many},
    {ACTS(METHOD_POST, "/v1/dead/{id}/redrive", "redriveDeadLetter"), .tag = "dead letters",
     .summary = "Give one dead letter another round of attempts", FIELDS(one_fields), .shape = ANSWER_RECORD,
     COLUMNS(answer_columns), .run = redrive_one},
    {ACTS(METHOD_POST, "/v1/dead/{id}/discard", "discardDeadLetter"), .tag = "dead letters",
     .summary = "Discard one dead letter: its message is lost", FIELDS(one_fields), .shape = ANSWER_RECORD,
     COLUMNS(answer_columns), .run = discard_one},
};

const struct route_table dead_routes = ROUTE_TABLE(routes);
