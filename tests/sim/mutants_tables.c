/* Seeded bugs of the protocol that spoil the model's tables, as a wrong statement would. */
#include <stdlib.h>

#include "base/uuid.h"
#include "mutants_int.h"
#include "store/model/put.h"

static struct model *model_of(struct world *world) { return (struct model *)world->store; }

struct record *mutant_record(struct world *world, pawl_uuid id) {
    struct node *node = model_table_first(&model_of(world)->ids, model_hash_uuid(id));
    for (; node != NULL; node = model_table_next(node)) {
        struct record *record = node->thing;
        if (uuid_equal(record->id, id))
            return record;
    }
    return NULL;
}

/* The message is gone and nothing in the store shows it. */
static void vanish(struct world *world, struct record *record) {
    struct model *model = model_of(world);
    if (record == NULL)
        return;
    if (record->part != NULL)
        model_part_leave(model, record, false);
    model->tally[record->kind].put--;
    model_record_finish(model, record, false);
}

/* Every record for which `act` is called may be removed by it. */
static void each_record(struct world *world, void (*act)(struct world *world, struct record *record)) {
    for (size_t i = 0; i < world->message_count; i++) {
        struct record *record = mutant_record(world, world->messages[i].id);
        if (record != NULL)
            act(world, record);
    }
}

void mutant_releases_lost(struct world *world, struct wire *wire, struct work_batch_result *result,
                          struct arena *arena) {
    (void)arena;
    for (int kind = 1; result != NULL && kind <= KIND_COUNT; kind++) {
        for (size_t i = 0; i < wire->batch.release_count[kind]; i++) {
            if (result->released[kind].answers[i] == ANSWER_APPLIED)
                vanish(world, mutant_record(world, wire->batch.releases[kind][i].ref.id));
        }
    }
}

void mutant_put_lost(struct world *world, const struct messages_put *in) {
    if (rng_chance(&world->rng, 1000))
        vanish(world, mutant_record(world, in->messages[0].id));
}

void mutant_dedupe_forgotten(struct world *world, struct messages_put *in) {
    struct model *model = model_of(world);
    in->request = uuid_nil();
    while (model->dedupe.count > 0)
        model_dedupe_remove(model, model_table_each(&model->dedupe, NULL)->thing);
}

void mutant_expire_early(struct world *world, struct wire *wire, struct work_batch_result *result,
                         struct arena *arena) {
    (void)wire, (void)arena;
    for (int kind = 1; result != NULL && kind <= KIND_COUNT; kind++) {
        for (size_t i = 0; i < result->claimed[kind].count; i++) {
            struct record *record = mutant_record(world, result->claimed[kind].items[i].id);
            record->part->lease_until_ms = world_db_ms(world) + world->swarm.lease_ms / 5;
        }
    }
}

void mutant_evict_living(struct world *world, const struct wire *wire) {
    struct model *model = model_of(world);
    pawl_error error;
    for (size_t i = 0; i < model->instance_count; i++) {
        const struct instance *instance = model->instances[i];
        if (instance->state != INSTANCE_ACTIVE || uuid_equal(instance->id, wire->instance) ||
            !rng_chance(&world->rng, 500))
            continue;
        (void)world->store->ops->core.instance_evict(world->store, instance->id, &error);
        return;
    }
}

static void forget_deaths(struct world *world, struct record *record) {
    (void)world;
    if (record->part == NULL && record->place == PLACE_ASIDE)
        record->deaths = 0;
}

void mutant_deaths_forgotten(struct world *world, struct wire *wire, struct work_batch_result *result,
                             struct arena *arena) {
    (void)wire, (void)result, (void)arena;
    each_record(world, forget_deaths);
}

static void forget_suspicion(struct world *world, struct record *record) {
    (void)world;
    if (record->part == NULL && record->place == PLACE_ASIDE)
        record->losses = 0;
}

void mutant_suspicion_forgotten(struct world *world, struct wire *wire, struct work_batch_result *result,
                                struct arena *arena) {
    (void)wire, (void)result, (void)arena;
    each_record(world, forget_suspicion);
}

static void begin_at_once(struct world *world, struct record *record) {
    (void)world;
    if (record->part != NULL && record->part->suspect == SUSPECT_GRANTED)
        record->part->suspect = SUSPECT_BEGUN;
}

void mutant_charged_at_grant(struct world *world, struct wire *wire, struct work_batch_result *result,
                             struct arena *arena) {
    (void)wire, (void)result, (void)arena;
    each_record(world, begin_at_once);
}

