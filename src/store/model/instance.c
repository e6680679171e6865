/* Instances: their life from registration to tombstone. */
#include "store/model/instance.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/uuid.h"
#include "store/model/aside.h"
#include "store/model/event_state.h"
#include "store/model/lane.h"
#include "store/model/relay.h"

struct instance *model_instance_find(const struct model *model, pawl_uuid id) {
    for (size_t i = 0; i < model->instance_count; i++) {
        if (uuid_equal(model->instances[i]->id, id))
            return model->instances[i];
    }
    return NULL;
}

bool model_instance_live(const struct model *model, const struct instance *instance) {
    return instance->state == INSTANCE_ACTIVE && instance->lease_until_ms > model->now_ms;
}

struct tombstone *model_tombstone_find(const struct model *model, pawl_uuid id) {
    for (struct node *node = model_table_first(&model->tombstones, model_hash_uuid(id)); node != NULL;
         node = model_table_next(node)) {
        struct tombstone *tombstone = node->thing;
        if (uuid_equal(tombstone->id, id))
            return tombstone;
    }
    return NULL;
}

pawl_status model_instance_active(const struct model *model, pawl_uuid id, const char *op,
                                  struct instance **instance, pawl_error *err) {
    char text[UUID_TEXT_BYTES];
    struct instance *found = model_instance_find(model, id);
    if (found == NULL)
        return error_set(err, PAWL_STALE, op,
                         "instance %s is not registered (evicted and removed, or never there); "
                         "drop its work and register with a fresh id",
                         uuid_format(id, text));
    if (found->state != INSTANCE_ACTIVE)
        return error_set(err, PAWL_STALE, op,
                         "instance %s was evicted; drop its work and register with a fresh id",
                         uuid_format(id, text));
    *instance = found;
    return PAWL_OK;
}

pawl_status model_partition_count_check(const struct model *model, const char *op, int partition_count,
                                        pawl_error *err) {
    if (partition_count != 0 && partition_count != model->settings.partition_count)
        return error_set(
            err, PAWL_INVALID, op,
            "partition_count %d differs from the schema's %d, which is fixed; leave it out or name that",
            partition_count, model->settings.partition_count);
    return PAWL_OK;
}

pawl_status model_instance_may_register(const struct model *model, const struct instance_new *in,
                                        pawl_error *err) {
    char text[UUID_TEXT_BYTES];
    pawl_status status = model_partition_count_check(model, "instance_register", in->partition_count, err);
    if (status != PAWL_OK)
        return status;
    if (model_instance_find(model, in->id) != NULL || model_tombstone_find(model, in->id) != NULL)
        return error_set(err, PAWL_CONFLICT, "instance_register",
                         "instance id %s was used before; every start of a process needs a fresh one",
                         uuid_format(in->id, text));
    return PAWL_OK;
}

struct instance *model_instance_add(struct model *model, const struct instance_new *in) {
    struct instance *instance = model_alloc(sizeof *instance);
    *instance = (struct instance){
        .id = in->id,
        .service = model_text(in->service),
        .host = model_text(in->host),
        .metadata = model_text(in->metadata),
        .pid = in->pid,
        .kinds = in->kinds,
        .max_partitions = in->max_partitions,
        .slots = in->slots,
        .state = INSTANCE_ACTIVE,
        .started_ms = model->now_ms,
        .lease_ms = in->lease_ms != 0 ? in->lease_ms : model->settings.instance_lease_ms,
    };
    model->instances = model_grow(model->instances, &model->instance_cap, model->instance_count + 1,
                                  sizeof(struct instance *));
    size_t at = model->instance_count++;
    for (; at > 0 && uuid_compare(model->instances[at - 1]->id, in->id) > 0; at--)
        model->instances[at] = model->instances[at - 1];
    model->instances[at] = instance;
    return instance;
}

void model_instance_beat(struct model *model, struct instance *instance, struct beat_result *out) {
    instance->beat_ms = model->now_ms;
    instance->lease_until_ms = model->now_ms + instance->lease_ms;
    for (int kind = KIND_OUTBOX; kind <= KIND_COUNT; kind++) {
        if ((instance->kinds & KIND_BIT(kind)) != 0)
            model_lanes_balance(model, (enum store_kind)kind, instance, out);
    }
    model_beat_fill(model, instance, out);
}

void model_beat_fill(const struct model *model, const struct instance *instance, struct beat_result *out) {
    out->now_ms = model->now_ms;
    out->lease_until_ms = instance->lease_until_ms;
    for (int kind = KIND_OUTBOX; kind <= KIND_COUNT; kind++)
        out->lanes_owned[kind] = model_lanes_owned(model, (enum store_kind)kind, instance->id);
}

/* Its lanes and its checkpoints. */
static void grants_leave(struct model *model, pawl_uuid id) {
    for (int kind = KIND_OUTBOX; kind <= KIND_COUNT; kind++) {
        for (int i = 0; i < model->settings.lane_count; i++) {
            if (uuid_equal(model->lanes[kind][i].owner, id))
                model_lane_free(&model->lanes[kind][i]);
        }
    }
    model_checkpoints_leave(model, id);
}

void model_evict(struct model *model, struct instance *instance) {
    instance->state = INSTANCE_EVICTED;
    instance->evicted_ms = model->now_ms;
    grants_leave(model, instance->id);
    model_claims_evict(model, instance->id);
}

