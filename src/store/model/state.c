/* The model as a whole: opening, closing, and the operations' frame; tokens, claim parts and request keys. */
#include "store/model/state.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
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

int64_t token_next(struct model *model) { return model->settings.epoch << 40 | ++model->counter; }

struct lane *lane_at(struct model *model, enum store_kind kind, int number) {
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

struct part *part_new(struct model *model, const struct part *like) {
    struct part *part = model_alloc(sizeof *part);
    *part = *like;
    part->items = (struct list){NULL, NULL, 0};
    part->done = NULL;
    part->done_count = part->done_cap = part->named = 0;
    part->state = CLAIM_ACTIVE;
    table_add(&model->tokens, &part->by_token, hash_number(part->token), part);
    part_link(lane_at(model, part->kind, part->lane), part);
    return part;
}

void part_add(struct part *part, struct record *record) {
    assert(record->part == NULL && record->place == part->source);
    record->part = part;
    list_insert(&part->items, &record->part_link, record);
    list_insert(&record->home->flying, &record->flight_link, record);
}

void part_leave(struct model *model, struct record *record, bool reported) {
    struct part *part = record->part;
    if (reported && !part->forgot) {
        part->done = model_grow(part->done, &part->done_cap, part->done_count + 1, sizeof *part->done);
        part->done[part->done_count++] = record->id;
    }
    part->pristine = false;
    record->part = NULL;
    list_remove(&part->items, &record->part_link);
    list_remove(&record->home->flying, &record->flight_link);
    if (part->items.first == NULL)
        part_end(model, part, CLAIM_DONE);
}

bool part_has_done(const struct part *part, pawl_uuid id) {
    if (part->forgot)
        return true;
    for (size_t i = 0; i < part->done_count; i++) {
        if (uuid_equal(part->done[i], id))
            return true;
    }
    return false;
}

void part_end(struct model *model, struct part *part, enum claim_state state) {
    if (part->state == CLAIM_ACTIVE) {
        struct lane *lane = lane_at(model, part->kind, part->lane);
        *(part->prev != NULL ? &part->prev->next : &lane->parts) = part->next;
        if (part->next != NULL)
            part->next->prev = part->prev;
        part->prev = part->next = NULL;
    }
    part->state = state;
}

void part_free(struct model *model, struct part *part) {
    table_remove(&model->tokens, &part->by_token);
    free(part->done);
    free(part);
}

struct request *request_find(const struct model *model, pawl_uuid key) {
    if (uuid_is_nil(key))
        return NULL;
    for (struct node *node = table_first(&model->requests, hash_uuid(key)); node != NULL;
         node = table_next(node)) {
        struct request *request = node->thing;
        if (uuid_equal(request->key, key))
            return request;
    }
    return NULL;
}

void request_add(struct model *model, pawl_uuid key) {
    if (uuid_is_nil(key))
        return;
    struct request *request = model_alloc(sizeof *request);
    request->key = key;
    request->made_ms = model->now_ms;
    table_add(&model->requests, &request->by_key, hash_uuid(key), request);
}
