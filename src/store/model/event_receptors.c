/* Receptors on events in the model. */
#include <stdlib.h>

#include "base/error.h"
#include "base/limits.h"
#include "base/str.h"
#include "store/model/event_state.h"
#include "store/model/events.h"
#include "store/model/put.h"

static struct kept_receptor *find(const struct model *model, pawl_str name) {
    for (size_t i = 0; model->events != NULL && i < model->events->receptor_count; i++) {
        if (str_equal(model->events->receptors[i].name, name))
            return &model->events->receptors[i];
    }
    return NULL;
}

static bool same_patterns(const struct kept_receptor *kept, const struct receptor_new *in) {
    bool same = kept->pattern_count == in->pattern_count;
    for (size_t i = 0; same && i < in->pattern_count; i++)
        same = kept->patterns[i].mode == in->patterns[i].mode &&
               str_equal(kept->patterns[i].text, in->patterns[i].text);
    return same;
}

static void take_patterns(struct kept_receptor *kept, const struct receptor_new *in) {
    model_receptor_patterns_free(kept);
    kept->patterns = model_alloc(in->pattern_count * sizeof *kept->patterns);
    kept->pattern_count = in->pattern_count;
    for (size_t i = 0; i < in->pattern_count; i++)
        kept->patterns[i] = (struct event_pattern){in->patterns[i].mode, model_text(in->patterns[i].text)};
}

static int by_name(const void *a, const void *b) {
    return str_compare(((const struct kept_receptor *)a)->name, ((const struct kept_receptor *)b)->name);
}

pawl_status model_receptor_register(struct store *store, const struct receptor_new *in,
                                    enum store_answer *answer, pawl_error *err) {
    pawl_status status = check_receptor(in, err);
    if (status != PAWL_OK)
        return status;
    struct model *model = model_enter(store);
    struct event_tables *t = model_events(model);
    struct kept_receptor *kept = find(model, in->name);
    if (kept != NULL && same_patterns(kept, in)) {
        *answer = ANSWER_DUPLICATE;
    } else if (kept != NULL && !in->replace) {
        *answer = ANSWER_CONFLICT;
    } else if (kept != NULL) {
        take_patterns(kept, in);
        *answer = ANSWER_APPLIED;
    } else {
        t->receptors =
            model_grow(t->receptors, &t->receptor_cap, t->receptor_count + 1, sizeof *t->receptors);
        kept = &t->receptors[t->receptor_count++];
        *kept = (struct kept_receptor){.name = model_text(in->name),
                                       .position = in->from_start ? 0 : (int64_t)t->all_count,
                                       .registered_ms = model->now_ms};
        take_patterns(kept, in);
        qsort(t->receptors, t->receptor_count, sizeof *t->receptors, by_name);
        *answer = ANSWER_APPLIED;
    }
    return model_leave(model, PAWL_OK);
}

pawl_status model_event_receptor_remove(struct store *store, pawl_str name, enum store_answer *answer,
                                        pawl_error *err) {
    pawl_status status = check_receptor_name("receptor_remove", name, err);
    if (status != PAWL_OK)
        return status;
    struct model *model = model_enter(store);
    struct kept_receptor *kept = find(model, name);
    *answer = kept != NULL ? ANSWER_APPLIED : ANSWER_NOT_FOUND;
    if (kept != NULL) {
        struct event_tables *t = model->events;
        model_receptor_patterns_free(kept);
        model_text_free(kept->name);
        for (size_t i = (size_t)(kept - t->receptors) + 1; i < t->receptor_count; i++)
            t->receptors[i - 1] = t->receptors[i];
        t->receptor_count--;
    }
    return model_leave(model, PAWL_OK);
}

