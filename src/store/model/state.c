/* The model as a whole: opening, closing, and the operations' frame; tokens, claim parts and request keys. */
#include "store/model/state.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/time/clock.h"
#include "base/uuid.h"

struct model *model_enter(struct store *store) {
    struct model *model = (struct model *)store;
    int failed = pthread_mutex_lock(&model->lock);
    assert(failed == 0);
    (void)failed;
    model->now_ms = model->settings.test_now_ms != 0 ? model->settings.test_now_ms : clock_boot_ms();
    return model;
}

pawl_status model_leave(struct model *model, pawl_status status) {
    int failed = pthread_mutex_unlock(&model->lock);
    assert(failed == 0);
    (void)failed;
    return status;
}

void model_epoch_set(struct model *model, int64_t epoch, enum epoch_cause cause) {
    model->settings.epoch = epoch;
    model->settings.epoch_ms = model->now_ms;
    model->settings.epoch_cause = (int)cause;
}

int64_t model_token_next(struct model *model) { return model->settings.epoch << 40 | ++model->counter; }

struct lane *model_lane_at(struct model *model, enum store_kind kind, int number) {
    assert(number >= 0 && number < model->settings.lane_count);
    return &model->lanes[kind][number];
}

/* Linked behind the parts of the lane with a lower (token, number). */
static void part_link(struct lane *lane, struct part *part) {
    struct part *before = NULL;
    for (struct part *at = lane->parts; at != NULL; at = at->next) {
        if (at->token > part->token || (at->token == part->token && at->number > part->number))
            break;
        before = at;
    }
    part->prev = before;
    part->next = before != NULL ? before->next : lane->parts;
    *(part->prev != NULL ? &part->prev->next : &lane->parts) = part;
    if (part->next != NULL)
        part->next->prev = part;
}

struct part *model_part_new(struct model *model, const struct part *like) {
    struct part *part = model_alloc(sizeof *part);
    *part = *like;
    part->items = (struct list){NULL, NULL, 0};
    part->done = NULL;
    part->done_count = part->done_cap = part->named = 0;
    part->state = CLAIM_ACTIVE;
    model_table_add(&model->tokens, &part->by_token, model_hash_number(part->token), part);
    part_link(model_lane_at(model, part->kind, part->lane), part);
    return part;
}

void model_part_add(struct part *part, struct record *record) {
    assert(record->part == NULL && record->place == part->source);
    record->part = part;
    model_list_insert(&part->items, &record->part_link, record);
    model_list_insert(&record->home->flying, &record->flight_link, record);
}

void model_part_leave(struct model *model, struct record *record, bool reported) {
    struct part *part = record->part;
    if (reported && !part->forgot) {
        part->done = model_grow(part->done, &part->done_cap, part->done_count + 1, sizeof *part->done);
        part->done[part->done_count++] = record->id;
    }
    part->pristine = false;
    record->part = NULL;
    model_list_remove(&part->items, &record->part_link);
    model_list_remove(&record->home->flying, &record->flight_link);
    if (part->items.first == NULL)
        model_part_end(model, part, CLAIM_DONE);
}

bool model_part_has_done(const struct part *part, pawl_uuid id) {
    if (part->forgot)
        return true;
    for (size_t i = 0; i < part->done_count; i++) {
        if (uuid_equal(part->done[i], id))
            return true;
    }
    return false;
}

void model_part_end(struct model *model, struct part *part, enum claim_state state) {
    if (part->state == CLAIM_ACTIVE) {
        struct lane *lane = model_lane_at(model, part->kind, part->lane);
        *(part->prev != NULL ? &part->prev->next : &lane->parts) = part->next;
        if (part->next != NULL)
            part->next->prev = part->prev;
        part->prev = part->next = NULL;
    }
    part->state = state;
}

void model_part_free(struct model *model, struct part *part) {
    model_table_remove(&model->tokens, &part->by_token);
    free(part->done);
    free(part);
}

struct request *model_request_find(const struct model *model, pawl_uuid key) {
    if (uuid_is_nil(key))
        return NULL;
    for (struct node *node = model_table_first(&model->requests, model_hash_uuid(key)); node != NULL;
         node = model_table_next(node)) {
        struct request *request = node->thing;
        if (uuid_equal(request->key, key))
            return request;
    }
    return NULL;
}

void model_request_add(struct model *model, pawl_uuid key) {
    if (uuid_is_nil(key))
        return;
    struct request *request = model_alloc(sizeof *request);
    request->key = key;
    request->made_ms = model->now_ms;
    model_table_add(&model->requests, &request->by_key, model_hash_uuid(key), request);
}
