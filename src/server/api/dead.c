/* Routes that end every dead letter that matches a filter, as a bulk operation. */
#include "base/error.h"
#include "base/str.h"
#include "operations/messages.h"
#include "server/bulk.h"
#include "server/http/route.h"

/* How many there are, if a tally has it; counting the table would take too long. */
static pawl_status known_total(struct request *request, const struct message_filter *filter, int64_t *total,
                               pawl_error *err) {
    struct counts counts;
    *total = -1;
    if (!str_absent(filter->stream) || !str_absent(filter->type) || !str_absent(filter->topic) ||
        !str_absent(filter->fingerprint) || filter->before_ms != 0)
        return PAWL_OK;
    pawl_status status = request->store->ops->view.counts(request->store, &counts, err);
    if (status != PAWL_OK)
        return status;
    *total = 0;
    for (int kind = KIND_OUTBOX; kind <= KIND_COUNT; kind++)
        if (filter->kind == 0 || (int)filter->kind == kind)
            *total += counts.kind[kind].dead;
    return PAWL_OK;
}

static pawl_status end_many(struct request *request, enum bulk_verb verb, pawl_error *err) {
    struct bulk_new in = {.verb = verb,
                          .messages = message_filter_from(request),
                          .max = request_number(request, "max", 0),
                          .per_second = request_number(request, "per_second", 0),
                          .dry_run = request_bool(request, "dry_run")};
    in.messages.state = STATE_DEAD;
    in.messages.before_ms = request_number(request, "before_ms", 0);
    bool filtered = in.messages.kind != 0 || !str_absent(in.messages.stream) ||
                    !str_absent(in.messages.type) || !str_absent(in.messages.topic) ||
                    !str_absent(in.messages.fingerprint) || in.messages.before_ms != 0;
    if (filtered == request_bool(request, "all"))
        return error_set(err, PAWL_INVALID, "dead", "%s",
                         filtered ? "a filter and all exclude each other: give one of them"
                                  : "it needs a filter such as type or fingerprint, or all");
    pawl_status status = known_total(request, &in.messages, &in.total, err);
    return status == PAWL_OK ? bulk_start(request, &in, err) : status;
}

static pawl_status redrive_many(struct request *request, pawl_error *err) {
    return end_many(request, BULK_REDRIVE_DEAD, err);
}
static pawl_status discard_many(struct request *request, pawl_error *err) {
    return end_many(request, BULK_DISCARD_DEAD, err);
}

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

static const struct operation routes[] = {
    {.summary = "Give every matching dead letter another round of attempts, as an operation",
     POSTS("/v1/dead/redrive", "redriveDead", "dead letters"),
     FIELDS(many_fields),
     RECORD(bulk_columns),
     .status = 202,
     .run = redrive_many},
    {.summary = "Discard every matching dead letter: the messages are lost, as an operation",
     POSTS("/v1/dead/discard", "discardDead", "dead letters"),
     FIELDS(many_fields),
     RECORD(bulk_columns),
     .status = 202,
     .run = discard_many},
};

const struct operation_table dead_routes = OPERATION_TABLE(routes);
