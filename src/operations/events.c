/* Operations on events: reading by stream or by position. */
#include "operations/events.h"

#include <inttypes.h>

#include "base/error.h"
#include "base/str.h"
#include "base/uuid.h"
#include "operations/operations.h"
#include "view/event.h"

/* The stream as it was: at an event, or at a time. */
static pawl_status read_as_of(const struct request *request, pawl_read *query, pawl_error *err) {
    pawl_str text = request_text(request, "as_of");
    query->as_of_ms = request_number(request, "as_of_ms", 0);
    if (str_absent(text) || uuid_parse(text, &query->as_of_event) ||
        str_to_i64(text, 1, INT64_MAX, &query->as_of_ms))
        return PAWL_OK;
    return error_set(err, PAWL_INVALID, "events",
                     "--as-of is \"%.*s\": write the id of an event or milliseconds since 1970",
                     STR_ARG(text));
}

/* A command can wait until all have one. */
enum { HTTP_STAMP_MAX = 1000 };

pawl_status events_stamp(struct request *request, pawl_error *err) {
    struct stamp_result stamped;
    bool command = request_is_command(request);
    pawl_status status;
    do
        status = request->store->ops->events.events_stamp(
            request->store, command ? PAWL_STAMP_MAX : HTTP_STAMP_MAX, &stamped, err);
    while (status == PAWL_OK && stamped.stamped > 0 && command);
    return status;
}

/* The next page begins after the last row, or before it when reading backward. */
static const char *next_of(struct request *request, const pawl_read *query, const struct event_list *found) {
    if (found->count == 0 || found->count != (size_t)query->limit)
        return NULL;
    const pawl_stored_event *last = &found->events[found->count - 1];
    int64_t at = str_absent(query->stream) ? last->position : last->version;
    int64_t from = query->backward ? at - 1 : at + 1;
    return from > 0 ? arena_printf(request->arena, "%" PRId64, from) : NULL;
}

static pawl_status read_events(struct request *request, pawl_str stream, pawl_error *err) {
    pawl_read query = {.stream = stream,
                       .from = request_number(request, "from", 0),
                       .backward = request_bool(request, "backward"),
                       .limit = request_limit(request)};
    struct event_list found = {.count = 0};
    if (!str_absent(request_after(request)))
        query.from = request_after_number(request);
    pawl_status status = read_as_of(request, &query, err);
    if (status == PAWL_OK)
        status = request->store->ops->events.events_read(request->store, &query, request->arena, &found, err);
    return status == PAWL_OK ? request_rows(request, ROWS_OF(event, found.events, found.count),
                                            next_of(request, &query, &found), err)
                             : status;
}

pawl_status op_event_read(struct request *request, pawl_error *err) {
    return read_events(request, request_either(request, "name", "stream"), err);
}

pawl_status op_event_all(struct request *request, pawl_error *err) {
    pawl_status status = events_stamp(request, err);
    return status == PAWL_OK ? read_events(request, (pawl_str){NULL, 0}, err) : status;
}
