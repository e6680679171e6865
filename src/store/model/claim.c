/* Claims: what is granted to whom. */
#include "store/model/claim.h"

#include <inttypes.h>
#include <stdlib.h>

#include "base/error.h"
#include "base/limits.h"
#include "base/str.h"
#include "base/uuid.h"
#include "store/model/aside.h"
#include "store/model/instance.h"
#include "store/model/lane.h"

/* A lane whose oldest claim began this long ago is claimed from again beside it. */
enum { BUSY_MS = 1000 };

/* One claim call while it runs. */
struct claiming {
    struct model *model;
    struct part like; /* what every part of this call has in common */
    struct grants *grants;
    size_t wanted, most; /* items still to be read, of how many */
    bool says_slots;     /* the instance does: a suspect may come with other work */
    bool may_suspect;
    bool has_any, has_other; /* in flight when the call began: anything, of another kind */
    size_t lost_left;        /* lost messages that it may have */
};

static void grants_add(struct grants *grants, struct record *record) {
    grants->records = model_grow(grants->records, &grants->cap, grants->count + 1, sizeof(struct record *));
    grants->records[grants->count++] = record;
}

static struct part *claim_new(struct claiming *c, struct lane *lane, enum record_place source,
                              enum suspect_state suspect) {
    struct part like = c->like;
    like.token = model_token_next(c->model);
    like.lane = lane->number;
    like.source = source;
    like.suspect = suspect;
    lane->token = like.token;
    return model_part_new(c->model, &like);
}

/* What an instance has in flight. */
struct in_hand {
    size_t suspects, lost, claims, others;
    bool begun; /* a suspect that has begun */
};

static struct in_hand in_hand_of(struct model *model, const struct messages_claim *in) {
    struct in_hand found = {0};
    for (int kind = KIND_OUTBOX; kind <= KIND_COUNT; kind++) {
        for (int i = 0; i < model->settings.lane_count; i++) {
            for (struct part *part = model->lanes[kind][i].parts; part != NULL; part = part->next) {
                if (!uuid_equal(part->instance, in->instance))
                    continue;
                found.claims++;
                found.others += kind != (int)in->kind;
                found.begun = found.begun || part->suspect == SUSPECT_BEGUN;
                found.suspects += part->suspect != SUSPECT_NO;
                found.lost += (size_t)part->lost;
            }
        }
    }
    return found;
}

static bool lane_busy(const struct model *model, const struct lane *lane) {
    if (lane->parts == NULL)
        return false;
    int64_t oldest_ms = INT64_MAX;
    for (const struct part *part = lane->parts; part != NULL; part = part->next) {
        if (part->began_ms < oldest_ms)
            oldest_ms = part->began_ms;
    }
    return model->now_ms - oldest_ms < BUSY_MS;
}

static int hold_compare(const void *a, const void *b) {
    const struct stream *x = *(struct stream *const *)a, *y = *(struct stream *const *)b;
    if (x->due_ms != y->due_ms)
        return x->due_ms < y->due_ms ? -1 : 1;
    int64_t p = x->aside.first->record->seq, q = y->aside.first->record->seq;
    return (p > q) - (p < q);
}

/* The holds of the lane that can be claimed from now, in their order; free() the array. */
static struct stream **holds_due(const struct model *model, const struct lane *lane, size_t *count) {
    struct stream **due = model_alloc((size_t)lane->hold_count * sizeof *due);
    *count = 0;
    for (struct stream *stream = lane->holds; stream != NULL; stream = stream->hold_next) {
        if (stream->hold == HOLD_WAITING && stream->due_ms <= model->now_ms && stream->flying.first == NULL)
            due[(*count)++] = stream;
    }
    if (*count > 0)
        qsort(due, *count, sizeof *due, hold_compare);
    return due;
}

/* A suspect that leads its stream is taken when none runs. Who does not say its slots gets it as all that it
 * has: a call that meets it beside work of this kind ends there, so that the next one begins with it; beside
 * work of another kind, which this kind cannot make end, it is passed over. */
static bool take_suspect(struct claiming *c) {
    const bool may = c->may_suspect && (c->says_slots || !c->has_other);
    const bool take = may && (c->says_slots || (!c->has_any && c->wanted == c->most));
    if (may)
        c->wanted = c->says_slots ? c->wanted - 1 : 0;
    c->may_suspect = false;
    return take;
}

/* Held streams: rows up to the first that is not due or is a suspect; a suspect that leads runs alone. True
 * when anything was granted. */
