/* Registering, changing, switching and looking at perspectives in the model. */
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/limits.h"
#include "base/str.h"
#include "store/model/event_state.h"
#include "store/model/events.h"
#include "store/model/log.h"

static pawl_status not_registered(const char *op, pawl_str key, pawl_error *err) {
    return error_set(err, PAWL_NOT_FOUND, op, "perspective \"%.*s\" is not registered", STR_ARG(key));
}

/* By key or, for a name, the live version. */
static struct kept_perspective *find_live(const struct model *model, pawl_str key) {
    struct kept_perspective *found = model_perspective_find(model, key);
    if (found != NULL && found->state != PERSPECTIVE_REMOVED)
        return found;
    for (size_t i = 0; model->events != NULL && i < model->events->perspective_count; i++) {
        found = model->events->perspectives[i];
        if (found->state == PERSPECTIVE_LIVE && str_equal(found->name, key))
            return found;
    }
    return NULL;
}

static bool same_text(pawl_str a, pawl_str b) { return str_absent(a) == str_absent(b) && str_equal(a, b); }

static bool same_definition(const struct kept_perspective *kept, const struct perspective_new *in) {
    bool same = kept->run == in->run && same_text(kept->target, in->target) &&
                same_text(kept->clear, in->clear) &&
                kept->batch == (in->batch != 0 ? in->batch : PAWL_PERSPECTIVE_BATCH_DEFAULT) &&
                kept->policy == (in->policy != POLICY_DEFAULT ? in->policy : POLICY_BLOCK) &&
                (in->max_attempts == 0 || kept->max_attempts == in->max_attempts) &&
                kept->pattern_count == in->pattern_count;
    for (size_t i = 0; same && i < in->pattern_count; i++)
        same = kept->patterns[i].mode == in->patterns[i].mode &&
               str_equal(kept->patterns[i].text, in->patterns[i].text);
    return same;
}

static int perspective_compare(const void *a, const void *b) {
    const struct kept_perspective *x = *(struct kept_perspective *const *)a,
                                  *y = *(struct kept_perspective *const *)b;
    int order = str_compare(x->name, y->name);
    return order != 0 ? order : (x->version > y->version) - (x->version < y->version);
}

static struct kept_perspective *perspective_new(struct model *model, const struct perspective_new *in,
                                                pawl_str key) {
    struct event_tables *t = model_events(model);
    struct kept_perspective *made = model_alloc(sizeof *made);
    made->key = model_text(key);
    made->name = model_text(in->name);
    made->target = model_text(in->target);
    made->clear = model_text(in->clear);
    made->version = in->version;
    made->run = in->run;
    made->batch = in->batch != 0 ? in->batch : PAWL_PERSPECTIVE_BATCH_DEFAULT;
    made->max_attempts = in->max_attempts != 0 ? in->max_attempts : model->settings.max_attempts;
    made->policy = in->policy != POLICY_DEFAULT ? in->policy : POLICY_BLOCK;
    made->registered_ms = model->now_ms;
    made->patterns = model_alloc(in->pattern_count * sizeof *made->patterns);
    made->pattern_count = in->pattern_count;
    for (size_t i = 0; i < in->pattern_count; i++)
        made->patterns[i] = (struct event_pattern){in->patterns[i].mode, model_text(in->patterns[i].text)};
    t->perspectives =
        model_grow(t->perspectives, &t->perspective_cap, t->perspective_count + 1, sizeof *t->perspectives);
    t->perspectives[t->perspective_count++] = made;
    qsort(t->perspectives, t->perspective_count, sizeof *t->perspectives, perspective_compare);
    return made;
}

static bool has_live(const struct model *model, pawl_str name) {
    for (size_t i = 0; model->events != NULL && i < model->events->perspective_count; i++) {
        const struct kept_perspective *p = model->events->perspectives[i];
        if (p->state == PERSPECTIVE_LIVE && str_equal(p->name, name))
            return true;
    }
    return false;
}

static pawl_status resolve(struct model *model, struct kept_perspective *perspective, pawl_error *err) {
    const struct event_tables *t = model_events(model);
    pawl_status status = PAWL_OK;
    for (size_t type = 0; status == PAWL_OK && type < t->type_count; type++) {
        bool maps = false;
        for (size_t p = 0; status == PAWL_OK && !maps && p < perspective->pattern_count; p++)
            status = event_pattern_matches(&perspective->patterns[p], t->types[type].name, &maps, err);
        model_perspective_map(model, perspective, type, maps);
    }
    return status;
}

