/* Counts, instances, lanes, receptors and checkpoints as the views show them. */
#include "store/model/view.h"

#include <stdlib.h>

#include "base/error.h"
#include "base/str.h"
#include "base/uuid.h"
#include "store/check/place.h"
#include "store/model/jobs.h"
#include "store/model/lane.h"
#include "store/model/log.h"

static void counts_of_lane(const struct model *model, const struct lane *lane, struct kind_counts *out,
                           int64_t *in_message) {
    if (uuid_is_nil(lane->owner))
        out->lanes_free++;
    for (const struct part *part = lane->parts; part != NULL; part = part->next) {
        out->claims_active++;
        out->claims_overdue += part->lease_until_ms <= model->now_ms ? 1 : 0;
        out->leased += (int64_t)part->items.count;
        if (part->source == PLACE_MESSAGE)
            *in_message += (int64_t)part->items.count;
    }
    for (const struct stream *held = lane->holds; held != NULL; held = held->hold_next) {
        if (held->hold == HOLD_WAITING && (out->next_due_ms == 0 || held->due_ms < out->next_due_ms))
            out->next_due_ms = held->due_ms;
    }
    if (lane->unread != NULL) {
        int64_t put_ms = lane->unread->record->put_ms;
        if (out->oldest_ready_ms == 0 || put_ms < out->oldest_ready_ms)
            out->oldest_ready_ms = put_ms;
    }
}

pawl_status model_counts(struct store *store, struct counts *out, pawl_error *err) {
    (void)err;
    struct model *model = model_enter(store);
    struct counts counts = {.now_ms = model->now_ms};
    for (int kind = KIND_OUTBOX; kind <= KIND_COUNT; kind++) {
        const struct tally *tally = &model->tally[kind];
        struct kind_counts *c = &counts.kind[kind];
        int64_t in_message = 0;
        for (int i = 0; i < model->settings.lane_count; i++)
            counts_of_lane(model, &model->lanes[kind][i], c, &in_message);
        c->put = tally->put;
        c->done = tally->done;
        c->failed = tally->failed;
        c->stale = tally->stale;
        c->duplicate = tally->duplicate;
        c->redriven = tally->redriven;
        c->discarded = tally->discarded;
        c->aside = tally->aside;
        c->dead = tally->dead;
        c->ready = tally->put - tally->done - tally->aside - tally->dead - tally->discarded - in_message;
    }
    *out = counts;
    return model_leave(model, PAWL_OK);
}

static pawl_status instance_row_copy(const struct model *model, const struct instance *instance,
                                     struct arena *arena, struct instance_row *row, pawl_error *err) {
    *row = (struct instance_row){
        .id = instance->id,
        .pid = instance->pid,
        .kinds = instance->kinds,
        .state = instance->state,
        .started_ms = instance->started_ms,
        .beat_ms = instance->beat_ms,
        .lease_until_ms = instance->lease_until_ms,
        .beat_age_ms = model->now_ms - instance->beat_ms,
        .processed = instance->processed,
    };
    for (int kind = KIND_OUTBOX; kind <= KIND_COUNT; kind++) {
        row->lanes[kind] = model_lanes_owned(model, (enum store_kind)kind, instance->id);
        for (int i = 0; i < model->settings.lane_count; i++) {
            for (const struct part *part = model->lanes[kind][i].parts; part != NULL; part = part->next) {
                if (!uuid_equal(part->instance, instance->id))
                    continue;
                row->claims++;
                row->in_flight += (int)part->items.count;
            }
        }
    }
    row->jobs = model_jobs_leased(model, instance->id);
    pawl_status status = str_dup(arena, instance->service, &row->service, err);
    if (status == PAWL_OK)
        status = str_dup(arena, instance->host, &row->host, err);
    if (status == PAWL_OK)
        status = str_dup(arena, instance->metadata, &row->metadata, err);
    return status;
}

pawl_status model_instances(struct store *store, struct arena *arena, struct instance_rows *out,
                            pawl_error *err) {
    struct model *model = model_enter(store);
    pawl_status status = PAWL_OK;
    struct instance_rows list = {.count = model->instance_count};
    list.rows = arena_array(arena, list.count, sizeof *list.rows);
    if (list.rows == NULL)
        status = error_set(err, PAWL_NO_MEMORY, "instances", "no memory for %zu rows", list.count);
    for (size_t i = 0; status == PAWL_OK && i < list.count; i++)
        status = instance_row_copy(model, model->instances[i], arena, &list.rows[i], err);
    if (status == PAWL_OK)
        *out = list;
    return model_leave(model, status);
}

