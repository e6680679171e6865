/* Checking the input of operations on events and perspectives, with the same errors for every store. */
#include <inttypes.h>
#include <string.h>

#include "base/error.h"
#include "base/limits.h"
#include "base/str.h"
#include "base/uuid.h"
#include "store/check/place.h"
#include "store/events.h"

static pawl_status place_event(struct place *at, const pawl_event *event, size_t bytes_max) {
    place_required(at, TEXT_TYPE, "type", event->type);
    place_optional(at, TEXT_TOPIC, "topic", event->topic);
    place_optional(at, TEXT_NAME, "traceparent", event->traceparent);
    place_payload(at, event->payload, bytes_max);
    return place_json_object(at, "metadata", event->metadata);
}

pawl_status check_append(const struct events_append *in, pawl_error *err) {
    struct place at = {.op = "events_append", .err = err};
    place_required(&at, TEXT_STREAM, "stream", in->stream);
    if (in->expected < EXPECT_ANY)
        return place_wrong(&at,
                           "the expected version %" PRId64
                           " is wrong; use -1 (any), 0 (a new stream) or the version that the stream has",
                           in->expected);
    if (in->count < 1 || in->count > PAWL_APPEND_MAX || in->events == NULL)
        return place_wrong(&at, "%zu events in one call; from 1 to %d are allowed", in->count,
                           PAWL_APPEND_MAX);
    if (in->payload_bytes_max > PAWL_PAYLOAD_BYTES_MAX)
        return place_wrong(&at, "a payload limit of %zu bytes is above the largest possible, %d",
                           in->payload_bytes_max, PAWL_PAYLOAD_BYTES_MAX);
    size_t bytes_max = in->payload_bytes_max != 0 ? in->payload_bytes_max : PAWL_PAYLOAD_BYTES_DEFAULT;
    at.noun = "event";
    at.count = in->count;
    for (at.index = 0; at.index < in->count; at.index++) {
        const pawl_event *event = &in->events[at.index];
        place_event(&at, event, bytes_max);
        if (at.status != PAWL_OK)
            return at.status;
        for (size_t i = 0; !uuid_is_nil(event->id) && i < at.index; i++) {
            if (uuid_equal(in->events[i].id, event->id))
                return place_wrong(&at, "its id appears twice in the call; give every event its own");
        }
    }
    return at.status;
}

pawl_status check_events_query(const pawl_read *in, pawl_error *err) {
    struct place at = {.op = "events_read", .err = err};
    place_optional(&at, TEXT_STREAM, "stream", in->stream);
    place_limit(&at, in->limit);
    if (in->from < 0 || in->as_of_ms < 0)
        return place_wrong(&at, "from %" PRId64 " or as_of %" PRId64 " is negative", in->from, in->as_of_ms);
    if (str_absent(in->stream) && !uuid_is_nil(in->as_of_event))
        return place_wrong(&at, "as of an event needs the stream that the event is in");
    return at.status;
}

static pawl_status place_key(struct place *at, pawl_str key) {
    place_required(at, TEXT_NAME, "perspective", key);
    size_t i = key.len;
    int64_t version = 0;
    while (i > 0 && key.ptr[i - 1] != '@')
        i--;
    if (i < 2 || !str_to_i64((pawl_str){key.ptr + i, key.len - i}, 1, PAWL_PERSPECTIVE_VERSION_MAX, &version))
        return place_wrong(at, "\"%.*s\" is no version of a perspective; write name@version, like orders@1",
                           STR_ARG(key));
    return at->status;
}

pawl_status check_key(const char *op, pawl_str key, pawl_error *err) {
    return place_key(&(struct place){.op = op, .err = err}, key);
}