pawl_status model_perspective_register(struct store *store, const struct perspective_new *in,
                                       struct perspective_registered *out, pawl_error *err) {
    pawl_status status = check_perspective(in, err);
    struct arena *arena = arena_create(0);
    pawl_str key;
    if (status == PAWL_OK && arena == NULL)
        status = error_set(err, PAWL_NO_MEMORY, "perspective_register", "no memory for a name");
    if (status == PAWL_OK)
        status = perspective_key(arena, in->name, in->version, &key, err);
    if (status != PAWL_OK) {
        arena_free(arena);
        return status;
    }
    struct model *model = model_enter(store);
    struct kept_perspective *kept = model_perspective_find(model, key);
    bool same = kept != NULL && same_definition(kept, in);
    if (kept != NULL && (model_perspective_fed(kept) || !same)) {
        *out = (struct perspective_registered){.answer = same ? ANSWER_DUPLICATE : ANSWER_CONFLICT,
                                               .state = kept->state,
                                               .backfilled = kept->backfilled};
    } else {
        enum perspective_state state = has_live(model, in->name) ? PERSPECTIVE_FILLING : PERSPECTIVE_LIVE;
        if (kept == NULL)
            kept = perspective_new(model, in, key);
        kept->state = state;
        kept->paused = kept->backfilled = false;
        model_text_free(kept->backfill_after);
        kept->backfill_after = (pawl_str){NULL, 0};
        kept->position = 0;
        status = resolve(model, kept, err);
        *out = (struct perspective_registered){.answer = ANSWER_APPLIED, .state = kept->state};
    }
    arena_free(arena);
    return model_leave(model, status);
}

static int stream_compare(const void *a, const void *b) {
    const struct kept_stream *x = *(struct kept_stream *const *)a, *y = *(struct kept_stream *const *)b;
    return str_compare(x->name, y->name);
}

static void backfill(struct model *model, struct kept_perspective *perspective, int streams_max) {
    struct event_tables *t = model->events;
    struct kept_stream **list = model_alloc((t->streams.count + 1) * sizeof *list);
    size_t count = 0;
    for (struct node *node = model_table_each(&t->streams, NULL); node != NULL;
         node = model_table_each(&t->streams, node)) {
        struct kept_stream *stream = node->thing;
        if (str_absent(perspective->backfill_after) ||
            str_compare(stream->name, perspective->backfill_after) > 0)
            list[count++] = stream;
    }
    if (count > 0)
        qsort(list, count, sizeof *list, stream_compare);
    size_t taken = count < (size_t)streams_max ? count : (size_t)streams_max;
    for (size_t i = 0; i < taken; i++) {
        if (model_events_matching(model, perspective, list[i]->name, 0, list[i]->version) == 0 ||
            model_checkpoint_find(model, list[i]->name, perspective->key) != NULL)
            continue;
        struct checkpoint *made = model_checkpoint_make(model, list[i]->name, perspective->key);
        made->due_ms = model->now_ms;
        made->replay_to = list[i]->version;
    }
    if (taken > 0) {
        model_text_free(perspective->backfill_after);
        perspective->backfill_after = model_text(list[taken - 1]->name);
    }
    perspective->backfilled = taken < (size_t)streams_max;
    free(list);
}

pawl_status model_perspective_backfill(struct store *store, pawl_str perspective, int streams_max, bool *done,
                                       pawl_error *err) {
    pawl_status status = check_key("perspective_backfill", perspective, err);
    if (status == PAWL_OK)
        status = check_limit("perspective_backfill", streams_max, err);
    if (status != PAWL_OK)
        return status;
    struct model *model = model_enter(store);
    struct kept_perspective *kept = model_perspective_find(model, perspective);
    if (kept == NULL || kept->state == PERSPECTIVE_REMOVED)
        return model_leave(model, not_registered("perspective_backfill", perspective, err));
    if (!kept->backfilled && kept->state != PERSPECTIVE_RETIRED) {
        backfill(model, kept, streams_max);
        *done = kept->backfilled;
    } else {
        *done = true;
    }
    return model_leave(model, PAWL_OK);
}

