/* The larger and rarer operations of the differential test: batches, dead letters, logs. */
#include <inttypes.h>
#include <string.h>

#include "base/str.h"
#include "base/uuid.h"
#include "conformance/differential/differential.h"
#include "support/check.h"

enum { ENDED_ITEMS = 3 };

/* A batch as each side gets it: the same, but for the tokens. */
struct batch_input {
    struct work_batch batch;
    struct item_ref refs[4][SIDES][CALL_ITEMS];
    struct complete_item completions[CALL_ITEMS];
    struct fail_item failures[CALL_ITEMS];
    struct release_item releases[CALL_ITEMS];
    size_t counts[4]; /* completions, failures, releases, renewals */
    enum store_kind kind;
    pawl_outgoing messages[KIND_COUNT + 1][CALL_ITEMS];
    struct receptor_report receptors[CALL_ITEMS];
    struct checkpoint_report checkpoints[CALL_ITEMS];
};

static void batch_reports(struct world *world, struct batch_input *in, const struct grant *grant) {
    static const char *const names[] = {"complete", "fail", "release", "renew"};
    in->kind = grant->kind;
    for (int i = 0; i < 4; i++) {
        if (chance(world, i == 0 ? 70 : 25))
            in->counts[i] = refs_pick(world, grant, in->refs[i]);
        describe(world, " %s", names[i]);
        describe_refs(world, in->refs[i][0], in->counts[i]);
    }
    for (size_t i = 0; i < in->counts[0]; i++)
        describe(world, " status=%d", in->completions[i].status = complete_status(world));
    for (size_t i = 0; i < in->counts[1]; i++)
        fail_input(world, &in->failures[i]);
    for (size_t i = 0; i < in->counts[2]; i++)
        in->releases[i].delay_ms = 100 * pick(world, 20);
}

static void batch_build(struct world *world, struct batch_input *in) {
    struct work_batch *batch = &in->batch;
    const struct grant *grant = grant_pick(world);
    pawl_uuid id = grant != NULL && chance(world, 70) ? grant->instance : live_pick(world);
    if (uuid_is_nil(id) || chance(world, 3)) {
        id = numbered_id(1, ++world->instances_made);
        world->instances[pick(world, WORLD_INSTANCES)] = id;
    }
    batch->instance = instance_input(world, id);
    if (grant != NULL)
        batch_reports(world, in, grant);
    for (int kind = KIND_OUTBOX; kind <= KIND_INBOX; kind++) {
        batch->messages[kind] = in->messages[kind];
        if (chance(world, 50))
            batch->message_count[kind] = messages_pick(world, (enum store_kind)kind, in->messages[kind], 3);
        if (chance(world, 60))
            batch->claim_max[kind] = 1 + pick(world, 8);
    }
    if (chance(world, 30))
        batch->consumer = STR("orders");
    batch->receptors = in->receptors;
    batch->checkpoints = in->checkpoints;
    if (chance(world, 20))
        batch->receptor_count = receptors_pick(world, in->receptors);
    if (chance(world, 20))
        batch->checkpoint_count = checkpoints_pick(world, in->checkpoints);
    batch->lease_ms = 1000 + 1000 * pick(world, 20);
    batch->max_attempts = chance(world, 70) ? 0 : 1 + pick(world, 4);
    batch->policy = chance(world, 50) ? POLICY_DEFAULT : (enum dead_policy)(1 + pick(world, 3));
    batch->flags = (chance(world, 15) ? BATCH_SKIP_CLAIM : 0) | (chance(world, 5) ? BATCH_DEBUG : 0) |
                   (chance(world, 20) ? BATCH_LANES : 0);
    batch->request = request_pick(world);
    describe(world, " kind=%d flags=%d claim=%d,%d put=%zu,%zu policy=%d", (int)in->kind, batch->flags,
             batch->claim_max[1], batch->claim_max[2], batch->message_count[1], batch->message_count[2],
             (int)batch->policy);
    describe_id(world, "instance", id);
    describe_id(world, "request", batch->request);
}

/* The batch with the tokens of one side. */
static void batch_for_side(struct batch_input *in, int s) {
    struct work_batch *batch = &in->batch;
    if (in->kind == 0)
        return;
    for (size_t i = 0; i < in->counts[0]; i++)
        in->completions[i].ref = in->refs[0][s][i];
    for (size_t i = 0; i < in->counts[1]; i++)
        in->failures[i].ref = in->refs[1][s][i];
    for (size_t i = 0; i < in->counts[2]; i++)
        in->releases[i].ref = in->refs[2][s][i];
    batch->completions[in->kind] = in->completions;
    batch->completion_count[in->kind] = in->counts[0];
    batch->failures[in->kind] = in->failures;
    batch->failure_count[in->kind] = in->counts[1];
    batch->releases[in->kind] = in->releases;
    batch->release_count[in->kind] = in->counts[2];
    batch->renewals[in->kind] = in->refs[3][s];
    batch->renewal_count[in->kind] = in->counts[3];
}

static void say_batch(struct world *world, int s, const struct batch_input *in,
                      const struct work_batch_result *out) {
    struct side *side = &world->side[s];
    say(side, " now=%" PRId64 " until=%" PRId64, out->now_ms, out->lease_until_ms);
    for (int kind = KIND_OUTBOX; kind <= KIND_COUNT; kind++) {
        say_answers(side, "renew", &out->renewed[kind]);
        say_answers(side, "complete", &out->completed[kind]);
        say_answers(side, "fail", &out->failed[kind]);
        say_answers(side, "release", &out->released[kind]);
        say_put(side, &out->put[kind], in->batch.message_count[kind]);
        say_items(world, s, &out->claimed[kind]);
        say(side, " lanes");
        for (size_t i = 0; i < out->lane_count[kind]; i++)
            say(side, " %d", out->lanes[kind][i]);
    }
    say_answers(side, "receptors", &out->receptors);
    say_answers(side, "checkpoints", &out->checkpoints);
}

