/* Operations on snapshots: a state folded from a long stream, stored and found again. */
#include <inttypes.h>

#include "base/error.h"
#include "operations/tables.h"
#include "view/names.h"

static const struct column snapshot_columns[] = {{COLUMN(TEXT, "stream")},
                                                 {COLUMN(TEXT, "name")},
                                                 {COLUMN(TEXT, "answer")},
                                                 {COLUMN(INT, "version")},
                                                 {COLUMN(JSON, "state"), .content = true}};

static pawl_status answer_with(struct request *request, const struct snapshot *snapshot, const char *answer,
                               pawl_error *err) {
    return REQUEST_RECORD(request, snapshot_columns, err, cell_text(snapshot->stream),
                          cell_text(snapshot->name), cell_cstr(answer), cell_int(snapshot->version),
                          cell_text(snapshot->state));
}

static pawl_status snapshot_set(struct request *request, pawl_error *err) {
    struct snapshot in = {.stream = request_text(request, "stream"),
                          .name = request_text(request, "name"),
                          .version = request_number(request, "version", 0)};
    enum store_answer answer = ANSWER_APPLIED;
    TRY(request_json(request, "state", &in.state, err));
    TRY(request->store->ops->events.snapshot_put(request->store, &in, &answer, err));
    if (answer == ANSWER_STALE)
        return error_set(err, PAWL_STALE, "snapshot",
                         "there is one of this version or a later one; nothing was changed");
    if (answer == ANSWER_CONFLICT)
        return error_set(err, PAWL_CONFLICT, "snapshot", "the stream has not reached version %" PRId64,
                         in.version);
    return answer_with(request, &in, answer_name(answer), err);
}

static pawl_status snapshot_show(struct request *request, pawl_error *err) {
    struct snapshot found = {.version = 0};
    TRY(request->store->ops->events.snapshot_get(
        request->store, request_text(request, "stream"), request_text(request, "name"),
        request_number(request, "version", 0), request->arena, &found, err));
    found.stream = request_text(request, "stream");
    found.name = request_text(request, "name");
    return answer_with(request, &found, "found", err);
}

#define SNAPSHOT_FIELDS                                                                                      \
    {TEXT_FIELD(IN_PATH, "stream", PAWL_STREAM_BYTES_MAX, "The stream."), .required = true}, {               \
        TEXT_FIELD(IN_PATH, "name", PAWL_NAME_BYTES_MAX, "The name of the state."), .required = true         \
    }
static const struct field set_fields[] = {
    SNAPSHOT_FIELDS,
    {INT_FIELD(IN_BODY, "version", 1, 0, "The version of the last event in the state."), .required = true,
     .word = true},
    {FIELD(FIELD_JSON, IN_BODY, "state", "JSON; - is standard input, @FILE a file."), .required = true,
     .word = true}};
static const struct field show_fields[] = {
    SNAPSHOT_FIELDS,
    {INT_FIELD(IN_QUERY, "version", 1, 0, "The newest up to this version; the newest of all by default."),
     .word = true}};

static const struct operation operations[] = {
    {OPERATION("snapshot.set", "Keep a state folded from a stream"),
     WORKS(METHOD_PUT, "/v1/streams/{stream}/snapshots/{name}"), FIELDS(set_fields), RECORD(snapshot_columns),
     .run = snapshot_set, .options = OPTION(PAYLOAD_LIMIT),
     .details = "The state of the stream as of VERSION; the last two of each name are kept.",
     .example = "pawl snapshot set account-7 balance 1 '{\"balance\":120}'"},
    {OPERATION("snapshot.show", "Show a state folded from a stream"),
     READS("/v1/streams/{stream}/snapshots/{name}"), FIELDS(show_fields), RECORD(snapshot_columns),
     .run = snapshot_show, .details = "To load a long stream, start there and read on from the next version.",
     .example = "pawl snapshot show account-7 balance"},
};

const struct operation_table snapshot_operations = OPERATION_TABLE(operations);
