/* Routes that retry or delete every dead letter that matches a filter, as a bulk operation. */
#include "operations/messages.h"
#include "base/error.h"
#include "base/str.h"
#include "server/bulk.h"
#include "server/http/route.h"

/* How many there are, if a tally has it; counting the table would take too long. */
static pawl_status known_total(struct request *request, const struct message_filter *filter, int64_t *total,
                               pawl_error *err) {
    struct counts counts;
    *total = -1;
    struct message_filter rest = *filter;
    rest.kind = 0;
    if (message_filtered(&rest))
        return PAWL_OK;
    TRY(request->store->ops->view.counts(request->store, &counts, err));
    *total = 0;
    for (int kind = KIND_OUTBOX; kind <= KIND_COUNT; kind++)
        if (filter->kind == 0 || (int)filter->kind == kind)
            *total += counts.kind[kind].dead;
    return PAWL_OK;
}

static pawl_status end_many(struct request *request, enum bulk_verb verb, pawl_error *err) {
    struct bulk_new in = {.verb = verb,
                          .messages = message_filter_from(request),
                          .max = request_number(request, "limit", 0),
                          .per_second = request_number(request, "rate", 0),
                          .dry_run = request_bool(request, "dry_run")};
    in.messages.state = STATE_DEAD;
    bool filtered = message_filtered(&in.messages);
    if (filtered == request_bool(request, "all"))
        return error_set(err, PAWL_INVALID, "dead", "%s",
                         filtered ? "a filter and all exclude each other: give one of them"
                                  : "it needs a filter such as type or fingerprint, or all");
    TRY(known_total(request, &in.messages, &in.total, err));
    return bulk_start(request, &in, err);
}

static pawl_status retry_many(struct request *request, pawl_error *err) {
    return end_many(request, BULK_REDRIVE_DEAD, err);
}
static pawl_status delete_many(struct request *request, pawl_error *err) {
    return end_many(request, BULK_DISCARD_DEAD, err);
}

static const struct field many_fields[] = {MESSAGE_FILTER_FIELDS(IN_BODY), BULK_FIELDS(IN_BODY)};

static const struct operation routes[] = {
    {OPERATION("message.retry_many",
               "Give every matching dead letter another round of attempts, as an operation"),
     POSTS("/v1/messages/retry"), FIELDS(many_fields), RECORD(bulk_columns), .status = 202,
     .run = retry_many},
    {OPERATION("message.delete_many",
               "Delete every matching dead letter: the messages are lost, as an operation"),
     POSTS("/v1/messages/delete"), FIELDS(many_fields), RECORD(bulk_columns), .status = 202,
     .run = delete_many},
};

const struct operation_table message_routes = OPERATION_TABLE(routes);