static pawl_status place_sql(struct place *at, const char *what, pawl_str text) {
    if (str_absent(text))
        return at->status;
    if (str_trim(text).len == 0 || text.len > PAWL_PERSPECTIVE_SQL_BYTES_MAX)
        return place_wrong(at, "the %s has %zu bytes; from 1 to %d are allowed", what, text.len,
                           PAWL_PERSPECTIVE_SQL_BYTES_MAX);
    return place_error_text(at, text);
}

static pawl_status place_run(struct place *at, const struct perspective_new *in) {
    if (in->run < RUN_SQL || in->run > RUN_HTTP)
        return place_wrong(at, "%d is no way to run; use 1 (SQL), 2 (function), 3 (command) or 4 (HTTP)",
                           (int)in->run);
    if ((in->run == RUN_FUNCTION) != str_absent(in->target))
        return place_wrong(at, in->run == RUN_FUNCTION
                                   ? "a function has no target; leave it out"
                                   : "the target is missing: a SQL statement, a command or an address");
    if (in->batch < 0 || in->batch > PAWL_BATCH_MAX)
        return place_wrong(at, "batch %d is outside 0 … %d (0 = %d)", in->batch, PAWL_BATCH_MAX,
                           PAWL_PERSPECTIVE_BATCH_DEFAULT);
    if (in->policy != POLICY_DEFAULT && in->policy != POLICY_BLOCK && in->policy != POLICY_SKIP)
        return place_wrong(at, "policy %d is wrong; a perspective blocks (1) or skips (2)", (int)in->policy);
    place_attempts(at, in->max_attempts);
    place_sql(at, "target", in->target);
    return place_sql(at, "clear statement", in->clear);
}

pawl_status check_perspective(const struct perspective_new *in, pawl_error *err) {
    struct place at = {.op = "perspective_register", .err = err};
    place_required(&at, TEXT_NAME, "name", in->name);
    if (at.status != PAWL_OK)
        return at.status;
    if (memchr(in->name.ptr, '@', in->name.len) != NULL || in->name.len > PAWL_NAME_BYTES_MAX - 8)
        return place_wrong(&at, "the name \"%.*s\" has an @ or more than %d bytes; choose another",
                           STR_ARG(in->name), PAWL_NAME_BYTES_MAX - 8);
    if (in->version < 1 || in->version > PAWL_PERSPECTIVE_VERSION_MAX)
        return place_wrong(&at, "version %d is outside 1 … %d", in->version, PAWL_PERSPECTIVE_VERSION_MAX);
    if (in->pattern_count < 1 || in->pattern_count > PAWL_PATTERNS_MAX || in->patterns == NULL)
        return place_wrong(&at, "%zu patterns; from 1 to %d say which events the perspective gets",
                           in->pattern_count, PAWL_PATTERNS_MAX);
    for (size_t i = 0; at.status == PAWL_OK && i < in->pattern_count; i++) {
        bool matches = false;
        at.status = event_pattern_matches(&in->patterns[i], STR("a"), &matches, err);
    }
    return place_run(&at, in);
}

pawl_status check_reset(const struct perspective_reset *in, pawl_error *err) {
    struct place at = {.op = "perspective_reset", .err = err};
    place_key(&at, in->perspective);
    if (in->mode != RESET_FAILED && in->mode != RESET_REBUILD)
        place_wrong(&at, "mode %d is unknown; use 1 (failed) or 2 (rebuild)", (int)in->mode);
    return place_count(&at, "streams", in->stream_count, in->streams);
}

pawl_status check_clear(const struct perspective_reset *in, pawl_str clear, pawl_error *err) {
    bool takes_streams = str_absent(clear) || memchr(clear.ptr, '?', clear.len) != NULL ||
                         memmem(clear.ptr, clear.len, "$1", 2) != NULL;
    if (in->mode != RESET_REBUILD || in->stream_count == 0 || takes_streams)
        return PAWL_OK;
    return error_set(err, PAWL_CONFLICT, "perspective_reset",
                     "the clear statement of %.*s has no parameter for the streams and would empty the whole "
                     "model: rebuild all of it",
                     STR_ARG(in->perspective));
}