static void unmap(struct kept_perspective *perspective) {
    if (perspective->maps_cap > 0)
        memset(perspective->maps, 0, perspective->maps_cap * sizeof *perspective->maps);
}

pawl_status model_perspective_change(struct store *store, pawl_str perspective,
                                     enum perspective_action action, enum store_answer *answer,
                                     pawl_error *err) {
    pawl_status status = check_key("perspective_change", perspective, err);
    if (status != PAWL_OK)
        return status;
    struct model *model = model_enter(store);
    struct kept_perspective *kept = model_perspective_find(model, perspective);
    bool removed = kept != NULL && kept->state == PERSPECTIVE_REMOVED;
    *answer = ANSWER_APPLIED;
    if (kept == NULL || (removed && action != PERSPECTIVE_REMOVE)) {
        *answer = ANSWER_NOT_FOUND;
    } else if (action == PERSPECTIVE_REMOVE) {
        if (removed)
            *answer = ANSWER_DUPLICATE;
        kept->state = PERSPECTIVE_REMOVED;
        kept->paused = false;
        unmap(kept);
    } else if (kept->paused == (action == PERSPECTIVE_PAUSE)) {
        *answer = ANSWER_DUPLICATE;
    } else {
        kept->paused = action == PERSPECTIVE_PAUSE;
    }
    return model_leave(model, PAWL_OK);
}

static bool named(const struct perspective_reset *in, pawl_str stream) {
    bool found = in->stream_count == 0;
    for (size_t i = 0; !found && i < in->stream_count; i++)
        found = str_equal(in->streams[i], stream);
    return found;
}

pawl_status model_perspective_reset(struct store *store, const struct perspective_reset *in, int64_t *count,
                                    pawl_error *err) {
    pawl_status status = check_reset(in, err);
    if (status != PAWL_OK)
        return status;
    struct model *model = model_enter(store);
    struct kept_perspective *kept = model_perspective_find(model, in->perspective);
    if (kept == NULL || kept->state == PERSPECTIVE_REMOVED)
        return model_leave(model, not_registered("perspective_reset", in->perspective, err));
    status = check_clear(in, kept->clear, err);
    if (status != PAWL_OK)
        return model_leave(model, status);
    int64_t token = in->mode == RESET_REBUILD ? model_token_next(model) : 0;
    size_t total = 0;
    struct checkpoint **list = model_checkpoints_sorted(model, &total);
    *count = 0;
    for (size_t i = 0; i < total; i++) {
        struct checkpoint *c = list[i];
        if (!str_equal(c->perspective, in->perspective) || !named(in, c->stream))
            continue;
        if (in->mode == RESET_FAILED) {
            if (c->status != CHECKPOINT_FAILED)
                continue;
            model_checkpoint_clear(model, c);
        } else {
            int64_t head = model_stream_version(model, c->stream);
            if (head == 0)
                continue;
            kept->applied -= model_events_matching(model, kept, c->stream, 0, c->version);
            model_checkpoint_clear(model, c);
            model_checkpoint_free_lease(c);
            c->version = 0;
            c->token = token;
            c->replay_to = head;
        }
        (*count)++;
    }
    if (in->mode == RESET_REBUILD)
        kept->position = 0;
    free(list);
    return model_leave(model, PAWL_OK);
}

static int64_t behind(const struct model *model, pawl_str key) {
    int64_t count = 0;
    for (struct node *node = model_table_each(&model->checkpoints, NULL); node != NULL;
         node = model_table_each(&model->checkpoints, node)) {
        const struct checkpoint *c = node->thing;
        if (str_equal(c->perspective, key) && c->version < model_stream_version(model, c->stream))
            count++;
    }
    return count;
}

pawl_status model_sql_check(struct store *store, pawl_str sql, bool writes, pawl_error *err) {
    (void)store;
    (void)sql;
    (void)writes;
    (void)err;
    return PAWL_OK;
}

