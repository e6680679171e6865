/* Seeded bugs of the protocol: the list. They reach into the model's tables, as a wrong statement would. */
#include <stdlib.h>
#include <string.h>

#include "base/uuid.h"
#include "store/model/aside.h"
#include "store/model/put.h"
#include "store/model/state.h"
#include "world.h"

static struct model *model_of(struct world *world) { return (struct model *)world->store; }

static struct record *record_of(struct world *world, pawl_uuid id) {
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
        struct record *record = record_of(world, world->messages[i].id);
        if (record != NULL)
            act(world, record);
    }
}

/* Reports under an old token count for whoever holds the message now. */
static void stale_completions(struct world *world, struct wire *wire, struct work_batch_result *result,
                              struct arena *arena) {
    for (int kind = 1; result != NULL && kind <= KIND_COUNT; kind++) {
        for (size_t i = 0; i < wire->batch.completion_count[kind]; i++) {
            struct complete_item item = wire->batch.completions[kind][i];
            struct record *record = record_of(world, item.ref.id);
            if (result->completed[kind].answers[i] != ANSWER_STALE || record == NULL || record->part == NULL)
                continue;
            item.ref.token = record->part->token;
            struct messages_complete in = {record->part->instance, (enum store_kind)kind, &item, 1, false};
            struct answer_list out = {0};
            if (world->store->ops->core.messages_complete(world->store, &in, arena, &out, NULL) == PAWL_OK)
                result->completed[kind].answers[i] = out.answers[0];
        }
    }
}

static void stale_failures(struct world *world, struct wire *wire, struct work_batch_result *result,
                           struct arena *arena) {
    for (int kind = 1; result != NULL && kind <= KIND_COUNT; kind++) {
        for (size_t i = 0; i < wire->batch.failure_count[kind]; i++) {
            struct fail_item item = wire->batch.failures[kind][i];
            struct record *record = record_of(world, item.ref.id);
            if (result->failed[kind].answers[i] != ANSWER_STALE || record == NULL || record->part == NULL)
                continue;
            item.ref.token = record->part->token;
            struct messages_fail in = {record->part->instance, (enum store_kind)kind, &item, 1};
            struct answer_list out = {0};
            if (world->store->ops->core.messages_fail(world->store, &in, arena, &out, NULL) != PAWL_OK)
                continue;
            result->failed[kind].answers[i] = out.answers[0];
            result->failed[kind].outcomes[i] = out.outcomes[0];
        }
    }
}

static void stale_releases(struct world *world, struct wire *wire, struct work_batch_result *result,
                           struct arena *arena) {
    for (int kind = 1; result != NULL && kind <= KIND_COUNT; kind++) {
        for (size_t i = 0; i < wire->batch.release_count[kind]; i++) {
            struct release_item item = wire->batch.releases[kind][i];
            struct record *record = record_of(world, item.ref.id);
            if (result->released[kind].answers[i] != ANSWER_STALE || record == NULL || record->part == NULL)
                continue;
            item.ref.token = record->part->token;
            struct messages_release in = {record->part->instance, (enum store_kind)kind, &item, 1};
            struct answer_list out = {0};
            if (world->store->ops->core.messages_release(world->store, &in, arena, &out, NULL) == PAWL_OK)
                result->released[kind].answers[i] = out.answers[0];
        }
    }
}

static void stale_renewals(struct world *world, struct wire *wire, struct work_batch_result *result,
                           struct arena *arena) {
    (void)world, (void)arena;
    for (int kind = 1; result != NULL && kind <= KIND_COUNT; kind++) {
        for (size_t i = 0; i < wire->batch.renewal_count[kind]; i++) {
            if (result->renewed[kind].answers[i] == ANSWER_STALE)
                result->renewed[kind].answers[i] = ANSWER_APPLIED;
        }
    }
}

static void renewals_dropped(struct world *world, const struct wire *wire, struct work_batch *batch) {
    (void)world, (void)wire;
    memset(batch->renewal_count, 0, sizeof(batch->renewal_count));
}

static enum store_answer *answers_all(struct arena *arena, size_t count) {
    enum store_answer *answers = arena_array(arena, count, sizeof(*answers));
    for (size_t i = 0; i < count; i++)
        answers[i] = ANSWER_APPLIED;
    return answers;
}

static void renewals_promised(struct world *world, struct wire *wire, struct work_batch_result *result,
                              struct arena *arena) {
    (void)world;
    for (int kind = 1; result != NULL && kind <= KIND_COUNT; kind++) {
        size_t count = wire->batch.renewal_count[kind];
        result->renewed[kind] = (struct answer_list){answers_all(arena, count), NULL, count};
    }
}

