/* How messages leave the straight way: set aside, dead, taken back from a claim that ended. */
#include "store/model/aside.h"

#include <stdlib.h>

#include "base/limits.h"
#include "base/uuid.h"
#include "store/model/jobs.h"
#include "store/model/lane.h"

struct record **model_list_copy(const struct list *list) {
    struct record **records = model_alloc(list->count * sizeof *records);
    size_t count = 0;
    for (struct link *link = list->first; link != NULL; link = link->next)
        records[count++] = link->record;
    return records;
}

void model_aside_as_is(struct model *model, struct record *record) {
    if (record->part != NULL)
        model_part_leave(model, record, false);
    if (record->place == PLACE_MESSAGE)
        model_record_to_aside(model, record, ASIDE_BEHIND, model->now_ms);
}

void model_aside_successors(struct model *model, const struct record *record) {
    const int64_t seq = record->seq;
    struct stream *stream = record->home;
    struct link *link = stream->flying.last;
    while (link != NULL && link->record->seq > seq) {
        struct link *before = link->prev;
        model_aside_as_is(model, link->record);
        link = before;
    }
}

/* Later messages of a parked stream, in flight or aside, join its dead letters. */
static void park_successors(struct model *model, const struct record *record) {
    const int64_t seq = record->seq;
    struct stream *stream = record->home;
    model_aside_successors(model, record);
    struct link *link = stream->aside.last;
    while (link != NULL && link->record->seq > seq) {
        struct link *before = link->prev;
        model_record_to_dead(model, link->record, DEAD_PARKED);
        link = before;
    }
}

void model_die(struct model *model, struct record *record, enum dead_reason reason, enum dead_policy policy) {
    struct stream *stream = record->home;
    model_record_to_dead(model, record, reason);
    if (stream->alone || policy == POLICY_SKIP)
        return;
    if (policy == POLICY_BLOCK) {
        model_hold_set(model, stream, HOLD_BLOCKED, record->seq);
        model_aside_successors(model, record);
    } else {
        model_hold_set(model, stream, HOLD_PARKED, record->seq);
        park_successors(model, record);
    }
}

/* Up to where what an instance has in flight may have begun: handlers start in the order of the grant. */
struct edge {
    int64_t token, seq;
};

static int grant_compare(const void *a, const void *b) {
    const struct edge *x = a, *y = b;
    if (x->token != y->token)
        return x->token < y->token ? -1 : 1;
    return (x->seq > y->seq) - (x->seq < y->seq);
}

static struct edge edge_of(struct model *model, pawl_uuid id) {
    struct edge *items = NULL, edge = {0, 0};
    size_t count = 0, cap = 0;
    for (int kind = KIND_OUTBOX; kind <= KIND_COUNT; kind++) {
        for (int i = 0; i < model->settings.lane_count; i++) {
            for (struct part *part = model->lanes[kind][i].parts; part != NULL; part = part->next) {
                if (part->suspect != SUSPECT_NO || !uuid_equal(part->instance, id))
                    continue;
                for (struct link *link = part->items.first; link != NULL; link = link->next) {
                    items = model_grow(items, &cap, count + 1, sizeof *items);
                    items[count++] = (struct edge){part->token, link->record->seq};
                }
            }
        }
    }
    if (count > 0) {
        const struct instance *instance = model_instance_find(model, id);
        size_t slots = instance != NULL && instance->slots > 0 ? (size_t)instance->slots : 1;
        qsort(items, count, sizeof *items, grant_compare);
        edge = items[(slots < count ? slots : count) - 1];
    }
    free(items);
    return edge;
}

/* Records that are lost together. */
struct lost {
    struct record **records;
    size_t count, cap;
};

/* Only a suspect that has begun is charged; what may have begun becomes one, and so does what is lost again.
 */
static void lose(struct model *model, struct lost *lost, struct record *record, const struct edge *edge) {
    const struct part *part = record->part;
    const struct edge at = {part->token, record->seq};
    if (part->suspect != SUSPECT_NO)
        record->deaths += part->suspect == SUSPECT_BEGUN;
    else if (record->losses > 0 || grant_compare(&at, edge) <= 0)
        record->losses = PAWL_SUSPECT_LOSSES;
    else
        record->losses = 1;
    model_part_leave(model, record, false);
    lost->records = model_grow(lost->records, &lost->cap, lost->count + 1, sizeof(struct record *));
    lost->records[lost->count++] = record;
}