pawl_status model_perspective_switch(struct store *store, const struct perspective_switch *in,
                                     struct arena *arena, struct switch_result *out, pawl_error *err) {
    pawl_str key;
    pawl_status status = check_switch(in, err);
    if (status == PAWL_OK && !str_absent(in->digest_old))
        status = error_set(err, PAWL_CONFLICT, "perspective_switch",
                           "this store runs no SQL, so it compares no digests");
    if (status == PAWL_OK)
        status = perspective_key(arena, in->name, in->version, &key, err);
    if (status != PAWL_OK)
        return status;
    struct model *model = model_enter(store);
    struct kept_perspective *kept = model_perspective_find(model, key);
    if (!model_perspective_fed(kept))
        return model_leave(model, error_set(err, PAWL_NOT_FOUND, "perspective_switch",
                                            "perspective \"%.*s\" is not registered, or not being filled",
                                            STR_ARG(key)));
    struct switch_result result = {.answer = ANSWER_DUPLICATE};
    if (kept->state != PERSPECTIVE_LIVE) {
        result.behind = behind(model, key);
        result.answer = result.behind == 0 && kept->backfilled ? ANSWER_APPLIED : ANSWER_CONFLICT;
    }
    for (size_t i = 0; result.answer == ANSWER_APPLIED && i < model->events->perspective_count; i++) {
        struct kept_perspective *old = model->events->perspectives[i];
        if (old->state == PERSPECTIVE_LIVE && str_equal(old->name, in->name)) {
            old->state = PERSPECTIVE_RETIRED;
            unmap(old);
        }
    }
    if (result.answer == ANSWER_APPLIED)
        kept->state = PERSPECTIVE_LIVE;
    *out = result;
    return model_leave(model, PAWL_OK);
}

/* Moves a position up to which everything is applied, through at most look events; the first event that is
 * not applied, or NULL. */
static const struct kept_event *walk(struct model *model, const struct kept_perspective *perspective,
                                     int64_t look, int64_t *position) {
    const struct event_tables *t = model_events(model);
    for (; *position < (int64_t)t->all_count && look > 0; ++*position, look--) {
        const struct kept_event *kept = t->all[*position];
        const struct checkpoint *c = model_checkpoint_find(model, kept->event.stream, perspective->key);
        if (model_perspective_maps(perspective, kept->type) &&
            kept->event.version > (c != NULL ? c->version : 0))
            return kept;
    }
    return NULL;
}

static void count_rows(struct model *model, struct perspective_row *row) {
    for (struct node *node = model_table_each(&model->checkpoints, NULL); node != NULL;
         node = model_table_each(&model->checkpoints, node)) {
        const struct checkpoint *c = node->thing;
        if (!str_equal(c->perspective, row->key))
            continue;
        row->checkpoints++;
        row->pending += c->status == CHECKPOINT_PENDING ? 1 : 0;
        row->processing += c->status == CHECKPOINT_PROCESSING ? 1 : 0;
        row->completed += c->status == CHECKPOINT_COMPLETED ? 1 : 0;
        row->failed += c->status == CHECKPOINT_FAILED ? 1 : 0;
        row->stopped += c->stopped ? 1 : 0;
    }
}

static pawl_status row_of(struct model *model, struct kept_perspective *kept, int64_t look,
                          struct arena *arena, struct perspective_row *row, pawl_error *err) {
    *row = (struct perspective_row){.key = kept->key,
                                    .name = kept->name,
                                    .version = kept->version,
                                    .state = kept->state,
                                    .paused = kept->paused,
                                    .backfilled = kept->backfilled,
                                    .pattern_count = kept->pattern_count,
                                    .run = kept->run,
                                    .target = kept->target,
                                    .clear = kept->clear,
                                    .batch = kept->batch,
                                    .max_attempts = kept->max_attempts,
                                    .policy = kept->policy,
                                    .registered_ms = kept->registered_ms,
                                    .applied = kept->applied,
                                    .lag_whole = true};
    count_rows(model, row);
    for (size_t i = 0; i < model->events->type_count; i++)
        row->matched += model_perspective_maps(kept, i) ? model->events->types[i].events : 0;
    row->lag_events = row->matched > row->applied ? row->matched - row->applied : 0; /* retired: no types */
    if (model_perspective_fed(kept)) {
        const struct event_tables *t = model_events(model);
        row->position = kept->position;
        const struct kept_event *first = walk(model, kept, look, &row->position);
        row->lag_whole = first != NULL || row->position == (int64_t)t->all_count;
        if (!row->lag_whole) {
            kept->position = row->position;
            first = t->all[kept->position - 1];
        }
        row->lag_ms = perspective_lag_ms(row, first != NULL ? model->now_ms - first->event.appended_ms : 0);
    }
    row->patterns = arena_array(arena, kept->pattern_count, sizeof *row->patterns);
    if (row->patterns == NULL)
        return error_set(err, PAWL_NO_MEMORY, "perspective_list", "no memory for the answer");
    pawl_str *const texts[] = {&row->key, &row->name, &row->target, &row->clear};
    pawl_status status = PAWL_OK;
    for (size_t i = 0; status == PAWL_OK && i < sizeof texts / sizeof texts[0]; i++)
        status = str_dup(arena, *texts[i], texts[i], err);
    for (size_t i = 0; status == PAWL_OK && i < kept->pattern_count; i++) {
        row->patterns[i].mode = kept->patterns[i].mode;
        status = str_dup(arena, kept->patterns[i].text, &row->patterns[i].text, err);
    }
    return status;
}

