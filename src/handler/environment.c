/* The environment variables that describe a message to its program. */
#include "handler/environment.h"

#include <string.h>

#include "base/str.h"
#include "base/uuid.h"
#include "domain/trace_state.h"
#include "handler/message.h"

static const char *text(struct arena *arena, pawl_str value) {
    return !str_absent(value) ? arena_copy(arena, value.ptr, value.len) : NULL;
}

size_t environment_pairs(const struct item *item, struct arena *arena,
                         struct environment_pair pairs[static ENVIRONMENT_PAIRS_MAX]) {
    char id[UUID_TEXT_BYTES], key[WORK_KEY_BYTES], state[TRACESTATE_BYTES];
    const struct environment_pair made[] = {
        {"PAWL_ID", arena_strdup(arena, uuid_format(item->id, id))},
        {"PAWL_KIND", work_kind_name(item->kind)},
        {"PAWL_TYPE", text(arena, item->type)},
        {"PAWL_STREAM", text(arena, item->stream)},
        {"PAWL_TOPIC", text(arena, item->topic)},
        {"PAWL_SEQ", arena_printf(arena, "%lld", (long long)item->seq)},
        {"PAWL_ATTEMPT", arena_printf(arena, "%d", item->attempt)},
        {"PAWL_TOKEN", arena_printf(arena, "%lld", (long long)item->token)},
        {"PAWL_IDEMPOTENCY_KEY", arena_strdup(arena, work_idempotency_key(item, key))},
        {"PAWL_TRACEPARENT", text(arena, item->traceparent)},
        {"TRACEPARENT", text(arena, item->traceparent)},
        {"TRACESTATE", text(arena, trace_state_read(item->traceparent, item->headers, state))},
    };
    memcpy(pairs, made, sizeof(made));
    return sizeof(made) / sizeof(*made);
}