pawl_status check_switch(const struct perspective_switch *in, pawl_error *err) {
    struct place at = {.op = "perspective_switch", .err = err};
    place_required(&at, TEXT_NAME, "name", in->name);
    if (in->version < 1 || in->version > PAWL_PERSPECTIVE_VERSION_MAX)
        return place_wrong(&at, "version %d is outside 1 … %d", in->version, PAWL_PERSPECTIVE_VERSION_MAX);
    if (in->wait_ms < 0 || in->wait_ms > PAWL_SWITCH_WAIT_MS_MAX)
        return place_wrong(&at, "appends can be held back from 0 to %d ms, not %" PRId64,
                           PAWL_SWITCH_WAIT_MS_MAX, in->wait_ms);
    if (str_absent(in->digest_old) != str_absent(in->digest_new))
        return place_wrong(&at, "a digest of one side compares nothing; give both or none");
    place_sql(&at, "old digest", in->digest_old);
    return place_sql(&at, "new digest", in->digest_new);
}

pawl_status check_checkpoints_claim(const struct checkpoints_claim *in, pawl_error *err) {
    struct place at = {.op = "checkpoints_claim", .err = err};
    place_instance_id(&at, in->instance);
    place_lease(&at, in->lease_ms);
    place_count(&at, "streams", in->stream_count, in->streams);
    place_count(&at, "perspectives", in->perspective_count, in->perspectives);
    return place_range(&at, "max", in->max, 1, PAWL_BATCH_MAX);
}

pawl_status check_checkpoints_renew(const struct checkpoints_renew *in, pawl_error *err) {
    struct place at = {.op = "checkpoints_renew", .err = err};
    place_lease(&at, in->lease_ms);
    return place_count(&at, "renewals", in->count, in->refs);
}

pawl_status check_checkpoint_events(const struct checkpoint_ref *ref, int limit, pawl_error *err) {
    struct place at = {.op = "checkpoint_events", .err = err};
    place_required(&at, TEXT_STREAM, "stream", ref->stream);
    place_key(&at, ref->perspective);
    return place_limit(&at, limit);
}

static pawl_status place_batch(struct place *at, int batch) {
    if (batch >= 0 && batch <= PAWL_BATCH_MAX)
        return at->status;
    return place_wrong(at, "batch %d is outside 0 … %d (0 = the perspective's)", batch, PAWL_BATCH_MAX);
}

pawl_status check_apply(const struct perspective_apply *in, pawl_error *err) {
    struct place at = {.op = "perspective_apply", .err = err};
    place_key(&at, in->perspective);
    place_count(&at, "streams", in->stream_count, in->streams);
    place_batch(&at, in->batch);
    for (size_t i = 0; at.status == PAWL_OK && i < in->stream_count; i++) {
        for (size_t j = 0; j < i && in->stream_count <= 64; j++) {
            if (str_equal(in->streams[i], in->streams[j]))
                return place_wrong(&at, "stream \"%.*s\" is named twice", STR_ARG(in->streams[i]));
        }
    }
    return at.status;
}

pawl_status check_advance(const struct perspective_advance *in, pawl_error *err) {
    struct place at = {.op = "perspective_advance", .err = err};
    place_instance_id(&at, in->instance);
    place_key(&at, in->perspective);
    place_count(&at, "streams", in->stream_count, in->streams);
    place_count(&at, "perspectives", in->mine_count, in->mine);
    if (in->links_max > PAWL_LIST_MAX)
        place_wrong(&at, "%zu links are wanted; at most %d are given", in->links_max, PAWL_LIST_MAX);
    return place_batch(&at, in->batch);
}