/* The last report of each list does not reach the store, but is acknowledged. */
static void completion_dropped(struct world *world, const struct wire *wire, struct work_batch *batch) {
    (void)world, (void)wire;
    for (int kind = 1; kind <= KIND_COUNT; kind++)
        batch->completion_count[kind] -= batch->completion_count[kind] > 0;
}

static void completion_promised(struct world *world, struct wire *wire, struct work_batch_result *result,
                                struct arena *arena) {
    (void)world;
    for (int kind = 1; result != NULL && kind <= KIND_COUNT; kind++) {
        size_t count = wire->batch.completion_count[kind];
        enum store_answer *answers = answers_all(arena, count);
        if (count > 1)
            memcpy(answers, result->completed[kind].answers, (count - 1) * sizeof(*answers));
        result->completed[kind] = (struct answer_list){answers, NULL, count};
    }
}

static void failure_dropped(struct world *world, const struct wire *wire, struct work_batch *batch) {
    (void)world, (void)wire;
    memset(batch->failure_count, 0, sizeof(batch->failure_count));
}

static void failure_promised(struct world *world, struct wire *wire, struct work_batch_result *result,
                             struct arena *arena) {
    (void)world;
    for (int kind = 1; result != NULL && kind <= KIND_COUNT; kind++) {
        size_t count = wire->batch.failure_count[kind];
        enum fail_outcome *outcomes = arena_array(arena, count, sizeof(*outcomes));
        for (size_t i = 0; i < count; i++)
            outcomes[i] = FAIL_RETRY;
        result->failed[kind] = (struct answer_list){answers_all(arena, count), outcomes, count};
    }
}

static void releases_lost(struct world *world, struct wire *wire, struct work_batch_result *result,
                          struct arena *arena) {
    (void)arena;
    for (int kind = 1; result != NULL && kind <= KIND_COUNT; kind++) {
        for (size_t i = 0; i < wire->batch.release_count[kind]; i++) {
            if (result->released[kind].answers[i] == ANSWER_APPLIED)
                vanish(world, record_of(world, wire->batch.releases[kind][i].ref.id));
        }
    }
}

static void put_lost(struct world *world, const struct messages_put *in) {
    if (rng_chance(&world->rng, 1000))
        vanish(world, record_of(world, in->messages[0].id));
}

static void put_key_forgotten(struct world *world, struct messages_put *in) {
    (void)world;
    in->request = uuid_nil();
}

static void dedupe_forgotten(struct world *world, struct messages_put *in) {
    struct model *model = model_of(world);
    in->request = uuid_nil();
    while (model->dedupe.count > 0)
        model_dedupe_remove(model, model_table_each(&model->dedupe, NULL)->thing);
}

static void batch_key_forgotten(struct world *world, const struct wire *wire, struct work_batch *batch) {
    (void)world, (void)wire;
    batch->request = uuid_nil();
}

/* One granted message is also handed to the next worker that asks. */
static void hand_out_twice(struct world *world, struct wire *wire, struct work_batch_result *result,
                           struct arena *arena) {
    struct mutant_memory *memory = &world->mutant_memory;
    for (int kind = 1; result != NULL && kind <= KIND_COUNT; kind++) {
        struct item_list *list = &result->claimed[kind];
        if (memory->has_item && memory->worker != wire->worker && (int)memory->item.kind == kind) {
            struct item *items = arena_array(arena, list->count + 1, sizeof(*items));
            if (list->count > 0)
                memcpy(items, list->items, list->count * sizeof(*items));
            items[list->count] = memory->item;
            items[list->count].stream.ptr =
                arena_copy(arena, memory->item.stream.ptr, memory->item.stream.len);
            items[list->count].type.ptr = arena_copy(arena, memory->item.type.ptr, memory->item.type.len);
            *list = (struct item_list){items, list->count + 1};
            memory->has_item = false;
        } else if (!memory->has_item && list->count > 0) {
            mutant_forget(world);
            memory->arena = arena_create(0);
            memory->item = list->items[0];
            memory->item.stream.ptr =
                memory->item.stream.ptr != NULL
                    ? arena_copy(memory->arena, memory->item.stream.ptr, memory->item.stream.len)
                    : NULL;
            memory->item.type.ptr = arena_copy(memory->arena, memory->item.type.ptr, memory->item.type.len);
            memory->has_item = true;
            memory->worker = wire->worker;
        }
    }
}

static void expire_early(struct world *world, struct wire *wire, struct work_batch_result *result,
                         struct arena *arena) {
    (void)wire, (void)arena;
    for (int kind = 1; result != NULL && kind <= KIND_COUNT; kind++) {
        for (size_t i = 0; i < result->claimed[kind].count; i++) {
            struct record *record = record_of(world, result->claimed[kind].items[i].id);
            record->part->lease_until_ms = world_db_ms(world) + world->swarm.lease_ms / 5;
        }
    }
}