void operation_batch(struct world *world) {
    struct batch_input in = {0};
    struct work_batch_result out[SIDES] = {0};
    describe(world, "batch");
    batch_build(world, &in);
    for (int s = 0; s < SIDES; s++) {
        pawl_error err = {0};
        struct side *side = &world->side[s];
        batch_for_side(&in, s);
        if (say_status(world, s,
                       CORE(world, s)->batch_process(side->store, &in.batch, side->arena, &out[s], &err),
                       &err))
            say_batch(world, s, &in, &out[s]);
    }
    for (int kind = KIND_OUTBOX; kind <= KIND_COUNT; kind++) {
        const struct item_list lists[SIDES] = {out[0].claimed[kind], out[1].claimed[kind]};
        size_t before = world->grant_count;
        grant_note(world, lists);
        for (; before < world->grant_count; before++)
            world->grants[before % WORLD_GRANTS].instance = in.batch.instance.id;
    }
}

enum ended_operation { ENDED_REDRIVE, ENDED_DISCARD, ENDED_FORGET, ENDED_EDIT };

/* Runs the operation on one side with its own seqs; a place behind the last row stands for an unknown letter.
 */
static void ended_side(struct world *world, int s, enum ended_operation operation,
                       const struct message_rows *rows, const struct message_filter *filter,
                       const size_t *places) {
    pawl_error err = {0};
    struct answer_list out = {0};
    struct side *side = &world->side[s];
    struct dead_ref refs[ENDED_ITEMS];
    for (size_t i = 0; i < ENDED_ITEMS; i++)
        refs[i] = (struct dead_ref){filter->kind, places[i] < rows->count ? rows->rows[places[i]].item.seq
                                                                          : INT64_C(1) << 50};
    if (operation == ENDED_FORGET) {
        int64_t removed = 0;
        pawl_status forgot = CORE(world, s)->history_remove(side->store, refs, ENDED_ITEMS, &removed, &err);
        if (say_status(world, s, forgot, &err))
            say(side, " removed %" PRId64, removed);
        return;
    }
    if (operation == ENDED_EDIT) {
        enum store_answer answer = ANSWER_STALE;
        pawl_status edited =
            CORE(world, s)->dead_edit(side->store, &refs[0], STR("{\"edited\": 1}"), &answer, &err);
        if (say_status(world, s, edited, &err))
            say(side, " edited %d", (int)answer);
        return;
    }
    pawl_status status =
        operation == ENDED_REDRIVE
            ? CORE(world, s)->dead_redrive(side->store, refs, ENDED_ITEMS, side->arena, &out, &err)
            : CORE(world, s)->dead_discard(side->store, refs, ENDED_ITEMS, side->arena, &out, &err);
    if (say_status(world, s, status, &err))
        say_answers(side, "dead", &out);
}

/* Ended messages are named by seq, and each side has its own: they are looked up, then named by their place.
 */
void operation_dead(struct world *world) {
    static const char *const names[] = {"redrive", "discard", "history_remove", "edit"};
    static const enum ended_operation mix[] = {ENDED_REDRIVE, ENDED_REDRIVE, ENDED_REDRIVE,
                                               ENDED_DISCARD, ENDED_FORGET,  ENDED_EDIT};
    enum ended_operation operation = mix[pick(world, 6)];
    struct message_rows rows[SIDES] = {{.count = 0}, {.count = 0}};
    const struct message_filter filter = {.kind = chance(world, 50) ? KIND_OUTBOX : KIND_INBOX,
                                          .state = operation == ENDED_FORGET ? STATE_DONE : STATE_DEAD,
                                          .lane = -1,
                                          .limit = 200};
    describe(world, "%s kind=%d", names[operation], (int)filter.kind);
    for (int s = 0; s < SIDES; s++) {
        pawl_error err = {0};
        struct side *side = &world->side[s];
        if (!say_status(world, s, VIEW(world, s)->messages(side->store, &filter, side->arena, &rows[s], &err),
                        &err))
            return;
        say(side, " of %zu:", rows[s].count);
    }
    if (rows[0].count != rows[1].count)
        return;
    size_t places[ENDED_ITEMS];
    for (size_t i = 0; i < ENDED_ITEMS; i++) {
        places[i] = (size_t)pick(world, (int)rows[0].count + 1);
        describe(world, " %zu", places[i]);
        if (places[i] < rows[0].count)
            describe_id(world, "id", rows[0].rows[places[i]].item.id);
    }
    for (int s = 0; s < SIDES; s++)
        ended_side(world, s, operation, &rows[s], &filter, places);
}

void operation_log(struct world *world) {
    struct receptor_report receptors[CALL_ITEMS];
    struct checkpoint_report checkpoints[CALL_ITEMS];
    bool receptor = chance(world, 50);
    size_t count = receptor ? receptors_pick(world, receptors) : checkpoints_pick(world, checkpoints);
    describe(world, "%s %zu", receptor ? "receptors" : "checkpoints", count);
    for (int s = 0; s < SIDES; s++) {
        pawl_error err = {0};
        struct answer_list out = {0};
        struct side *side = &world->side[s];
        pawl_status status =
            receptor
                ? CORE(world, s)->receptors_report(side->store, receptors, count, side->arena, &out, &err)
                : CORE(world, s)->checkpoints_report(
                      side->store, &(struct checkpoints_report){uuid_nil(), checkpoints, count}, side->arena,
                      &out, &err);
        if (say_status(world, s, status, &err))
            say_answers(side, "log", &out);
    }
}
