/* Seeded bugs of the protocol that change what is asked or answered. */
#include <string.h>

#include "base/uuid.h"
#include "sim/mutants/mutants_int.h"

/* The instance that holds a message now, and its token; false: it is not in flight. */
static bool holder_of(struct world *world, pawl_uuid id, struct arena *arena, struct message_row *holder) {
    struct message_rows rows = {0};
    pawl_error error;
    if (world->store->ops->view.message_find(world->store, id, arena, &rows, &error) != PAWL_OK)
        return false;
    for (size_t i = 0; i < rows.count; i++) {
        if (rows.rows[i].state == STATE_LEASED) {
            *holder = rows.rows[i];
            return true;
        }
    }
    return false;
}

/* Reports under an old token count for the instance that holds the message now. */
void mutant_stale_completions(struct world *world, struct wire *wire, struct work_batch_result *result,
                              struct arena *arena) {
    for (int kind = 1; result != NULL && kind <= KIND_COUNT; kind++) {
        for (size_t i = 0; i < wire->batch.completion_count[kind]; i++) {
            struct complete_item item = wire->batch.completions[kind][i];
            struct message_row holder;
            if (result->completed[kind].answers[i] != ANSWER_STALE ||
                !holder_of(world, item.ref.id, arena, &holder))
                continue;
            item.ref.token = holder.item.token;
            struct messages_complete in = {holder.claimed_by, (enum store_kind)kind, &item, 1, false};
            struct answer_list out = {0};
            if (world->store->ops->core.messages_complete(world->store, &in, arena, &out, NULL) == PAWL_OK)
                result->completed[kind].answers[i] = out.answers[0];
        }
    }
}

void mutant_stale_failures(struct world *world, struct wire *wire, struct work_batch_result *result,
                           struct arena *arena) {
    for (int kind = 1; result != NULL && kind <= KIND_COUNT; kind++) {
        for (size_t i = 0; i < wire->batch.failure_count[kind]; i++) {
            struct fail_item item = wire->batch.failures[kind][i];
            struct message_row holder;
            if (result->failed[kind].answers[i] != ANSWER_STALE ||
                !holder_of(world, item.ref.id, arena, &holder))
                continue;
            item.ref.token = holder.item.token;
            struct messages_fail in = {holder.claimed_by, (enum store_kind)kind, &item, 1};
            struct answer_list out = {0};
            if (world->store->ops->core.messages_fail(world->store, &in, arena, &out, NULL) != PAWL_OK)
                continue;
            result->failed[kind].answers[i] = out.answers[0];
            result->failed[kind].outcomes[i] = out.outcomes[0];
        }
    }
}

void mutant_stale_releases(struct world *world, struct wire *wire, struct work_batch_result *result,
                           struct arena *arena) {
    for (int kind = 1; result != NULL && kind <= KIND_COUNT; kind++) {
        for (size_t i = 0; i < wire->batch.release_count[kind]; i++) {
            struct release_item item = wire->batch.releases[kind][i];
            struct message_row holder;
            if (result->released[kind].answers[i] != ANSWER_STALE ||
                !holder_of(world, item.ref.id, arena, &holder))
                continue;
            item.ref.token = holder.item.token;
            struct messages_release in = {holder.claimed_by, (enum store_kind)kind, &item, 1};
            struct answer_list out = {0};
            if (world->store->ops->core.messages_release(world->store, &in, arena, &out, NULL) == PAWL_OK)
                result->released[kind].answers[i] = out.answers[0];
        }
    }
}

void mutant_stale_renewals(struct world *world, struct wire *wire, struct work_batch_result *result,
                           struct arena *arena) {
    (void)world, (void)arena;
    for (int kind = 1; result != NULL && kind <= KIND_COUNT; kind++) {
        for (size_t i = 0; i < wire->batch.renewal_count[kind]; i++) {
            if (result->renewed[kind].answers[i] == ANSWER_STALE)
                result->renewed[kind].answers[i] = ANSWER_APPLIED;
        }
    }
}

void mutant_renewals_dropped(struct world *world, const struct wire *wire, struct work_batch *batch) {
    (void)world, (void)wire;
    memset(batch->renewal_count, 0, sizeof(batch->renewal_count));
}

static enum store_answer *answers_all(struct arena *arena, size_t count) {
    enum store_answer *answers = arena_array(arena, count, sizeof(*answers));
    for (size_t i = 0; i < count; i++)
        answers[i] = ANSWER_APPLIED;
    return answers;
}

void mutant_renewals_promised(struct world *world, struct wire *wire, struct work_batch_result *result,
                              struct arena *arena) {
    (void)world;
    for (int kind = 1; result != NULL && kind <= KIND_COUNT; kind++) {
        size_t count = wire->batch.renewal_count[kind];
        result->renewed[kind] = (struct answer_list){answers_all(arena, count), NULL, count};
    }
}

/* The last report of each list does not reach the store, but is acknowledged. */
void mutant_completion_dropped(struct world *world, const struct wire *wire, struct work_batch *batch) {
    (void)world, (void)wire;
    for (int kind = 1; kind <= KIND_COUNT; kind++)
        batch->completion_count[kind] -= batch->completion_count[kind] > 0;
}

void mutant_completion_promised(struct world *world, struct wire *wire, struct work_batch_result *result,
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

void mutant_failure_dropped(struct world *world, const struct wire *wire, struct work_batch *batch) {
    (void)world, (void)wire;
    memset(batch->failure_count, 0, sizeof(batch->failure_count));
}

void mutant_failure_promised(struct world *world, struct wire *wire, struct work_batch_result *result,
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

void mutant_put_key_forgotten(struct world *world, struct messages_put *in) {
    (void)world;
    in->request = uuid_nil();
}

void mutant_batch_key_forgotten(struct world *world, const struct wire *wire, struct work_batch *batch) {
    (void)world, (void)wire;
    batch->request = uuid_nil();
}

/* One granted message is also handed to the next worker that asks. */
void mutant_hand_out_twice(struct world *world, struct wire *wire, struct work_batch_result *result,
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

void mutant_no_limit(struct world *world, const struct wire *wire, struct work_batch *batch) {
    (void)world, (void)wire;
    batch->max_attempts = 1000;
}

void mutant_complete_early(struct world *world, int worker, const struct engine_run *run) {
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

void mutant_duplicates_applied(struct world *world, struct wire *wire, struct work_batch_result *result,
                               struct arena *arena) {
    (void)world, (void)arena;
    for (int kind = 1; result != NULL && kind <= KIND_COUNT; kind++) {
        for (size_t i = 0; i < wire->batch.completion_count[kind]; i++) {
            if (result->completed[kind].answers[i] == ANSWER_DUPLICATE)
                result->completed[kind].answers[i] = ANSWER_APPLIED;
        }
    }
}

void mutant_swap_order(struct world *world, struct wire *wire, struct work_batch_result *result,
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

/* The worker counts its lease from the moment the answer arrived. */
void mutant_lease_from_reply(struct world *world, const struct wire *wire, struct work_batch_result *result) {
    for (int kind = 1; kind <= KIND_COUNT; kind++) {
        for (size_t i = 0; i < result->claimed[kind].count; i++)
            result->claimed[kind].items[i].lease_until_ms += world->now_ms - wire->sent_ms;
    }
    result->lease_until_ms += world->now_ms - wire->sent_ms;
}