static void evict_living(struct world *world, const struct wire *wire) {
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

static void deaths_forgotten(struct world *world, struct wire *wire, struct work_batch_result *result,
                             struct arena *arena) {
    (void)wire, (void)result, (void)arena;
    each_record(world, forget_deaths);
}

static void forget_attempts(struct world *world, struct record *record) {
    (void)world;
    if (record->part == NULL && record->place == PLACE_ASIDE)
        record->attempts = 0;
}

static void attempts_forgotten(struct world *world, struct wire *wire, struct work_batch_result *result,
                               struct arena *arena) {
    (void)wire, (void)result, (void)arena;
    each_record(world, forget_attempts);
}

static void no_limit(struct world *world, const struct wire *wire, struct work_batch *batch) {
    (void)world, (void)wire;
    batch->max_attempts = 1000;
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
    int attempts = record->attempts, deaths = record->deaths;
    vanish(world, record);
    struct record *again = model_record_new(model, kind, &in, consumer);
    again->attempts = attempts;
    again->deaths = deaths;
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

static void retry_behind(struct world *world, struct wire *wire, struct work_batch_result *result,
                         struct arena *arena) {
    (void)wire, (void)result, (void)arena;
    each_record(world, failed_to_the_back);
}

static void expiry_behind(struct world *world, struct wire *wire, struct work_batch_result *result,
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

static void block_ignored(struct world *world, struct wire *wire, struct work_batch_result *result,
                          struct arena *arena) {
    (void)wire, (void)result, (void)arena;
    each_record(world, unblock);
}

static void lose_parked(struct world *world, struct record *record) {
    if (record->place == PLACE_DEAD && record->reason == DEAD_PARKED)
        vanish(world, record);
}

static void parked_lost(struct world *world, struct wire *wire, struct work_batch_result *result,
                        struct arena *arena) {
    (void)wire, (void)result, (void)arena;
    each_record(world, lose_parked);
}

static void lose_dead(struct world *world, struct record *record) {
    if (record->place == PLACE_DEAD && record->home->hold == 0)
        vanish(world, record);
}

static void dead_lost(struct world *world, struct wire *wire, struct work_batch_result *result,
                      struct arena *arena) {
    (void)wire, (void)result, (void)arena;
    each_record(world, lose_dead);
}

static void lose_behind(struct world *world, struct record *record) {
    if (record->place == PLACE_ASIDE && record->part == NULL && record->reason == ASIDE_BEHIND)
        vanish(world, record);
}

static void behind_lost(struct world *world, struct wire *wire, struct work_batch_result *result,
                        struct arena *arena) {
    (void)wire, (void)result, (void)arena;
    each_record(world, lose_behind);
}

static void redrive_lost(struct world *world, const struct dead_ref *ref) {
    vanish(world, model_record_find_seq(model_of(world), ref->kind, ref->seq));
}

static void token_reused(struct world *world, const struct wire *wire, struct work_batch *batch) {
    (void)wire, (void)batch;
    struct model *model = model_of(world);
    model->counter -= model->counter > 4 ? 3 : 0;
}

static void complete_early(struct world *world, int worker, const struct engine_run *run) {
    const struct item *item = run->items[0];
    struct complete_item complete = {{item->token, item->id}, item->kind == KIND_OUTBOX ? 2 : 4};
    struct messages_complete in = {engine_metrics(world->workers[worker].core).instance, item->kind,
                                   &complete, 1, false};
    struct arena *arena = arena_create(0);
    struct answer_list out = {0};
    world_clock(world, 0);
    if (world->store->ops->core.messages_complete(world->store, &in, arena, &out, NULL) == PAWL_OK)
        history_completed(&world->history, world_number(item->id), item->token, out.answers[0],
                          world_db_ms(world));
    arena_free(arena);
}

static void duplicates_applied(struct world *world, struct wire *wire, struct work_batch_result *result,
                               struct arena *arena) {
    (void)world, (void)arena;
    for (int kind = 1; result != NULL && kind <= KIND_COUNT; kind++) {
        for (size_t i = 0; i < wire->batch.completion_count[kind]; i++) {
            if (result->completed[kind].answers[i] == ANSWER_DUPLICATE)
                result->completed[kind].answers[i] = ANSWER_APPLIED;
        }
    }
}

static void swap_order(struct world *world, struct wire *wire, struct work_batch_result *result,
                       struct arena *arena) {
    (void)world, (void)wire, (void)arena;
    for (int kind = 1; result != NULL && kind <= KIND_COUNT; kind++) {
        struct item_list *list = &result->claimed[kind];
        for (size_t i = 1; i < list->count; i++) {
            struct item before = list->items[i - 1];
            if (before.token != list->items[i].token)
                continue;
            list->items[i - 1] = list->items[i];
            list->items[i] = before;
        }
    }
}

static void lose_claimed(struct world *world, struct record *record) {
    if (record->part != NULL && uuid_equal(record->part->instance, world->mutant_memory.leaver))
        vanish(world, record);
}

static void leaving_loses(struct world *world, const struct wire *wire) {
    world->mutant_memory.leaver = wire->instance;
    each_record(world, lose_claimed);
}

/* The worker counts its lease from the moment the answer arrived. */
static void lease_from_reply(struct world *world, const struct wire *wire, struct work_batch_result *result) {
    for (int kind = 1; kind <= KIND_COUNT; kind++) {
        for (size_t i = 0; i < result->claimed[kind].count; i++)
            result->claimed[kind].items[i].lease_until_ms += world->now_ms - wire->sent_ms;
    }
    result->lease_until_ms += world->now_ms - wire->sent_ms;
}

const struct mutant mutants[] = {
    {.name = "stale-completion",
     .what = "a completion under an old token counts",
     .after_batch = stale_completions},
    {.name = "stale-failure", .what = "a failure under an old token counts", .after_batch = stale_failures},
    {.name = "stale-release", .what = "a release under an old token counts", .after_batch = stale_releases},
    {.name = "stale-renewal", .what = "a lease that is over is renewed", .after_batch = stale_renewals},
    {.name = "renewal-lies",
     .what = "a renewal is acknowledged, not stored",
     .before_batch = renewals_dropped,
     .after_batch = renewals_promised},
    {.name = "completion-lies",
     .what = "a completion is acknowledged, not stored",
     .before_batch = completion_dropped,
     .after_batch = completion_promised},
    {.name = "failure-lies",
     .what = "a failure is acknowledged, not stored",
     .before_batch = failure_dropped,
     .after_batch = failure_promised},
    {.name = "release-loses", .what = "a released message is gone", .after_batch = releases_lost},
    {.name = "put-loses", .what = "a put is acknowledged, not stored", .after_put = put_lost},
    {.name = "put-key-forgotten", .what = "a repeated put is put again", .before_put = put_key_forgotten},
    {.name = "dedupe-forgotten", .what = "the inbox accepts an id twice", .before_put = dedupe_forgotten},
    {.name = "batch-key-forgotten",
     .what = "a repeated batch claims anew",
     .before_batch = batch_key_forgotten},
    {.name = "handed-out-twice",
     .what = "a claimed message goes to a second worker",
     .after_batch = hand_out_twice},
    {.name = "expires-early", .what = "claims end before their lease", .after_batch = expire_early},
    {.name = "evicts-living", .what = "a beat evicts peers whose lease is good", .after_beat = evict_living},
    {.name = "deaths-forgotten", .what = "worker deaths are not counted", .after_batch = deaths_forgotten},
    {.name = "attempts-forgotten", .what = "failures are not counted", .after_batch = attempts_forgotten},
    {.name = "no-limit", .what = "the limit of attempts is not kept", .before_batch = no_limit},
    {.name = "retry-behind",
     .what = "a failed message queues up behind its stream",
     .after_batch = retry_behind},
    {.name = "expiry-behind",
     .what = "an expired message queues up behind its stream",
     .after_batch = expiry_behind},
    {.name = "block-ignored", .what = "a blocked stream goes on", .after_batch = block_ignored},
    {.name = "parked-lost",
     .what = "messages parked behind a dead letter are gone",
     .after_batch = parked_lost},
    {.name = "dead-lost", .what = "dead letters are gone", .after_batch = dead_lost},
    {.name = "behind-lost",
     .what = "messages set aside behind a failure are gone",
     .after_batch = behind_lost},
    {.name = "redrive-lost", .what = "a redriven message is gone", .after_redrive = redrive_lost},
    {.name = "token-reused", .what = "the counter of the tokens goes back", .before_batch = token_reused},
    {.name = "completed-early", .what = "a message is completed when it starts", .started = complete_early},
    {.name = "duplicate-applied",
     .what = "a repeated completion counts again",
     .after_batch = duplicates_applied},
    {.name = "order-swapped", .what = "a claim is not in stream order", .after_batch = swap_order},
    {.name = "leaving-loses",
     .what = "what a leaving worker holds is gone",
     .before_deregister = leaving_loses},
    {.name = "wall-clock", .what = "leases are judged by the workers' clocks", .wall_clock = true},
    {.name = "slow-clock", .what = "a worker's clock is blind to suspension", .clock_ppm = -600000},
    {.name = "no-fence", .what = "nobody looks at the fence before a message begins", .unfenced = true},
    {.name = "lease-from-reply",
     .what = "a lease is counted from the reply",
     .before_reply = lease_from_reply},
};

const size_t mutant_count = sizeof(mutants) / sizeof(*mutants);