int model_instances_evict_silent(struct model *model, pawl_uuid caller) {
    int evicted = 0;
    for (size_t i = 0; i < model->instance_count; i++) {
        struct instance *instance = model->instances[i];
        if (instance->state != INSTANCE_ACTIVE || model_instance_live(model, instance) ||
            uuid_equal(instance->id, caller))
            continue;
        model_evict(model, instance);
        evicted++;
    }
    return evicted;
}

void model_instance_bury(struct model *model, struct instance *instance) {
    struct tombstone *tombstone = model_alloc(sizeof *tombstone);
    tombstone->id = instance->id;
    tombstone->made_ms = model->now_ms;
    model_table_add(&model->tombstones, &tombstone->by_id, model_hash_uuid(tombstone->id), tombstone);
    size_t at = 0;
    while (model->instances[at] != instance)
        at++;
    memmove(&model->instances[at], &model->instances[at + 1],
            (model->instance_count - at - 1) * sizeof(struct instance *));
    model->instance_count--;
    model_text_free(instance->service);
    model_text_free(instance->host);
    model_text_free(instance->metadata);
    free(instance);
}

pawl_status model_instance_register(struct store *store, const struct instance_new *in,
                                    struct instance_grant *out, pawl_error *err) {
    pawl_status status = check_instance(in, err);
    if (status != PAWL_OK)
        return status;
    struct model *model = model_enter(store);
    status = model_instance_may_register(model, in, err);
    if (status != PAWL_OK)
        return model_leave(model, status);
    struct beat_result beat = {0};
    struct instance *instance = model_instance_add(model, in);
    model_instance_beat(model, instance, &beat);
    *out = (struct instance_grant){
        .now_ms = model->now_ms,
        .lease_until_ms = instance->lease_until_ms,
        .epoch = model->settings.epoch,
        .lanes_owned = beat.lanes_owned[KIND_OUTBOX] + beat.lanes_owned[KIND_INBOX] +
                       beat.lanes_owned[KIND_PERSPECTIVE],
    };
    return model_leave(model, PAWL_OK);
}

pawl_status model_heartbeat(struct store *store, pawl_uuid id, int64_t processed, struct beat_result *out,
                            pawl_error *err) {
    struct model *model = model_enter(store);
    struct instance *instance = NULL;
    pawl_status status = model_instance_active(model, id, "heartbeat", &instance, err);
    if (status != PAWL_OK)
        return model_leave(model, status);
    struct beat_result result = {0};
    if (processed >= 0)
        instance->processed = processed;
    model_instance_beat(model, instance, &result);
    result.pauses = model_pause_count(model);
    *out = result;
    return model_leave(model, PAWL_OK);
}

pawl_status model_instance_deregister(struct store *store, pawl_uuid id, pawl_error *err) {
    char text[UUID_TEXT_BYTES];
    struct model *model = model_enter(store);
    struct instance *instance = model_instance_find(model, id);
    if (instance == NULL)
        return model_leave(model, error_set(err, PAWL_STALE, "instance_deregister",
                                            "instance %s is not registered; it has nothing to give back",
                                            uuid_format(id, text)));
    model_claims_release(model, id);
    grants_leave(model, id);
    model_instance_bury(model, instance);
    return model_leave(model, PAWL_OK);
}

pawl_status model_instance_evict(struct store *store, pawl_uuid id, pawl_error *err) {
    char text[UUID_TEXT_BYTES];
    struct model *model = model_enter(store);
    struct instance *instance = model_instance_find(model, id);
    if (instance == NULL)
        return model_leave(model, error_set(err, PAWL_NOT_FOUND, "instance_evict",
                                            "no instance %s is registered", uuid_format(id, text)));
    if (instance->state == INSTANCE_ACTIVE)
        model_evict(model, instance);
    return model_leave(model, PAWL_OK);
}

/* One process, no sessions: there is no lock whose loss could tell anything. */
pawl_status model_liveness_hold(struct store *store, pawl_uuid id, bool *held, pawl_error *err) {
    struct model *model = model_enter(store);
    struct instance *instance = NULL;
    pawl_status status = model_instance_active(model, id, "liveness_hold", &instance, err);
    if (status == PAWL_OK)
        *held = false;
    return model_leave(model, status);
}

pawl_status model_peers_look(struct store *store, pawl_uuid id, struct peers_look *out, pawl_error *err) {
    struct model *model = model_enter(store);
    struct instance *instance = NULL;
    pawl_status status = model_instance_active(model, id, "peers_look", &instance, err);
    if (status != PAWL_OK)
        return model_leave(model, status);
    struct peers_look look = {.believe_ms = -1};
    look.evicted = model_instances_evict_silent(model, id);
    for (int kind = KIND_OUTBOX; kind <= KIND_COUNT; kind++) {
        if (model_lanes_wanted(model, (enum store_kind)kind, instance))
            look.rebalance_wanted = true;
    }
    *out = look;
    return model_leave(model, PAWL_OK);
}

pawl_status model_wait_begin(struct store *store, pawl_uuid instance, int kinds, bool *late,
                             pawl_error *err) {
    (void)store, (void)instance, (void)kinds, (void)err;
    *late = false;
    return PAWL_OK;
}

pawl_status model_wait_end(struct store *store, pawl_uuid instance, pawl_error *err) {
    (void)store, (void)instance, (void)err;
    return PAWL_OK;
}

pawl_status model_wake(struct store *store, pawl_error *err) {
    (void)store, (void)err;
    return PAWL_OK;
}