static void forget_attempts(struct world *world, struct record *record) {
    (void)world;
    if (record->part == NULL && record->place == PLACE_ASIDE)
        record->attempts = 0;
}

void mutant_attempts_forgotten(struct world *world, struct wire *wire, struct work_batch_result *result,
                               struct arena *arena) {
    (void)wire, (void)result, (void)arena;
    each_record(world, forget_attempts);
}

/* The message queues up again, behind what was put since. */
static void to_the_back(struct world *world, struct record *record) {
    struct model *model = model_of(world);
    struct message_new in = {.id = record->id,
                             .stream = model_text(record->stream),
                             .type = model_text(record->type),
                             .payload = model_text(record->payload)};
    pawl_str consumer = model_text(record->consumer);
    enum store_kind kind = record->kind;
    int attempts = record->attempts, deaths = record->deaths, losses = record->losses;
    vanish(world, record);
    struct record *again = model_record_new(model, kind, &in, consumer);
    again->attempts = attempts;
    again->deaths = deaths;
    again->losses = losses;
    model->tally[kind].put++;
    const pawl_str texts[] = {in.stream, in.type, in.payload, consumer};
    for (size_t i = 0; i < sizeof(texts) / sizeof(*texts); i++)
        model_text_free(texts[i]);
}

static void failed_to_the_back(struct world *world, struct record *record) {
    if (record->part == NULL && record->place == PLACE_ASIDE && record->reason == ASIDE_FAILED)
        to_the_back(world, record);
}

static void expired_to_the_back(struct world *world, struct record *record) {
    if (record->part == NULL && record->place == PLACE_ASIDE && record->reason == ASIDE_EXPIRED)
        to_the_back(world, record);
}

void mutant_retry_behind(struct world *world, struct wire *wire, struct work_batch_result *result,
                         struct arena *arena) {
    (void)wire, (void)result, (void)arena;
    each_record(world, failed_to_the_back);
}

void mutant_expiry_behind(struct world *world, struct wire *wire, struct work_batch_result *result,
                          struct arena *arena) {
    (void)wire, (void)result, (void)arena;
    each_record(world, expired_to_the_back);
}

static void unblock(struct world *world, struct record *record) {
    struct stream *stream = record->home;
    if (stream->hold != HOLD_BLOCKED)
        return;
    if (stream->aside.first != NULL)
        model_hold_set(model_of(world), stream, HOLD_WAITING, 0);
    else
        model_hold_drop(model_of(world), stream);
}

void mutant_block_ignored(struct world *world, struct wire *wire, struct work_batch_result *result,
                          struct arena *arena) {
    (void)wire, (void)result, (void)arena;
    each_record(world, unblock);
}

static void lose_parked(struct world *world, struct record *record) {
    if (record->place == PLACE_DEAD && record->reason == DEAD_PARKED)
        vanish(world, record);
}

void mutant_parked_lost(struct world *world, struct wire *wire, struct work_batch_result *result,
                        struct arena *arena) {
    (void)wire, (void)result, (void)arena;
    each_record(world, lose_parked);
}

static void lose_dead(struct world *world, struct record *record) {
    if (record->place == PLACE_DEAD && record->home->hold == 0)
        vanish(world, record);
}

void mutant_dead_lost(struct world *world, struct wire *wire, struct work_batch_result *result,
                      struct arena *arena) {
    (void)wire, (void)result, (void)arena;
    each_record(world, lose_dead);
}

static void lose_behind(struct world *world, struct record *record) {
    if (record->place == PLACE_ASIDE && record->part == NULL && record->reason == ASIDE_BEHIND)
        vanish(world, record);
}

void mutant_behind_lost(struct world *world, struct wire *wire, struct work_batch_result *result,
                        struct arena *arena) {
    (void)wire, (void)result, (void)arena;
    each_record(world, lose_behind);
}

void mutant_redrive_lost(struct world *world, const struct dead_ref *ref) {
    vanish(world, model_record_find_seq(model_of(world), ref->kind, ref->seq));
}

void mutant_token_reused(struct world *world, const struct wire *wire, struct work_batch *batch) {
    (void)wire, (void)batch;
    struct model *model = model_of(world);
    model->counter -= model->counter > 4 ? 3 : 0;
}

static void lose_claimed(struct world *world, struct record *record) {
    if (record->part != NULL && uuid_equal(record->part->instance, world->mutant_memory.leaver))
        vanish(world, record);
}

void mutant_leaving_loses(struct world *world, const struct wire *wire) {
    world->mutant_memory.leaver = wire->instance;
    each_record(world, lose_claimed);
}
