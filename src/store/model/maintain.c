/* Housekeeping and settings. */
#include "store/model/maintain.h"

#include <stdlib.h>

#include "base/limits.h"
#include "base/uuid.h"
#include "store/model/aside.h"
#include "store/model/instance.h"
#include "store/model/log.h"
#include "store/model/put.h"

/* How long an ended claim and a request key can still be asked about. */
#define MEMORY_MS INT64_C(3600000)

static int64_t instances_remove(struct model *model, const struct maintain_in *in) {
    int64_t removed = 0;
    for (size_t i = model->instance_count; i-- > 0 && removed < in->rows_max;) {
        struct instance *instance = model->instances[i];
        if (instance->state != INSTANCE_EVICTED ||
            instance->beat_ms >= model->now_ms - model->settings.stale_ms ||
            uuid_equal(instance->id, in->caller))
            continue;
        model_instance_bury(model, instance);
        removed++;
    }
    return removed;
}

/* Collects up to rows_max things of a table for which old() is true; free() the array. */
static void **table_collect(const struct table *table, int64_t rows_max,
                            bool (*old)(const void *thing, int64_t before), int64_t before_ms,
                            size_t *count) {
    void **things = NULL;
    size_t cap = 0;
    *count = 0;
    for (struct node *node = model_table_each(table, NULL); node != NULL;
         node = model_table_each(table, node)) {
        if ((int64_t)*count >= rows_max)
            break;
        if (!old(node->thing, before_ms))
            continue;
        things = model_grow(things, &cap, *count + 1, sizeof(void *));
        things[(*count)++] = node->thing;
    }
    return things;
}

static bool tombstone_old(const void *thing, int64_t before_ms) {
    return ((const struct tombstone *)thing)->made_ms < before_ms;
}

static bool dedupe_old(const void *thing, int64_t before_ms) {
    return ((const struct dedupe *)thing)->seen_ms < before_ms;
}

static bool request_old(const void *thing, int64_t before_ms) {
    return ((const struct request *)thing)->made_ms < before_ms;
}

static bool receptor_old(const void *thing, int64_t before_ms) {
    return ((const struct receptor *)thing)->updated_ms < before_ms;
}

static bool part_old(const void *thing, int64_t before_ms) {
    const struct part *part = thing;
    return part->state != CLAIM_ACTIVE && part->lease_until_ms < before_ms;
}

static bool history_old(const void *thing, int64_t before_ms) {
    const struct record *record = thing;
    return record->place == PLACE_HISTORY && record->ended_ms < before_ms;
}

/* Whether a message with this id has not ended, or is a dead letter. */
static bool message_open(const struct model *model, pawl_uuid id) {
    for (struct node *node = model_table_first(&model->ids, model_hash_uuid(id)); node != NULL;
         node = model_table_next(node)) {
        const struct record *record = node->thing;
        if (uuid_equal(record->id, id) && record->place != PLACE_HISTORY)
            return true;
    }
    return false;
}

/* What a message that is still there was given must not run again: its notes stay. */
static int64_t receptors_sweep(struct model *model, int64_t rows_max) {
    int64_t history_ms = model->settings.history_ms > 0 ? model->settings.history_ms
                                                        : PAWL_HISTORY_MS_DEFAULT;
    int64_t keep_ms = history_ms > model->settings.dedupe_ms ? history_ms : model->settings.dedupe_ms;
    size_t count = 0;
    int64_t removed = 0;
    void **things =
        table_collect(&model->receptors, INT64_MAX, receptor_old, model->now_ms - keep_ms, &count);
    for (size_t i = 0; i < count && removed < rows_max; i++) {
        struct receptor *receptor = things[i];
        if (message_open(model, receptor->event_id))
            continue;
        model_receptor_remove(model, receptor);
        removed++;
    }
    free(things);
    return removed;
}