static bool claim_held(struct claiming *c, struct lane *lane) {
    size_t due_count = 0, picked_count = 0, picked_cap = 0;
    struct stream **due = holds_due(c->model, lane, &due_count);
    struct record **picked = NULL;
    struct record *suspect = NULL;
    int lost = 0;
    for (size_t i = 0; i < due_count && c->wanted > 0; i++) {
        struct record *head = due[i]->aside.first->record;
        if (head->losses >= PAWL_SUSPECT_LOSSES) {
            if (take_suspect(c))
                suspect = head;
            continue;
        }
        for (struct link *link = due[i]->aside.first; link != NULL && c->wanted > 0; link = link->next) {
            struct record *record = link->record;
            if (record->losses >= PAWL_SUSPECT_LOSSES || record->scheduled_ms > c->model->now_ms ||
                (record->losses > 0 && c->lost_left == 0))
                break;
            c->lost_left -= record->losses > 0;
            lost += record->losses > 0;
            picked = model_grow(picked, &picked_cap, picked_count + 1, sizeof(struct record *));
            picked[picked_count++] = record;
            c->wanted--;
        }
    }
    if (suspect != NULL) {
        model_part_add(claim_new(c, lane, PLACE_ASIDE, c->says_slots ? SUSPECT_GRANTED : SUSPECT_BEGUN),
                       suspect);
        grants_add(c->grants, suspect);
    }
    if (picked_count > 0) {
        struct part *part = claim_new(c, lane, PLACE_ASIDE, SUSPECT_NO);
        part->lost = lost;
        for (size_t i = 0; i < picked_count; i++)
            model_part_add(part, picked[i]);
        for (struct link *link = part->items.first; link != NULL; link = link->next)
            grants_add(c->grants, link->record);
    }
    free(due);
    free(picked);
    return suspect != NULL || picked_count > 0;
}

/* New messages of the lane in order; what belongs behind something unfinished goes there. */
static void claim_messages(struct claiming *c, struct lane *lane) {
    struct part *part = NULL;
    while (lane->unread != NULL && c->wanted > 0) {
        struct record *record = lane->unread->record;
        struct stream *stream = record->home;
        lane->unread = lane->unread->next;
        lane->high = record->seq;
        c->wanted--;
        bool flies_elsewhere = stream->flying.first != NULL && stream->flying.first->record->part != part;
        if (stream->hold == HOLD_PARKED) {
            model_record_to_dead(c->model, record, DEAD_PARKED);
        } else if (stream->hold != 0 || flies_elsewhere) {
            model_aside_as_is(c->model, record);
        } else {
            if (part == NULL)
                part = claim_new(c, lane, PLACE_MESSAGE, SUSPECT_NO);

            model_part_add(part, record);
            grants_add(c->grants, record);
        }
    }
}

static int lane_compare(const void *a, const void *b) {
    const struct lane *x = *(struct lane *const *)a, *y = *(struct lane *const *)b;
    return (x->token > y->token) - (x->token < y->token);
}

/* The lanes to visit, the one that was claimed longest ago first; free() the array. */
static struct lane **lanes_to_visit(struct model *model, const struct messages_claim *in, size_t *count) {
    struct lane **lanes = model_alloc((size_t)model->settings.lane_count * sizeof *lanes);
    *count = 0;
    for (int i = 0; i < model->settings.lane_count; i++) {
        struct lane *lane = &model->lanes[in->kind][i];
        bool named = !in->one_lane || i == in->lane;
        if (named && uuid_equal(lane->owner, in->instance) && !lane->draining)
            lanes[(*count)++] = lane;
    }
    if (*count > 0)
        qsort(lanes, *count, sizeof *lanes, lane_compare);
    return lanes;
}

pawl_status model_claim_allowed(const struct model *model, pawl_uuid id, const char *op, pawl_error *err) {
    char text[UUID_TEXT_BYTES];
    struct instance *instance = NULL;
    pawl_status status = model_instance_active(model, id, op, &instance, err);
    if (status != PAWL_OK)
        return status;
    if (!model_instance_live(model, instance))
        return error_set(err, PAWL_STALE, op,
                         "the lease of instance %s ended %" PRId64
                         " ms ago; send a heartbeat before claiming",
                         uuid_format(id, text), model->now_ms - instance->lease_until_ms);
    return PAWL_OK;
}