pawl_status model_lanes(struct store *store, enum store_kind kind, struct arena *arena, struct lane_rows *out,
                        pawl_error *err) {
    struct place at = {.op = "lanes", .err = err};
    pawl_status status = place_kind(&at, kind);
    if (status != PAWL_OK)
        return status;
    struct model *model = model_enter(store);
    struct lane_rows list = {.count = (size_t)model->settings.lane_count};
    list.rows = arena_array(arena, list.count, sizeof *list.rows);
    if (list.rows == NULL)
        return model_leave(model,
                           error_set(err, PAWL_NO_MEMORY, "lanes", "no memory for %zu rows", list.count));
    for (size_t i = 0; i < list.count; i++) {
        const struct lane *lane = &model->lanes[kind][i];
        list.rows[i] = (struct lane_row){
            .kind = kind,
            .lane = (int)i,
            .owner = lane->owner,
            .token = lane->token,
            .high = lane->high,
            .moves = lane->moves,
            .draining = lane->draining,
            .holds = lane->hold_count,
        };
        for (const struct part *part = lane->parts; part != NULL; part = part->next)
            list.rows[i].claims++;
    }
    *out = list;
    return model_leave(model, PAWL_OK);
}

pawl_status model_checkpoint_get(struct store *store, pawl_str stream, pawl_str perspective,
                                 struct arena *arena, struct checkpoint_row *out, pawl_error *err) {
    struct model *model = model_enter(store);
    const struct checkpoint *checkpoint = model_checkpoint_find(model, stream, perspective);
    if (checkpoint == NULL)
        return model_leave(model, error_set(err, PAWL_NOT_FOUND, "checkpoint_get",
                                            "perspective '%.*s' has no checkpoint for stream '%.*s'",
                                            STR_ARG(perspective), STR_ARG(stream)));
    struct checkpoint_row row = {
        .version = checkpoint->version,
        .token = checkpoint->token,
        .updated_ms = checkpoint->updated_ms,
        .status = checkpoint->status,
        .attempts = checkpoint->attempts,
    };
    pawl_status status = str_dup(arena, checkpoint->stream, &row.stream, err);
    if (status == PAWL_OK)
        status = str_dup(arena, checkpoint->perspective, &row.perspective, err);
    if (status == PAWL_OK)
        status = str_dup(arena, checkpoint->error, &row.error, err);
    if (status == PAWL_OK)
        *out = row;
    return model_leave(model, status);
}

static int receptor_compare(const void *a, const void *b) {
    const struct receptor *x = *(struct receptor *const *)a, *y = *(struct receptor *const *)b;
    return str_compare(x->name, y->name);
}

pawl_status model_receptors(struct store *store, pawl_uuid event_id, struct arena *arena,
                            struct receptor_row **rows, size_t *count, pawl_error *err) {
    struct model *model = model_enter(store);
    struct receptor **found = NULL;
    size_t found_count = 0, cap = 0;
    const struct table *table = &model->receptors;
    for (struct node *node = model_table_each(table, NULL); node != NULL;
         node = model_table_each(table, node)) {
        struct receptor *receptor = node->thing;
        if (!uuid_equal(receptor->event_id, event_id))
            continue;
        found = model_grow(found, &cap, found_count + 1, sizeof(struct receptor *));
        found[found_count++] = receptor;
    }
    if (found_count > 0)
        qsort(found, found_count, sizeof(struct receptor *), receptor_compare);
    struct receptor_row *list = arena_array(arena, found_count, sizeof *list);
    pawl_status status = PAWL_OK;
    if (list == NULL)
        status = error_set(err, PAWL_NO_MEMORY, "receptors", "no memory for %zu rows", found_count);
    for (size_t i = 0; status == PAWL_OK && i < found_count; i++) {
        list[i] = (struct receptor_row){.event_id = event_id,
                                        .status = found[i]->status,
                                        .attempts = found[i]->attempts,
                                        .updated_ms = found[i]->updated_ms};
        status = str_dup(arena, found[i]->name, &list[i].receptor, err);
        if (status == PAWL_OK)
            status = str_dup(arena, found[i]->error, &list[i].error, err);
    }
    free(found);
    if (status == PAWL_OK) {
        *rows = list;
        *count = found_count;
    }
    return model_leave(model, status);
}
