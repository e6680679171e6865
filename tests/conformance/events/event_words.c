/* Helpers for the operations on events and perspectives. */
#include "conformance/events/event_words.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/error.h"

static void must_(struct conf *c, pawl_status status, const char *call) {
    expect_status_(c, PAWL_OK, status, call);
}
#define must(call) must_(c, call, #call)

struct append_result append_(struct conf *c, const char *stream, int64_t expected, const char *type,
                             int count, int first_id) {
    pawl_event *events = arena_array(c->arena, (size_t)count, sizeof *events);
    assert_non_null(events);
    for (int i = 0; i < count; i++)
        events[i] = (pawl_event){.id = first_id > 0 ? message_id(first_id + i) : uuid_nil(),
                                 .type = str_from(type),
                                 .payload = str_from(arena_printf(c->arena, "{\"n\":%d}", i))};
    struct events_append in = {
        .stream = str_from(stream), .expected = expected, .events = events, .count = (size_t)count};
    struct append_result out = {0};
    must(EVENTS(c)->events_append(c->store, &in, c->arena, &out, &c->err));
    return out;
}

struct perspective_new perspective_named(const char *name, int version, const struct event_pattern *pattern) {
    return (struct perspective_new){.name = str_from(name),
                                    .version = version,
                                    .patterns = pattern,
                                    .pattern_count = 1,
                                    .run = RUN_FUNCTION};
}

struct perspective_registered register_(struct conf *c, const char *name, int version, enum pattern_mode mode,
                                        const char *pattern) {
    struct event_pattern one = {mode, str_from(pattern)};
    struct perspective_new in = perspective_named(name, version, &one);
    struct perspective_registered out = {0};
    must(EVENTS(c)->perspective_register(c->store, &in, &out, &c->err));
    backfill_(c, arena_printf(c->arena, "%s@%d", name, version));
    return out;
}

void backfill_(struct conf *c, const char *key) {
    bool done = false;
    while (!done)
        must(EVENTS(c)->perspective_backfill(c->store, str_from(key), 2, &done, &c->err));
}

struct checkpoint_grants grants_(struct conf *c, int n, const char *stream, const char *key,
                                 const char *other_key) {
    pawl_str streams[] = {str_from(stream)}, keys[] = {str_from(key), str_from(other_key)};
    struct checkpoints_claim in = {.instance = instance_id(n),
                                   .streams = streams,
                                   .stream_count = stream != NULL ? 1 : 0,
                                   .perspectives = keys,
                                   .perspective_count = key == NULL         ? 0
                                                        : other_key == NULL ? 1
                                                                            : 2,
                                   .max = 10,
                                   .lease_ms = LEASE_MS};
    struct checkpoint_grants out = {0};
    must(EVENTS(c)->checkpoints_claim(c->store, &in, c->arena, &out, &c->err));
    return out;
}

pawl_status see(const pawl_perspective_call *call, void *self, pawl_error *err) {
    struct seen *seen = self;
    size_t before = strlen(seen->text);
    seen->calls++;
    for (size_t i = 0; i < call->count; i++) {
        const pawl_stored_event *e = &call->events[i];
        if (seen->fails_at != 0 && e->version == seen->fails_at) {
            seen->text[before] = '\0';
            return error_set(err, PAWL_INVALID, "see", "cannot apply version %" PRId64, e->version);
        }
        size_t len = strlen(seen->text);
        snprintf(seen->text + len, sizeof seen->text - len, "%s%" PRId64 ":%.*s%s", len > 0 ? " " : "",
                 e->version, STR_ARG(e->type), e->replay ? "(replay)" : "");
    }
    return PAWL_OK;
}

struct apply_item apply_(struct conf *c, const char *key, int64_t token, const char *stream, int batch,
                         struct seen *seen) {
    pawl_str streams[] = {str_from(stream)};
    struct perspective_apply in = {.perspective = str_from(key),
                                   .token = token,
                                   .streams = streams,
                                   .stream_count = 1,
                                   .batch = batch,
                                   .function = see,
                                   .self = seen};
    struct apply_result out = {0};
    must(EVENTS(c)->perspective_apply(c->store, &in, c->arena, &out, &c->err));
    assert_int_equal(out.count, 1);
    return out.items[0];
}

static struct checkpoint_views views_of(struct conf *c, const char *stream, const char *key) {
    struct checkpoint_filter filter = {
        .stream = str_from(stream), .perspective = str_from(key), .status = -1, .limit = 100};
    struct checkpoint_views out = {0};
    must(EVENTS(c)->checkpoints_list(c->store, &filter, c->arena, &out, &c->err));
    return out;
}

struct checkpoint_view checkpoint_(struct conf *c, const char *stream, const char *key) {
    struct checkpoint_views views = views_of(c, stream, key);
    if (views.count != 1)
        fail_msg("%s:%d: %zu checkpoints of %s for %s", c->file, c->line, views.count, stream, key);
    return views.rows[0];
}

size_t checkpoint_count(struct conf *c, const char *key) { return views_of(c, NULL, key).count; }

struct perspective_row perspective_(struct conf *c, const char *name, int version) {
    struct perspective_rows rows = {0};
    stamp_(c);
    must(EVENTS(c)->perspective_list(c->store, str_from(name), c->arena, &rows, &c->err));
    for (size_t i = 0; i < rows.count; i++) {
        if (rows.rows[i].version == version)
            return rows.rows[i];
    }
    fail_msg("%s:%d: no perspective %s@%d", c->file, c->line, name, version);
    return (struct perspective_row){0};
}

enum store_answer report_(struct conf *c, const struct checkpoint_grant *grant, int64_t version,
                          enum checkpoint_status status, const char *error) {
    struct checkpoint_report report = {.stream = grant->stream,
                                       .perspective = grant->perspective,
                                       .version = version,
                                       .token = grant->token,
                                       .status = status,
                                       .error = str_from(error),
                                       .delay_ms = status == CHECKPOINT_FAILED ? 1000 : 0};
    struct answer_list answers = {0};
    struct checkpoints_report in = {instance_id(1), &report, 1};
    must(c->core->checkpoints_report(c->store, &in, c->arena, &answers, &c->err));
    return answers.answers[0];
}

bool reached_(struct conf *c, const char *perspective, const char *stream, int64_t at) {
    struct perspective_target in = {.perspective = str_from(perspective),
                                    .stream = str_from(stream),
                                    .version = stream != NULL ? at : 0,
                                    .position = stream != NULL ? 0 : at};
    struct perspective_reached out = {0};
    must(EVENTS(c)->perspective_reached(c->store, &in, c->arena, &out, &c->err));
    return out.reached;
}

void stamp_(struct conf *c) {
    struct stamp_result out = {0};
    must(EVENTS(c)->events_stamp(c->store, 1000, &out, &c->err));
}