static pawl_status copy(struct arena *arena, const struct kept_receptor *kept, struct event_receptor *out,
                        pawl_error *err) {
    *out = (struct event_receptor){
        .patterns = arena_array(arena, kept->pattern_count, sizeof *out->patterns),
        .pattern_count = kept->pattern_count,
        .position = kept->position,
        .fed = kept->fed,
        .registered_ms = kept->registered_ms,
    };
    if (out->patterns == NULL)
        return error_set(err, PAWL_NO_MEMORY, "receptor_list", "no memory for the answer");
    pawl_status status = str_dup(arena, kept->name, &out->name, err);
    for (size_t i = 0; status == PAWL_OK && i < kept->pattern_count; i++) {
        out->patterns[i].mode = kept->patterns[i].mode;
        status = str_dup(arena, kept->patterns[i].text, &out->patterns[i].text, err);
    }
    return status;
}

pawl_status model_receptor_list(struct store *store, struct arena *arena, struct event_receptors *out,
                                pawl_error *err) {
    struct model *model = model_enter(store);
    const struct event_tables *t = model_events(model);
    struct event_receptors list = {.count = t->receptor_count, .head = (int64_t)t->all_count};
    list.rows = arena_array(arena, list.count, sizeof *list.rows);
    pawl_status status = list.rows != NULL
                             ? PAWL_OK
                             : error_set(err, PAWL_NO_MEMORY, "receptor_list", "no memory for the answer");
    for (size_t i = 0; status == PAWL_OK && i < list.count; i++)
        status = copy(arena, &t->receptors[i], &list.rows[i], err);
    if (status == PAWL_OK)
        *out = list;
    return model_leave(model, status);
}

static pawl_status feed_one(struct model *model, struct kept_receptor *kept, int limit, struct arena *arena,
                            struct feed_result *out, pawl_error *err) {
    const struct event_tables *t = model->events;
    int64_t left = (int64_t)t->all_count - kept->position, count = left < limit ? left : limit;
    struct message_new *messages = arena_array(arena, (size_t)count, sizeof *messages);
    struct messages_put put = {.kind = KIND_INBOX, .messages = messages};
    struct put_plan plan = {0};
    pawl_status status = messages != NULL
                             ? receptor_consumer(arena, kept->name, &put.consumer, err)
                             : error_set(err, PAWL_NO_MEMORY, "receptors_feed", "no memory for messages");
    for (int64_t i = 0; status == PAWL_OK && i < count; i++) {
        const struct stored_event *event = &t->all[kept->position + i]->event;
        bool wants = false;
        status = receptor_wants(kept->patterns, kept->pattern_count, event->type, &wants, err);
        if (status == PAWL_OK && wants)
            status = receptor_message(arena, event, kept->name, &messages[put.count++], err);
    }
    if (status == PAWL_OK)
        status = model_put_prepare(&put, arena, &plan, err);
    if (status != PAWL_OK)
        return status;
    model_put_apply(model, &put, false, &plan);
    for (size_t i = 0; i < put.count; i++) {
        kept->fed += plan.result.answers[i] == ANSWER_APPLIED;
        out->fed += plan.result.answers[i] == ANSWER_APPLIED;
    }
    kept->position += count;
    out->events += count;
    out->more = out->more || left > count;
    return PAWL_OK;
}

pawl_status model_receptors_feed(struct store *store, const struct receptors_feed *in,
                                 struct feed_result *out, pawl_error *err) {
    struct feed_result result = {0};
    pawl_status status = check_feed(in, err);
    struct arena *arena = arena_create(0);
    if (status == PAWL_OK && arena == NULL)
        status = error_set(err, PAWL_NO_MEMORY, "receptors_feed", "no memory for messages");
    if (status == PAWL_OK) {
        struct model *model = model_enter(store);
        for (size_t i = 0; status == PAWL_OK && i < in->count; i++) {
            struct kept_receptor *kept = find(model, in->names[i]);
            result.known += kept != NULL;
            if (kept != NULL)
                status = feed_one(model, kept, in->limit, arena, &result, err);
        }
        status = model_leave(model, status);
    }
    if (status == PAWL_OK)
        *out = result;
    arena_free(arena);
    return status;
}
