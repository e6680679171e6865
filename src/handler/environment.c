/* The environment of a handler's process. */
#include "handler/environment.h"

#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/str.h"
#include "base/uuid.h"
#include "domain/trace_state.h"
#include "work/message.h"

/* What a program needs to run at all. The database's address and password are not among it. */
static const char *const passed_on[] = {"PATH", "HOME",   "USER",   "LOGNAME",  "SHELL", "LANG",
                                        "TZ",   "LC_ALL", "TMPDIR", "LC_CTYPE", "TERM"};

enum { PASSED_COUNT = sizeof(passed_on) / sizeof(*passed_on) };

static void add(struct environment *env, size_t *count, const char *name, pawl_str value) {
    if (str_absent(value))
        return;
    char *line = arena_printf(env->arena, "%s=%.*s", name, STR_ARG(value));
    if (line != NULL)
        env->list[(*count)++] = line;
}

/* Room for the common names and so many more. */
static pawl_status begin(struct environment *env, size_t more, size_t *count, pawl_error *err) {
    env->arena = arena_create(0);
    env->list = env->arena != NULL ? arena_array(env->arena, PASSED_COUNT + more + 1, sizeof(char *)) : NULL;
    if (env->list == NULL)
        return error_set(err, PAWL_NO_MEMORY, "process", "out of memory");
    for (size_t i = 0; i < PASSED_COUNT; i++)
        add(env, count, passed_on[i], str_from(getenv(passed_on[i])));
    return PAWL_OK;
}

static const char *text(struct arena *arena, pawl_str value) {
    return !str_absent(value) ? arena_copy(arena, value.ptr, value.len) : NULL;
}

pawl_status environment_plain(struct environment *env, const struct environment_pair *pairs, size_t count,
                              const char *run, pawl_error *err) {
    size_t made = 0;
    pawl_status status = begin(env, count + 1, &made, err);
    for (size_t i = 0; status == PAWL_OK && i < count; i++)
        add(env, &made, pairs[i].name, str_from(pairs[i].value));
    if (status == PAWL_OK)
        add(env, &made, "PAWL_RUN", str_from(run));
    return status;
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

pawl_status environment_make(struct environment *env, const struct item *item, const char *run,
                             pawl_error *err) {
    struct environment_pair pairs[ENVIRONMENT_PAIRS_MAX];
    struct arena *arena = arena_create(0);
    if (arena == NULL)
        return error_set(err, PAWL_NO_MEMORY, "process", "out of memory");
    pawl_status status = environment_plain(env, pairs, environment_pairs(item, arena, pairs), run, err);
    arena_free(arena);
    return status;
}

void environment_free(struct environment *env) {
    arena_free(env->arena);
    env->arena = NULL;
}