static bool is_listed(const struct kept_perspective *kept, pawl_str name) {
    return str_absent(name) ? kept->state != PERSPECTIVE_REMOVED : str_equal(kept->name, name);
}

pawl_status model_perspective_list(struct store *store, pawl_str name, struct arena *arena,
                                   struct perspective_rows *out, pawl_error *err) {
    struct model *model = model_enter(store);
    const struct event_tables *t = model_events(model);
    size_t fed = 0;
    for (size_t i = 0; i < t->perspective_count; i++)
        fed += is_listed(t->perspectives[i], name) && model_perspective_fed(t->perspectives[i]);
    struct perspective_rows list = {.rows = arena_array(arena, t->perspective_count, sizeof *list.rows)};
    pawl_status status = PAWL_OK;
    if (list.rows == NULL)
        status = error_set(err, PAWL_NO_MEMORY, "perspective_list", "no memory for the answer");
    for (size_t i = 0; status == PAWL_OK && i < t->perspective_count; i++) {
        if (is_listed(t->perspectives[i], name))
            status = row_of(model, t->perspectives[i], perspective_look(fed), arena, &list.rows[list.count++],
                            err);
    }
    if (status == PAWL_OK)
        *out = list;
    return model_leave(model, status);
}

pawl_status model_perspective_defined(struct store *store, struct arena *arena, struct perspective_rows *out,
                                      pawl_error *err) {
    struct perspective_rows list = {0};
    pawl_status status = model_perspective_list(store, (pawl_str){NULL, 0}, arena, &list, err);
    for (size_t i = 0; status == PAWL_OK && i < list.count; i++) {
        struct perspective_row *row = &list.rows[i];
        row->checkpoints = row->pending = row->processing = row->completed = row->failed = row->stopped = 0;
        row->matched = row->applied = row->lag_events = row->lag_ms = row->position = 0;
    }
    if (status == PAWL_OK)
        *out = list;
    return status;
}

pawl_status model_perspective_reached(struct store *store, const struct perspective_target *in,
                                      struct arena *arena, struct perspective_reached *out, pawl_error *err) {
    pawl_status status = check_target(in, err);
    if (status != PAWL_OK)
        return status;
    struct model *model = model_enter(store);
    struct kept_perspective *kept = find_live(model, in->perspective);
    if (kept == NULL)
        return model_leave(model, not_registered("perspective_reached", in->perspective, err));
    struct perspective_reached result = {0};
    const struct checkpoint *c = NULL;
    if (str_absent(in->stream)) {
        const struct kept_event *first = walk(model, kept, INT64_MAX, &kept->position);
        c = first != NULL ? model_checkpoint_find(model, first->event.stream, kept->key) : NULL;
        result.at = kept->position;
        result.reached = result.at >= in->position;
    } else {
        c = model_checkpoint_find(model, in->stream, kept->key);
        result.at = c != NULL ? c->version : 0;
        result.reached = result.at >= in->version ||
                         (model_stream_version(model, in->stream) >= in->version &&
                          model_events_matching(model, kept, in->stream, result.at, in->version) == 0);
    }
    result.failed = !result.reached && c != NULL && c->status == CHECKPOINT_FAILED;
    if (result.failed)
        status = str_dup(arena, c->error, &result.error, err);
    if (status == PAWL_OK)
        *out = result;
    return model_leave(model, status);
}