pawl_status check_skip(const struct checkpoint_skip *in, pawl_error *err) {
    struct place at = {.op = "checkpoint_skip", .err = err};
    place_key(&at, in->perspective);
    place_required(&at, TEXT_STREAM, "stream", in->stream);
    if (in->version < 1)
        return place_wrong(&at, "version %" PRId64 " is no event; versions start at 1", in->version);
    if (str_trim(in->reason).len == 0)
        return place_wrong(&at, "the reason is missing; say why the event is left out");
    return place_error_text(&at, in->reason);
}

pawl_status check_target(const struct perspective_target *in, pawl_error *err) {
    struct place at = {.op = "perspective_reached", .err = err};
    place_required(&at, TEXT_NAME, "perspective", in->perspective);
    place_optional(&at, TEXT_STREAM, "stream", in->stream);
    bool of_stream = !str_absent(in->stream);
    if ((of_stream ? in->version : in->position) < 1 || (of_stream ? in->position : in->version) != 0)
        return place_wrong(&at, "name a stream and a version from 1 on, or a position from 1 on");
    return at.status;
}

pawl_status check_snapshot(const struct snapshot *in, pawl_error *err) {
    struct place at = {.op = "snapshot_put", .err = err};
    place_required(&at, TEXT_STREAM, "stream", in->stream);
    place_required(&at, TEXT_NAME, "name", in->name);
    if (in->version < 1)
        place_wrong(&at, "version %" PRId64 " is no event; versions start at 1", in->version);
    return place_payload(&at, in->state, PAWL_PAYLOAD_BYTES_MAX);
}

pawl_status perspective_key(struct arena *arena, pawl_str name, int version, pawl_str *key, pawl_error *err) {
    char *text = arena_printf(arena, "%.*s@%d", STR_ARG(name), version);
    if (text == NULL)
        return error_set(err, PAWL_NO_MEMORY, "perspective_key", "no memory for a name");
    *key = str_from(text);
    return PAWL_OK;
}

void append_known(const struct events_append *in, size_t count, int64_t first, struct append_result *out) {
    if (count == 0)
        return;
    bool again = count == in->count && first > 0;
    out->answer = again ? ANSWER_DUPLICATE : ANSWER_CONFLICT;
    out->id_known = !again;
    if (again) {
        out->first_version = first;
        out->version = first + (int64_t)in->count - 1;
    }
}

pawl_status append_refused(const char *op, const struct events_append *in, const struct append_result *result,
                           pawl_error *err) {
    if (result->id_known)
        return error_set(err, PAWL_CONFLICT, op,
                         "an id of the call is known with other content, in another stream, or without the "
                         "others of the call; nothing was appended to %.*s, which is at version %" PRId64
                         ": give new events new ids",
                         STR_ARG(in->stream), result->version);
    return error_set(err, PAWL_CONFLICT, op,
                     "stream %.*s is at version %" PRId64 ", not at %" PRId64 "; read it and decide again",
                     STR_ARG(in->stream), result->version, in->expected);
}

pawl_status check_stamp(int limit, pawl_error *err) {
    if (limit >= 1)
        return PAWL_OK;
    return error_set(err, PAWL_INVALID, "events_stamp", "limit %d must be at least 1", limit);
}

pawl_status check_backfill(pawl_str perspective, int streams_max, pawl_error *err) {
    struct place at = {.op = "perspective_backfill", .err = err};
    place_key(&at, perspective);
    return place_limit(&at, streams_max);
}

pawl_status snapshot_missing(pawl_str stream, pawl_str name, pawl_error *err) {
    return error_set(err, PAWL_NOT_FOUND, "snapshot_get", "no snapshot \"%.*s\" of stream \"%.*s\"",
                     STR_ARG(name), STR_ARG(stream));
}

pawl_status checkpoint_missing(pawl_str stream, pawl_str perspective, pawl_error *err) {
    return error_set(err, PAWL_NOT_FOUND, "checkpoint_get",
                     "perspective %.*s has no checkpoint for stream %.*s", STR_ARG(perspective),
                     STR_ARG(stream));
}