static void tables_sweep(struct model *model, int64_t rows_max, struct maintain_result *out) {
    size_t count = 0;
    void **things =
        table_collect(&model->tombstones, rows_max, tombstone_old, model->now_ms - PAWL_STALE_MS_MAX, &count);
    for (size_t i = 0; i < count; i++) {
        model_table_remove(&model->tombstones, &((struct tombstone *)things[i])->by_id);
        free(things[i]);
    }
    free(things);
    out->tombstones_removed = (int64_t)count;

    things = table_collect(&model->dedupe, rows_max, dedupe_old, model->now_ms - model->settings.dedupe_ms,
                           &count);
    for (size_t i = 0; i < count; i++)
        model_dedupe_remove(model, things[i]);
    free(things);
    out->dedupe_removed = (int64_t)count;

    things = table_collect(&model->requests, rows_max, request_old, model->now_ms - MEMORY_MS, &count);
    for (size_t i = 0; i < count; i++) {
        model_table_remove(&model->requests, &((struct request *)things[i])->by_key);
        free(things[i]);
    }
    free(things);
    out->requests_removed = (int64_t)count;

    things = table_collect(&model->tokens, rows_max, part_old, model->now_ms - MEMORY_MS, &count);
    for (size_t i = 0; i < count; i++)
        model_part_free(model, things[i]);
    free(things);
    out->claims_removed = (int64_t)count;

    int64_t keep_ms = model->settings.history_ms > 0 ? model->settings.history_ms : PAWL_HISTORY_MS_DEFAULT;
    things = table_collect(&model->seqs, rows_max, history_old, model->now_ms - keep_ms, &count);
    for (size_t i = 0; i < count; i++)
        model_record_remove(model, things[i]);
    free(things);
    out->history_removed = (int64_t)count;
}

pawl_status model_maintain(struct store *store, const struct maintain_in *in, struct maintain_result *out,
                           pawl_error *err) {
    pawl_status status = check_maintain(in, err);
    if (status != PAWL_OK)
        return status;
    struct model *model = model_enter(store);
    struct maintain_result result = {0};
    for (int kind = KIND_OUTBOX; kind <= KIND_COUNT; kind++)
        result.claims_expired += model_claims_expire(model, (enum store_kind)kind, in->caller);
    result.instances_removed = instances_remove(model, in);
    tables_sweep(model, in->rows_max, &result);
    result.receptors_removed = receptors_sweep(model, in->rows_max);
    *out = result;
    return model_leave(model, PAWL_OK);
}

pawl_status model_history_remove(struct store *store, const struct dead_ref *refs, size_t count,
                                 int64_t *removed, pawl_error *err) {
    pawl_status status = check_dead_refs("history_remove", refs, count, err);
    if (status != PAWL_OK)
        return status;
    struct model *model = model_enter(store);
    int64_t ended = 0;
    for (size_t i = 0; i < count; i++) {
        struct record *record = model_record_find_seq(model, refs[i].kind, refs[i].seq);
        if (record == NULL || record->place != PLACE_HISTORY)
            continue;
        model_record_remove(model, record);
        ended++;
    }
    *removed = ended;
    return model_leave(model, PAWL_OK);
}

pawl_status model_settings_change(struct store *store, const struct settings_change *in, pawl_error *err) {
    pawl_status status = check_settings(in, err);
    if (status != PAWL_OK)
        return status;
    struct model *model = model_enter(store);
    struct settings *settings = &model->settings;
    const struct {
        int64_t value;
        int64_t *to;
    } rows[] = {
        {in->instance_lease_ms, &settings->instance_lease_ms},
        {in->stale_ms, &settings->stale_ms},
        {in->dedupe_ms, &settings->dedupe_ms},
        {in->history_ms, &settings->history_ms},
        {in->test_now_ms, &settings->test_now_ms},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        if (rows[i].value != -1)
            *rows[i].to = rows[i].value;
    }
    if (in->max_attempts != -1)
        settings->max_attempts = in->max_attempts;
    if (in->dead_policy != -1)
        settings->dead_policy = in->dead_policy;
    return model_leave(model, PAWL_OK);
}

pawl_status model_settings_read(struct store *store, struct settings *out, pawl_error *err) {
    (void)err;
    struct model *model = model_enter(store);
    *out = model->settings;
    return model_leave(model, PAWL_OK);
}

pawl_status model_epoch_raise(struct store *store, int64_t *epoch, pawl_error *err) {
    (void)err;
    struct model *model = model_enter(store);
    model_epoch_set(model, model->settings.epoch + 1, EPOCH_ASKED);
    *epoch = model->settings.epoch;
    return model_leave(model, PAWL_OK);
}

pawl_status model_clock_read(struct store *store, int64_t *now_ms, pawl_error *err) {
    (void)err;
    struct model *model = model_enter(store);
    *now_ms = model->now_ms;
    return model_leave(model, PAWL_OK);
}
