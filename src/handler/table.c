/* The table of handlers. */
#include "handler/table.h"

#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/hash.h"
#include "base/limits.h"
#include "base/str.h"
#include "handler/pattern.h"
#include "handler/program.h"

pawl_status handler_table_create(struct handler_table **table, pawl_error *err) {
    struct handler_table *made = calloc(1, sizeof(*made));
    if (made != NULL) {
        made->arena = arena_create(0);
        made->handlers = calloc(HANDLER_COUNT_MAX, sizeof(*made->handlers));
    }
    if (made == NULL || made->arena == NULL || made->handlers == NULL) {
        handler_table_free(made);
        return error_set(err, PAWL_NO_MEMORY, "handler_table_create", "out of memory");
    }
    *table = made;
    return PAWL_OK;
}

void handler_table_free(struct handler_table *table) {
    if (table == NULL)
        return;
    arena_free(table->arena);
    arena_free(table->pause_arena);
    free(table->handlers);
    free(table);
}

static pawl_status check_numbers(const pawl_handler *in, pawl_error *err) {
    if (in->timeout_ms < 0 || in->timeout_ms > PAWL_LEASE_MS_MAX)
        return error_set(err, PAWL_INVALID, "handler", "timeout is %lld ms; it must be from 0 to %d",
                         (long long)in->timeout_ms, PAWL_LEASE_MS_MAX);
    if (in->concurrency < 0)
        return error_set(err, PAWL_INVALID, "handler", "concurrency is %d; it must be 0 (no limit) or more",
                         in->concurrency);
    if (in->max_attempts < 0 || in->max_attempts > PAWL_ATTEMPTS_MAX)
        return error_set(err, PAWL_INVALID, "handler", "max attempts is %d; it must be from 0 to %d",
                         in->max_attempts, PAWL_ATTEMPTS_MAX);
    if (in->retry_base_ms < 0 || in->retry_max_ms < 0 || in->retry_max_ms > PAWL_RETRY_MS_MAX ||
        (in->retry_max_ms != 0 && in->retry_base_ms > in->retry_max_ms))
        return error_set(
            err, PAWL_INVALID, "handler",
            "the retry delays are %lld to %lld ms; the first must not be above the second, and 7 days "
            "is the most",
            (long long)in->retry_base_ms, (long long)in->retry_max_ms);
    if (in->on_dead < PAWL_ON_DEAD_DEFAULT || in->on_dead > PAWL_ON_DEAD_PARK)
        return error_set(err, PAWL_INVALID, "handler", "on_dead is %d; use block, skip or park",
                         (int)in->on_dead);
    return PAWL_OK;
}

/* A pattern that an earlier one already covers would never get a message: surely a mistake. */
static pawl_status check_pattern(const struct handler_table *table, pawl_str pattern, bool by_topic,
                                 pawl_error *err) {
    pawl_status status = pattern_check(pattern, err);
    for (size_t i = 0; status == PAWL_OK && i < table->count; i++) {
        if (!table->handlers[i].perspectives && table->handlers[i].by_topic == by_topic &&
            pattern_covers(table->handlers[i].pattern, pattern))
            return error_set(
                err, PAWL_INVALID, "handler",
                "the pattern '%.*s' can match nothing: '%.*s' stands before it and takes it all; "
                "put the narrow pattern first",
                STR_ARG(pattern), STR_ARG(table->handlers[i].pattern));
    }
    return status;
}

static pawl_status handler_init(struct handler_table *table, pawl_str pattern, const pawl_handler *in,
                                bool by_topic, struct handler *handler, pawl_error *err) {
    if (table->count == HANDLER_COUNT_MAX)
        return error_set(err, PAWL_INVALID, "handler", "there are %d handlers already, which is the most",
                         HANDLER_COUNT_MAX);
    *handler = (struct handler){.by_topic = by_topic,
                                .timeout_ms = in->timeout_ms,
                                .concurrency = in->concurrency,
                                .retry_base_ms = in->retry_base_ms,
                                .retry_max_ms = in->retry_max_ms,
                                .max_attempts = in->max_attempts,
                                .on_dead = in->on_dead};
    pawl_status status = check_pattern(table, pattern, by_topic, err);
    if (status == PAWL_OK)
        status = check_numbers(in, err);
    return status == PAWL_OK ? str_dup(table->arena, pattern, &handler->pattern, err) : status;
}