/* Successors of its streams in other parts of the token were in the same hands, and go the same way. */
static void claim_lose(struct model *model, struct part *part, enum claim_state state,
                       const struct edge *edge) {
    struct lost lost = {0};
    while (part->items.first != NULL)
        lose(model, &lost, part->items.first->record, edge);
    model_part_end(model, part, state);
    const size_t own = lost.count;
    for (size_t i = 0; i < own; i++) {
        const struct record *record = lost.records[i];
        struct list *flying = &record->home->flying;
        while (flying->last != NULL && flying->last->record->seq > record->seq)
            lose(model, &lost, flying->last->record, edge);
    }
    for (size_t i = 0; i < lost.count; i++) {
        struct record *record = lost.records[i];
        if (part->suspect == SUSPECT_BEGUN && record->attempts + record->deaths >= part->max_attempts)
            model_die(model, record, DEAD_KILLED, part->policy);
        else
            model_record_to_aside(model, record, ASIDE_EXPIRED, model->now_ms);
    }
    free(lost.records);
}

static int part_compare(const void *a, const void *b) {
    const struct part *x = *(struct part *const *)a, *y = *(struct part *const *)b;
    if (x->token != y->token)
        return x->token < y->token ? -1 : 1;
    return (x->number > y->number) - (x->number < y->number);
}

/* Which active parts to end: the overdue ones of a kind, or those of an instance. */
struct part_query {
    enum store_kind kind; /* 0 = any */
    bool overdue;
    pawl_uuid instance; /* nil = any */
    pawl_uuid owner;    /* of the lane; nil = any */
};

/* By (token, part); free() the array. */
static struct part **parts_find(struct model *model, const struct part_query *query, size_t *count) {
    struct part **parts = NULL;
    size_t cap = 0;
    *count = 0;
    for (int kind = KIND_OUTBOX; kind <= KIND_COUNT; kind++) {
        if (query->kind != 0 && (int)query->kind != kind)
            continue;
        for (int i = 0; i < model->settings.lane_count; i++) {
            for (struct part *part = model->lanes[kind][i].parts; part != NULL; part = part->next) {
                if (query->overdue && part->lease_until_ms > model->now_ms)
                    continue;
                if (!uuid_is_nil(query->owner) && !uuid_equal(query->owner, model->lanes[kind][i].owner))
                    continue;
                if (!uuid_is_nil(query->instance) && !uuid_equal(query->instance, part->instance))
                    continue;
                parts = model_grow(parts, &cap, *count + 1, sizeof(struct part *));
                parts[(*count)++] = part;
            }
        }
    }
    if (*count > 0)
        qsort(parts, *count, sizeof(struct part *), part_compare);
    return parts;
}

/* Ends the overdue parts that are found; a lane of somebody else that had one loses its owner. */
static int64_t expire(struct model *model, const struct part_query *query, pawl_uuid caller) {
    size_t count = 0;
    int64_t ended = 0;
    struct part **parts = parts_find(model, query, &count);
    struct edge *edges = model_alloc(count * sizeof *edges);
    for (size_t i = 0; i < count; i++)
        edges[i] = edge_of(model, parts[i]->instance);
    for (size_t i = 0; i < count; i++) {
        struct lane *lane = model_lane_at(model, query->kind, parts[i]->lane);
        if (!uuid_equal(lane->owner, caller))
            model_lane_free(lane);
        if (parts[i]->state != CLAIM_ACTIVE)
            continue; /* an earlier one took its last items away */
        claim_lose(model, parts[i], CLAIM_EXPIRED, &edges[i]);
        ended++;
    }
    free(edges);
    free(parts);
    return ended;
}

int64_t model_claims_expire(struct model *model, enum store_kind kind, pawl_uuid caller) {
    return expire(model, &(struct part_query){.kind = kind, .overdue = true}, caller);
}

void model_claims_expire_own(struct model *model, enum store_kind kind, pawl_uuid caller) {
    (void)expire(model, &(struct part_query){.kind = kind, .overdue = true, .owner = caller}, caller);
}

void model_claims_evict(struct model *model, pawl_uuid instance) {
    size_t count = 0;
    const struct edge edge = edge_of(model, instance);
    struct part **parts = parts_find(model, &(struct part_query){.instance = instance}, &count);
    for (size_t i = 0; i < count; i++) {
        if (parts[i]->state == CLAIM_ACTIVE)
            claim_lose(model, parts[i], CLAIM_EVICTED, &edge);
    }
    free(parts);
    model_jobs_instance_end(model, instance, false);
}

void model_claims_release(struct model *model, pawl_uuid instance) {
    size_t count = 0;
    struct part **parts = parts_find(model, &(struct part_query){.instance = instance}, &count);
    for (size_t i = 0; i < count; i++) {
        while (parts[i]->items.first != NULL) {
            struct record *record = parts[i]->items.first->record;
            model_part_leave(model, record, false);
            model_record_to_aside(model, record, ASIDE_RELEASED, model->now_ms);
        }
    }
    free(parts);
    model_jobs_instance_end(model, instance, true);
}
