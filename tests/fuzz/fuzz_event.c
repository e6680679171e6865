/* Fuzzes what comes from other systems with a message: CloudEvents, trace contexts, scopes. */
#include <string.h>

#include "base/json/json.h"
#include "base/limits.h"
#include "base/str.h"
#include "domain/authority/scope.h"
#include "domain/trace.h"
#include "fuzz.h"
#include "transport/event.h"

/* An event that was read is the same when it is written and read again. */
static void read_event(pawl_str text) {
    struct arena *arena = arena_create(0);
    struct event event = {0}, again = {0};
    pawl_error err;
    if (event_parse(arena, text, &event, &err) == PAWL_OK && event_check(&event, &err) == PAWL_OK) {
        AUTO_BUF(written, 0);
        event_json(&written, &event);
        must(!written.failed && json_valid(buf_str(&written), PAWL_JSON_DEPTH_MAX, NULL));
        must(event_parse(arena, buf_str(&written), &again, &err) == PAWL_OK);
        must(str_equal(event.id, again.id) && str_equal(event.stream, again.stream) &&
             str_equal(event.headers, again.headers) && str_equal(event.data, again.data));
    }
    pawl_str value, name = str_before(text, ':', &value);
    struct event headers = {0};
    bool binary = false;
    (void)!event_take_header(&headers, "ce-", name, str_absent(value) ? STR("") : value, &binary, &err);
    arena_free(arena);
}

static void fuzz_trace(pawl_str text) {
    struct trace_context context, again;
    char written[TRACEPARENT_BYTES], state[TRACESTATE_BYTES];
    if (trace_parse(text, &context)) {
        must(trace_parse(str_from(trace_format(&context, written)), &again));
        must(memcmp(context.trace_id, again.trace_id, sizeof again.trace_id) == 0 &&
             context.flags == again.flags);
    }
    pawl_str found =
        trace_state_read(STR("00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"), text, state);
    must(str_absent(found) || trace_state_valid(found));
    struct arena *arena = arena_create(0);
    if (json_valid(text, PAWL_JSON_DEPTH_MAX, NULL) && str_starts_with(text, STR("{")))
        must(json_valid(trace_state_add(arena, text, STR("a=b"), 4096), PAWL_JSON_DEPTH_MAX, NULL));
    arena_free(arena);
}

static void fuzz_scopes(pawl_str text) {
    pawl_str rest, missing = {NULL, 0}, granted = str_before(text, '\n', &rest), scope;
    size_t steps = 0;
    for (size_t at = 0; scope_list_next(granted, &at, &scope); steps++)
        must(steps <= granted.len && scope.ptr >= granted.ptr &&
             scope.ptr + scope.len <= granted.ptr + granted.len);
    if (!scope_list_covers(granted, rest, &missing))
        must(!str_absent(missing));
    pawl_error err;
    if (scope_check_name(granted, false, &err) == PAWL_OK)
        must(scope_covers(STR("*"), granted) && scope_covers(granted, granted));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    pawl_str text = {(const char *)data, size};
    read_event(text);
    fuzz_trace(text);
    fuzz_scopes(text);
    return 0;
}