/* What the handler does not say comes from the worker. */
static void handler_join(struct handler_table *table, struct handler *handler) {
    if (handler->retry_base_ms == 0 && handler->retry_max_ms == 0) {
        handler->retry_base_ms = table->defaults.retry_base_ms;
        handler->retry_max_ms = table->defaults.retry_max_ms;
    }
    if (handler->retry_base_ms > 0 && handler->retry_max_ms == 0)
        handler->retry_max_ms = PAWL_RETRY_MAX_MS_DEFAULT > handler->retry_base_ms ? PAWL_RETRY_MAX_MS_DEFAULT
                                                                                   : handler->retry_base_ms;
    if (handler->kind == HANDLER_PROCESS && handler->timeout_ms == 0)
        handler->timeout_ms = table->defaults.timeout_ms > 0 ? table->defaults.timeout_ms
                                                             : HANDLER_TIMEOUT_MS_DEFAULT;
    handler->name = handler->pattern.ptr;
    table->handlers[table->count++] = *handler;
    table->routes += handler->by_topic;
    memset(table->cache, 0, sizeof(table->cache));
}

pawl_status handler_table_add(struct handler_table *table, pawl_str pattern, const pawl_handler *in,
                              pawl_error *err) {
    struct handler handler;
    if ((in->function == NULL) == (in->command == NULL))
        return error_set(err, PAWL_INVALID, "handler",
                         "a handler is a function or a command: set exactly one");
    pawl_status status = handler_init(table, pattern, in, false, &handler, err);
    handler.kind = in->function != NULL ? HANDLER_FUNCTION : HANDLER_PROCESS;
    handler.function = in->function;
    handler.self = in->self;
    if (status == PAWL_OK && in->command != NULL) {
        status = command_split(table->arena, str_from(in->command), &handler.argv, err);
        if (status == PAWL_OK)
            status = program_find(table->arena, handler.argv[0], &handler.argv[0], err);
    }
    if (status == PAWL_OK)
        handler_join(table, &handler);
    return status;
}

pawl_status handler_table_add_route(struct handler_table *table, pawl_str pattern, handler_batch_fn batch,
                                    void *self, const pawl_handler *rules, pawl_error *err) {
    struct handler handler;
    pawl_status status = handler_init(table, pattern, rules, true, &handler, err);
    handler.kind = HANDLER_BATCH;
    handler.batch = batch;
    handler.self = self;
    if (status == PAWL_OK)
        handler_join(table, &handler);
    return status;
}

pawl_status handler_table_add_perspectives(struct handler_table *table, handler_batch_fn batch, void *self,
                                           pawl_error *err) {
    struct handler handler = {.pattern = STR("pawl.append"),
                              .kind = HANDLER_BATCH,
                              .batch = batch,
                              .self = self,
                              .perspectives = true};
    if (table->count == HANDLER_COUNT_MAX)
        return error_set(err, PAWL_INVALID, "handler", "there are %d handlers already, which is the most",
                         HANDLER_COUNT_MAX);
    handler_join(table, &handler);
    return PAWL_OK;
}

static int match(const struct handler_table *table, pawl_str type) {
    for (size_t i = 0; i < table->count; i++) {
        if (!table->handlers[i].by_topic && !table->handlers[i].perspectives &&
            pattern_matches(table->handlers[i].pattern, type))
            return (int)i;
    }
    return -1;
}

