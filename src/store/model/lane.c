/* Lanes: who owns them and how they are shared out. */
#include "store/model/lane.h"

#include <stdlib.h>

#include "base/uuid.h"
#include "domain/share.h"
#include "store/check/place.h"
#include "store/model/aside.h"
#include "store/model/instance.h"

void model_lane_free(struct lane *lane) {
    lane->owner = uuid_nil();
    lane->draining = false;
}

static int lanes_count(const struct model *model, enum store_kind kind, pawl_uuid instance,
                       bool with_draining) {
    int count = 0;
    for (int i = 0; i < model->settings.lane_count; i++) {
        const struct lane *lane = &model->lanes[kind][i];
        if (uuid_equal(lane->owner, instance) && (with_draining || !lane->draining))
            count++;
    }
    return count;
}

int model_lanes_owned(const struct model *model, enum store_kind kind, pawl_uuid instance) {
    return lanes_count(model, kind, instance, true);
}

int model_lanes_drained(struct model *model, enum store_kind kind, pawl_uuid instance) {
    int freed = 0;
    for (int i = 0; i < model->settings.lane_count; i++) {
        struct lane *lane = &model->lanes[kind][i];
        if (uuid_equal(lane->owner, instance) && lane->draining && lane->parts == NULL) {
            model_lane_free(lane);
            freed++;
        }
    }
    return freed;
}

/* The share of the caller among the live instances of the kind. */
static int caller_quota(const struct model *model, enum store_kind kind, const struct instance *caller) {
    struct share_member *members = model_alloc(model->instance_count * sizeof *members);
    size_t count = 0;
    for (size_t i = 0; i < model->instance_count; i++) {
        const struct instance *instance = model->instances[i];
        if (!model_instance_live(model, instance) || (instance->kinds & KIND_BIT(kind)) == 0)
            continue;
        members[count].id = instance->id;
        members[count++].owned = lanes_count(model, kind, instance->id, false);
    }
    int cap =
        share_cap_lanes(caller->max_partitions, model->settings.lane_count, model->settings.partition_count);
    int quota = share_quota(members, count, caller->id, model->settings.lane_count, cap);
    free(members);
    return quota;
}

/* Idle lanes are given up at once, busy ones when their last claim ends; from the highest number down. */
static int lanes_give(struct model *model, enum store_kind kind, pawl_uuid caller, int surplus) {
    int given = 0;
    for (int busy = 0; busy <= 1; busy++) {
        for (int i = model->settings.lane_count - 1; i >= 0 && given < surplus; i--) {
            struct lane *lane = &model->lanes[kind][i];
            if (!uuid_equal(lane->owner, caller) || lane->draining || (lane->parts != NULL) != (busy == 1))
                continue;
            if (busy == 1)
                lane->draining = true;
            else
                model_lane_free(lane);
            given++;
        }
    }
    return given;
}

/* Own draining lanes stop draining first, then free ones are taken; from the lowest number up. */
static int lanes_take(struct model *model, enum store_kind kind, pawl_uuid caller, int wanted) {
    int taken = 0;
    for (int i = 0; i < model->settings.lane_count && wanted > 0; i++) {
        struct lane *lane = &model->lanes[kind][i];
        if (uuid_equal(lane->owner, caller) && lane->draining) {
            lane->draining = false;
            wanted--;
        }
    }
    for (int i = 0; i < model->settings.lane_count && wanted > 0; i++) {
        struct lane *lane = &model->lanes[kind][i];
        if (!uuid_is_nil(lane->owner))
            continue;
        lane->owner = caller;
        lane->draining = false;
        lane->token = model_token_next(model);
        lane->moves++;
        wanted--;
        taken++;
    }
    return taken;
}

void model_lanes_balance(struct model *model, enum store_kind kind, struct instance *caller,
                         struct beat_result *out) {
    out->evicted += model_instances_evict_silent(model, caller->id);
    if (!model_instance_live(model, caller) || (caller->kinds & KIND_BIT(kind)) == 0)
        return;
    (void)model_claims_expire(model, kind, caller->id);
    int quota = caller_quota(model, kind, caller);
    int owned = lanes_count(model, kind, caller->id, false);
    out->lanes_given += model_lanes_drained(model, kind, caller->id);
    if (owned > quota) {
        int give_max = share_give_max(model->settings.lane_count);
        int surplus = owned - quota;
        out->lanes_given += lanes_give(model, kind, caller->id, surplus < give_max ? surplus : give_max);
    } else if (owned < quota) {
        out->lanes_taken += lanes_take(model, kind, caller->id, quota - owned);
    }
}

bool model_lanes_wanted(const struct model *model, enum store_kind kind, const struct instance *caller) {
    return model_instance_live(model, caller) && (caller->kinds & KIND_BIT(kind)) != 0 &&
           lanes_count(model, kind, uuid_nil(), true) > 0 &&
           lanes_count(model, kind, caller->id, false) < caller_quota(model, kind, caller);
}

pawl_status model_lanes_rebalance(struct store *store, pawl_uuid id, enum store_kind kind,
                                  struct beat_result *out, pawl_error *err) {
    struct place at = {.op = "lanes_rebalance", .err = err};
    pawl_status status = place_kind(&at, kind);
    if (status != PAWL_OK)
        return status;
    struct model *model = model_enter(store);
    struct instance *instance = NULL;
    status = model_instance_active(model, id, "lanes_rebalance", &instance, err);
    if (status != PAWL_OK)
        return model_leave(model, status);
    struct beat_result result = {0};
    model_lanes_balance(model, kind, instance, &result);
    model_beat_fill(model, instance, &result);
    *out = result;
    return model_leave(model, PAWL_OK);
}