void model_claim_make(struct model *model, const struct messages_claim *in, struct grants *grants) {
    if (!in->one_lane) {
        model_claims_expire_own(model, in->kind, in->instance);
        (void)model_lanes_drained(model, in->kind, in->instance);
    }
    const struct in_hand has = in_hand_of(model, in);
    struct claiming c = {
        .model = model,
        .like =
            {
                .kind = in->kind,
                .instance = in->instance,
                .request = in->request,
                .lease_until_ms = model->now_ms + in->lease_ms,
                .began_ms = model->now_ms,
                .pristine = true,
                .policy = in->policy != POLICY_DEFAULT ? in->policy
                                                       : (enum dead_policy)model->settings.dead_policy,
                .max_attempts = in->max_attempts != 0 ? in->max_attempts : model->settings.max_attempts,
            },
        .grants = grants,
        .wanted = (size_t)in->max,
        .most = (size_t)in->max,
        .says_slots = model_instance_find(model, in->instance)->slots > 0,
        .may_suspect = has.suspects == 0,
        .has_any = has.claims > 0,
        .has_other = has.others > 0,
        .lost_left = has.lost < PAWL_LOST_TOGETHER_MAX ? PAWL_LOST_TOGETHER_MAX - has.lost : 0,
    };
    size_t count = 0;
    if (!c.says_slots && has.begun)
        return; /* it runs alone */
    struct lane **lanes = lanes_to_visit(model, in, &count);
    for (size_t i = 0; i < count && c.wanted > 0; i++) {
        if (!lane_busy(model, lanes[i]) && !claim_held(&c, lanes[i]))
            claim_messages(&c, lanes[i]);
    }
    free(lanes);
}

static int grant_compare(const void *a, const void *b) {
    const struct record *x = *(struct record *const *)a, *y = *(struct record *const *)b;
    if (x->part->token != y->part->token)
        return x->part->token < y->part->token ? -1 : 1;
    return (x->seq > y->seq) - (x->seq < y->seq);
}

void model_claim_repeat(const struct model *model, const struct messages_claim *in, struct grants *grants) {
    for (int i = 0; i < model->settings.lane_count; i++) {
        for (struct part *part = model->lanes[in->kind][i].parts; part != NULL; part = part->next) {
            if (!uuid_equal(part->request, in->request) || !uuid_equal(part->instance, in->instance))
                continue;
            for (struct link *link = part->items.first; link != NULL; link = link->next)
                grants_add(grants, link->record);
        }
    }
    if (grants->count > 0)
        qsort(grants->records, grants->count, sizeof(struct record *), grant_compare);
}

pawl_status model_item_copy(const struct record *record, struct arena *arena, struct item *item,
                            pawl_error *err) {
    *item = (struct item){
        .seq = record->seq,
        .kind = record->kind,
        .lane = record->lane,
        .partition = record->partition,
        .id = record->id,
        .correlation_id = record->correlation_id,
        .causation_id = record->causation_id,
        .put_ms = record->put_ms,
        .attempt = record->attempts + record->deaths + 1,
        .deaths = record->deaths,
        .out_of_order = record->out_of_order,
        .suspect = record->place == PLACE_ASIDE && record->losses >= PAWL_SUSPECT_LOSSES,
    };
    if (record->part != NULL) {
        item->token = record->part->token;
        item->lease_until_ms = record->part->lease_until_ms;
    }
    const struct {
        pawl_str from;
        pawl_str *to;
    } texts[] = {
        {record->stream, &item->stream},     {record->topic, &item->topic},
        {record->type, &item->type},         {record->payload, &item->payload},
        {record->headers, &item->headers},   {record->traceparent, &item->traceparent},
        {record->consumer, &item->consumer},
    };
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        pawl_status status = str_dup(arena, texts[i].from, texts[i].to, err);
        if (status != PAWL_OK)
            return status;
    }
    return PAWL_OK;
}

pawl_status model_grants_copy(const struct grants *grants, struct arena *arena, struct item_list *out,
                              pawl_error *err) {
    struct item_list list = {arena_array(arena, grants->count, sizeof *list.items), grants->count};
    if (list.items == NULL)
        return error_set(err, PAWL_NO_MEMORY, "messages_claim", "no memory for %zu items", grants->count);
    for (size_t i = 0; i < grants->count; i++) {
        pawl_status status = model_item_copy(grants->records[i], arena, &list.items[i], err);
        if (status != PAWL_OK)
            return status;
    }
    *out = list;
    return PAWL_OK;
}

static bool owns(const struct model *model, const struct messages_claim *in) {
    return in->lane < model->settings.lane_count &&
           uuid_equal(model->lanes[in->kind][in->lane].owner, in->instance);
}

pawl_status model_messages_claim(struct store *store, const struct messages_claim *in, struct arena *arena,
                                 struct item_list *out, pawl_error *err) {
    pawl_status status = check_claim(in, err);
    if (status != PAWL_OK)
        return status;
    struct grants grants = {NULL, 0, 0};
    struct model *model = model_enter(store);
    status = model_claim_allowed(model, in->instance, "messages_claim", err);
    if (status != PAWL_OK)
        goto done;
    if (in->one_lane && !owns(model, in)) {
        /* nothing, and the key is not used */
    } else if (model_request_find(model, in->request) != NULL) {
        model_claim_repeat(model, in, &grants);
    } else {
        model_request_add(model, in->request);
        model_claim_make(model, in, &grants);
    }
    status = model_grants_copy(&grants, arena, out, err);
done:
    free(grants.records);
    return model_leave(model, status);
}