void handler_table_pause(struct handler_table *table, const struct pause_rows *rows) {
    struct arena *arena = arena_create(0);
    struct pause_row *copy = arena != NULL ? arena_array(arena, rows->count, sizeof(*copy)) : NULL;
    bool failed = copy == NULL;
    for (size_t i = 0; !failed && i < rows->count; i++) {
        copy[i] = (struct pause_row){.scope = rows->rows[i].scope};
        failed = str_dup(arena, rows->rows[i].name, &copy[i].name, NULL) != PAWL_OK;
    }
    if (failed) {
        arena_free(arena);
        return;
    }
    arena_free(table->pause_arena);
    table->pause_arena = arena;
    table->pauses = copy;
    table->pause_count = rows->count;
}

static bool paused(const struct handler_table *table, const struct item *item, int handler) {
    pawl_str topic = str_absent(item->topic) ? item->type : item->topic;
    for (size_t i = 0; i < table->pause_count; i++) {
        const struct pause_row *row = &table->pauses[i];
        if ((row->scope == PAUSE_TOPIC && str_equal(row->name, topic)) ||
            (row->scope == PAUSE_STREAM && !str_absent(item->stream) && str_equal(row->name, item->stream)) ||
            (row->scope == PAUSE_HANDLER && handler >= 0 &&
             str_equal(row->name, table->handlers[handler].pattern)))
            return true;
    }
    return false;
}

static int match_any(struct handler_table *table, const struct item *item) {
    pawl_str topic = str_absent(item->topic) ? item->type : item->topic;
    for (size_t i = 0; item->kind == KIND_PERSPECTIVE && i < table->count; i++) {
        if (table->handlers[i].perspectives)
            return (int)i;
    }
    for (size_t i = 0; item->kind == KIND_OUTBOX && table->routes > 0 && i < table->count; i++) {
        if (table->handlers[i].by_topic && pattern_matches(table->handlers[i].pattern, topic))
            return (int)i;
    }
    return handler_table_match(table, item->type);
}

int handler_table_match_item(struct handler_table *table, const struct item *item) {
    int handler = match_any(table, item);
    return table->pause_count > 0 && paused(table, item, handler) ? HANDLER_PAUSED : handler;
}

int handler_table_match(struct handler_table *table, pawl_str type) {
    size_t cell = fnv1a64(type) % HANDLER_CACHE_CELLS;
    if (type.len == 0 || type.len > sizeof(table->cache[cell].type))
        return match(table, type);
    if (table->cache[cell].len == type.len && memcmp(table->cache[cell].type, type.ptr, type.len) == 0)
        return table->cache[cell].handler;
    int found = match(table, type);
    memcpy(table->cache[cell].type, type.ptr, type.len);
    table->cache[cell].len = type.len;
    table->cache[cell].handler = found;
    return found;
}

pawl_status handler_table_add_spec(struct handler_table *table, pawl_str spec, pawl_error *err) {
    const char *equals = spec.len > 0 ? memchr(spec.ptr, '=', spec.len) : NULL;
    if (equals == NULL)
        return error_set(
            err, PAWL_INVALID, "handler",
            "'%.*s' has no =; write PATTERN=exec:COMMAND, for example 'order.*=exec:./handle.sh'",
            STR_ARG(spec));
    pawl_str pattern = str_trim((pawl_str){spec.ptr, (size_t)(equals - spec.ptr)});
    pawl_str target = {equals + 1, spec.len - pattern.len - 1};
    target.len = (size_t)(spec.ptr + spec.len - target.ptr);
    if (!str_starts_with(target, STR("exec:")))
        return error_set(err, PAWL_INVALID, "handler", "'%.*s' is not a handler; the kinds are: exec:COMMAND",
                         STR_ARG(target));
    pawl_str command = {target.ptr + 5, target.len - 5};
    char *copy = arena_copy(table->arena, command.ptr, command.len);
    if (copy == NULL)
        return error_set(err, PAWL_NO_MEMORY, "handler", "out of memory");
    return handler_table_add(table, pattern, &(pawl_handler){.command = copy}, err);
}
