/* The table of handlers: adding handlers, checking their rules, finding them by type. */
#include "handler/table.h"

#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/hash.h"
#include "base/limits.h"
#include "base/str.h"
#include "base/uuid.h"
#include "domain/name.h"
#include "domain/pattern.h"
#include "handler/webhook.h"
#include "process/program.h"
#include "store/event_receptors.h"

pawl_status handler_table_create(struct handler_table **table, pawl_error *err) {
    struct handler_table *made = calloc(1, sizeof(*made));
    if (made != NULL) {
        made->arena = arena_create(0);
        made->handlers = calloc(HANDLER_COUNT_MAX, sizeof(*made->handlers));
    }
    if (made == NULL || made->arena == NULL || made->handlers == NULL) {
        handler_table_free(made);
        return error_no_memory(err, "handler_table_create");
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
    if (in->recycle_after < 0 || in->recycle_mb < 0 ||
        (in->pipe == NULL && (in->recycle_after > 0 || in->recycle_mb > 0)))
        return error_set(err, PAWL_INVALID, "handler",
                         "recycle_after and recycle_mb are for a pipe, and not negative");
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
                                 bool receptor, pawl_error *err) {
    pawl_status status = pattern_check(pattern, err);
    for (size_t i = 0; status == PAWL_OK && !receptor && i < table->count; i++) {
        if (!table->handlers[i].perspectives && table->handlers[i].by_topic == by_topic &&
            table->handlers[i].receptor == NULL && pattern_covers(table->handlers[i].pattern, pattern))
            return error_set(err, PAWL_INVALID, "handler",
                             "the pattern '%.*s' can never match: '%.*s' comes first and matches everything "
                             "it would; put the narrower pattern first",
                             STR_ARG(pattern), STR_ARG(table->handlers[i].pattern));
    }
    return status;
}

/* A receptor's name identifies it across restarts: its results are recorded under it. */
static pawl_status check_name(const struct handler_table *table, pawl_str name, pawl_error *err) {
    pawl_status status = name_check(name, "receptor", err);
    for (size_t i = 0; status == PAWL_OK && i < table->count; i++) {
        if (table->handlers[i].receptor != NULL && str_equal_cstr(name, table->handlers[i].receptor))
            return error_set(err, PAWL_INVALID, "handler", "there is a receptor '%.*s' already",
                             STR_ARG(name));
    }
    if (status == PAWL_OK && table->receptors == HANDLER_RECEPTORS_MAX - 1)
        return error_set(err, PAWL_INVALID, "handler", "there are %d receptors already, which is the most",
                         HANDLER_RECEPTORS_MAX - 1);
    return status;
}

/* "event:order.*": a receptor on events. No pattern after it: as it was registered. */
static pawl_status init_event(struct handler_table *table, pawl_str pattern, const pawl_handler *in,
                              struct handler *handler, pawl_error *err) {
    const pawl_str prefix = STR(EVENT_RECEPTOR_PREFIX);
    bool matches = false;
    if (in->receptor == NULL)
        return error_set(err, PAWL_INVALID, "handler",
                         "the handler of '%.*s' has no name; a receptor on events needs one: "
                         "write NAME@%.*s",
                         STR_ARG(pattern), STR_ARG(pattern));
    pawl_status status = check_receptor_name("handler", str_from(in->receptor), err);
    if (status == PAWL_OK)
        status = str_dup(table->arena, pattern, &handler->pattern, err);
    if (status != PAWL_OK)
        return status;
    handler->event = true;
    handler->from_start = in->from_start;
    handler->on =
        event_pattern_from((pawl_str){handler->pattern.ptr + prefix.len, handler->pattern.len - prefix.len});
    return handler->on.text.len > 0 ? event_pattern_matches(&handler->on, STR("a"), &matches, err) : PAWL_OK;
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
    bool event = !by_topic && str_starts_with(pattern, STR(EVENT_RECEPTOR_PREFIX));
    if (in->from_start && !event)
        return error_set(err, PAWL_INVALID, "handler",
                         "from the start is for receptors on events: write NAME@event:PATTERN");
    pawl_status status = event ? init_event(table, pattern, in, handler, err)
                               : check_pattern(table, pattern, by_topic, in->receptor != NULL, err);
    if (status == PAWL_OK && in->receptor != NULL)
        status = check_name(table, str_from(in->receptor), err);
    if (status == PAWL_OK)
        status = check_numbers(in, err);
    return status == PAWL_OK ? str_dup(table->arena, pattern, &handler->pattern, err) : status;
}

/* The default longest delay. */
static struct handler_backoff backoff_whole(struct handler_backoff backoff) {
    if (backoff.base_ms > 0 && backoff.max_ms == 0)
        backoff.max_ms = PAWL_RETRY_MAX_MS_DEFAULT > backoff.base_ms ? PAWL_RETRY_MAX_MS_DEFAULT
                                                                     : backoff.base_ms;
    return backoff;
}

struct handler_backoff handler_table_backoff(const struct handler_table *table) {
    return backoff_whole(
        (struct handler_backoff){table->defaults.retry_base_ms, table->defaults.retry_max_ms});
}

/* Settings that the handler lacks come from the worker. */
static void handler_join(struct handler_table *table, struct handler *handler) {
    struct handler_backoff backoff = {handler->retry_base_ms, handler->retry_max_ms};
    backoff = backoff.base_ms == 0 && backoff.max_ms == 0 ? handler_table_backoff(table)
                                                          : backoff_whole(backoff);
    handler->retry_base_ms = backoff.base_ms;
    handler->retry_max_ms = backoff.max_ms;
    handler->retry_exact = table->defaults.retry_exact;
    bool limited = handler->kind == HANDLER_PROCESS || handler->kind == HANDLER_HTTP;
    if (limited && handler->timeout_ms == 0)
        handler->timeout_ms = table->defaults.timeout_ms > 0 ? table->defaults.timeout_ms
                                                             : PAWL_HANDLER_TIMEOUT_MS_DEFAULT;
    handler->name = handler->receptor != NULL ? handler->receptor : handler->pattern.ptr;
    table->handlers[table->count++] = *handler;
    table->routes += handler->by_topic;
    table->receptors += handler->receptor != NULL;
    table->event_receptors += handler->event;
    memset(table->cache, 0, sizeof(table->cache));
}

static pawl_status copy_text(struct handler_table *table, const char *text, const char **copy,
                             pawl_error *err) {
    *copy = text != NULL ? arena_strdup(table->arena, text) : NULL;
    return text == NULL || *copy != NULL ? PAWL_OK : error_no_memory(err, "handler");
}

/* An unusable secret is found when the worker starts, not when the first message is sent. */
static pawl_status check_endpoint(struct handler_table *table, const pawl_handler *in, pawl_error *err) {
    char *signature = NULL;
    pawl_status status = http_check_url(in->url, err);
    if (status == PAWL_OK && in->secret != NULL)
        status = webhook_sign(in->secret, STR("id"), 0, STR("{}"), table->arena, &signature, err);
    return status;
}

pawl_status handler_table_add(struct handler_table *table, pawl_str pattern, const pawl_handler *in,
                              pawl_error *err) {
    struct handler handler;
    const char *command = in->pipe != NULL ? in->pipe : in->command;
    if ((in->function != NULL) + (in->command != NULL) + (in->pipe != NULL) + (in->url != NULL) != 1)
        return error_set(err, PAWL_INVALID, "handler",
                         "a handler is a function, a command, a pipe or a url: set exactly one");
    pawl_status status = handler_init(table, pattern, in, false, &handler, err);
    handler.kind = in->function != NULL ? HANDLER_FUNCTION : command != NULL ? HANDLER_PROCESS : HANDLER_HTTP;
    handler.kept = in->pipe != NULL;
    handler.recycle_after = in->recycle_after;
    handler.recycle_mb = in->recycle_mb;
    handler.function = in->function;
    handler.self = in->self;
    handler.allow_private = in->allow_private;
    if (status == PAWL_OK && command != NULL) {
        status = command_split(table->arena, str_from(command), &handler.argv, err);
        if (status == PAWL_OK)
            status = program_find(table->arena, handler.argv[0], &handler.argv[0], err);
    }
    if (status == PAWL_OK && in->url != NULL)
        status = check_endpoint(table, in, err);
    if (status == PAWL_OK)
        status = copy_text(table, in->url, &handler.url, err);
    if (status == PAWL_OK)
        status = copy_text(table, in->secret, &handler.secret, err);
    if (status == PAWL_OK)
        status = copy_text(table, in->receptor, &handler.receptor, err);
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
    handler.batch_self = self;
    if (status == PAWL_OK)
        handler_join(table, &handler);
    return status;
}

pawl_status handler_table_add_perspectives(struct handler_table *table, handler_batch_fn batch, void *self,
                                           pawl_error *err) {
    struct handler handler = {.pattern = STR("pawl.append"),
                              .kind = HANDLER_BATCH,
                              .batch = batch,
                              .batch_self = self,
                              .perspectives = true};
    if (table->count == HANDLER_COUNT_MAX)
        return error_set(err, PAWL_INVALID, "handler", "there are %d handlers already, which is the most",
                         HANDLER_COUNT_MAX);
    handler_join(table, &handler);
    return PAWL_OK;
}

static bool by_type(const struct handler *handler) { return !handler->by_topic && !handler->perspectives; }

static int match(const struct handler_table *table, pawl_str type) {
    for (size_t i = 0; i < table->count; i++) {
        const struct handler *handler = &table->handlers[i];
        if (by_type(handler) && handler->receptor == NULL && pattern_matches(handler->pattern, type))
            return (int)i;
    }
    return HANDLER_NONE;
}

static int match_receptor(const struct handler_table *table, pawl_str type, int after) {
    for (int i = after + 1; i < (int)table->count; i++) {
        const struct handler *handler = &table->handlers[i];
        if (handler->receptor != NULL && !handler->event && pattern_matches(handler->pattern, type))
            return i;
    }
    return HANDLER_NONE;
}

/* A message that carries an event belongs to one receptor. */
static int match_event(const struct handler_table *table, pawl_str name) {
    for (size_t i = 0; i < table->count; i++) {
        if (table->handlers[i].event && str_equal_cstr(name, table->handlers[i].receptor))
            return (int)i;
    }
    return HANDLER_NONE;
}

size_t handler_table_receptors(const struct handler_table *table, const struct item *item,
                               const struct handler *found[static HANDLER_RECEPTORS_MAX]) {
    pawl_str type = item->type, name;
    size_t count = 0;
    if (receptor_of_consumer(item->consumer, &name)) {
        int only = match_event(table, name);
        if (only >= 0)
            found[count++] = &table->handlers[only];
        return count;
    }
    for (int i = match_receptor(table, type, -1); i >= 0; i = match_receptor(table, type, i))
        found[count++] = &table->handlers[i];
    int alone = match(table, type);
    if (alone >= 0)
        found[count++] = &table->handlers[alone];
    return count;
}

static bool attaches(const struct handler *handler) {
    return handler->receptor != NULL || handler->kind == HANDLER_HTTP;
}

bool handler_table_attaches(const struct handler_table *table) {
    for (size_t i = 0; i < table->count; i++) {
        if (attaches(&table->handlers[i]))
            return true;
    }
    return false;
}

int handler_table_attempts(const struct handler_table *table, const struct handler *handler) {
    int most = 0;
    if (handler->receptor == NULL || handler->event)
        return handler->max_attempts;
    for (size_t i = 0; i < table->count; i++) {
        const struct handler *other = &table->handlers[i];
        if (other->receptor == NULL || other->event)
            continue;
        if (other->max_attempts == 0)
            return 0;
        if (other->max_attempts > most)
            most = other->max_attempts;
    }
    return most;
}

void handler_table_attach(struct handler_table *table, handler_batch_fn batch, void *self) {
    for (size_t i = 0; i < table->count; i++) {
        if (attaches(&table->handlers[i])) {
            table->handlers[i].batch = batch;
            table->handlers[i].batch_self = self;
        }
    }
}

void handler_table_pause(struct handler_table *table, const struct pause_rows *rows) {
    struct arena *arena = arena_create(0);
    struct pause_row *copy = arena_array(arena, rows->count, sizeof(*copy));
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

/* *name is the handler's own, which outlives the list. */
static bool paused(const struct handler_table *table, int handler, pawl_str *name) {
    const pawl_str names[] = {table->handlers[handler].pattern, str_from(table->handlers[handler].name)};
    for (size_t i = 0; i < 2 * table->pause_count; i++) {
        const struct pause_row *row = &table->pauses[i / 2];
        if (row->scope == PAUSE_HANDLER && str_equal(row->name, names[i % 2])) {
            *name = names[i % 2];
            return true;
        }
    }
    return false;
}

static bool cancelled(const struct handler_table *table, const struct item *item) {
    char id[UUID_TEXT_BYTES];
    if (item->kind == KIND_PERSPECTIVE)
        return false;
    uuid_format(item->id, id);
    for (size_t i = 0; i < table->pause_count; i++) {
        if (table->pauses[i].scope == PAUSE_MESSAGE && str_equal_cstr(table->pauses[i].name, id))
            return true;
    }
    return false;
}

void handler_table_uncancel(struct handler_table *table, pawl_uuid id) {
    char text[UUID_TEXT_BYTES];
    uuid_format(id, text);
    for (size_t i = 0; i < table->pause_count; i++) {
        if (table->pauses[i].scope == PAUSE_MESSAGE && str_equal_cstr(table->pauses[i].name, text)) {
            table->pauses[i] = table->pauses[--table->pause_count];
            return;
        }
    }
}

/* If one receptor is paused, the message waits: it is done only when all of them are. */
static bool any_paused(const struct handler_table *table, const struct item *item, int first,
                       pawl_str *name) {
    bool several = table->handlers[first].receptor != NULL && !table->handlers[first].event;
    for (int i = first; i >= 0; i = several ? match_receptor(table, item->type, i) : HANDLER_NONE) {
        if (paused(table, i, name))
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
    pawl_str name;
    if (item->kind == KIND_INBOX && receptor_of_consumer(item->consumer, &name))
        return match_event(table, name);
    int receptor = item->kind == KIND_INBOX && table->receptors > 0 ? match_receptor(table, item->type, -1)
                                                                    : HANDLER_NONE;
    return receptor >= 0 ? receptor : handler_table_match(table, item->type);
}

int handler_table_match_item(struct handler_table *table, const struct item *item, pawl_str *pause) {
    int handler = match_any(table, item);
    if (table->pause_count > 0 && cancelled(table, item))
        return HANDLER_CANCELLED;
    if (table->pause_count > 0 && handler >= 0 && any_paused(table, item, handler, pause))
        return HANDLER_PAUSED;
    return handler;
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
