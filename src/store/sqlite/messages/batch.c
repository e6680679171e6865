/* The batch on SQLite: one transaction; each step is the operation of the same name. */
#include "store/sqlite/file/operation.h"

#include "base/error.h"
#include "base/str.h"
#include "base/uuid.h"
#include "store/batch.h"
#include "store/sqlite/claims/claim.h"
#include "store/sqlite/claims/report.h"
#include "store/sqlite/events/events.h"
#include "store/sqlite/fleet/instance.h"
#include "store/sqlite/fleet/lane.h"
#include "store/sqlite/messages/put.h"

/* A beat younger than this is not renewed by a batch. */
enum { BEAT_AGE_MS = 1000 };

/* One batch while it runs. */
struct batching {
    struct operation *op;
    const struct work_batch *in;
    struct arena *arena;
    struct work_batch_result *out;
    bool used; /* the request key was used before */
};

static bool wants_claims(const struct work_batch *in) {
    bool any = false;
    for (int kind = 1; kind <= KIND_COUNT; kind++)
        any = any || in->claim_max[kind] > 0;
    return (any || in->checkpoint_max > 0) && (in->flags & BATCH_SKIP_CLAIM) == 0;
}

/* Registers an unknown instance; a known one is beaten when its beat is old. */
static pawl_status enter(struct batching *b) {
    struct operation *op = b->op;
    const struct instance_new *in = &b->in->instance;
    struct instance_brief brief;
    struct beat_result beat = {0};
    bool known = false;
    char text[UUID_TEXT_BYTES];
    pawl_status status = instance_read(op, in->id, &brief, &known);
    if (status != PAWL_OK)
        return status;
    if (!known) {
        status = instance_enter(op, in, &beat);
        if (status == PAWL_CONFLICT) /* the row is gone and the tombstone is there */
            status = error_set(op->err, PAWL_STALE, op->name,
                               "instance %s was evicted and removed: drop its work and use a fresh id",
                               uuid_format(in->id, text));
        b->out->lease_until_ms = beat.lease_until_ms;
        return status;
    }
    if (in->partition_count != 0 && in->partition_count != op->settings.partition_count)
        return error_set(
            op->err, PAWL_INVALID, op->name,
            "partition_count %d differs from the schema's %d, which is fixed: leave it out or name that",
            in->partition_count, op->settings.partition_count);
    status = instance_must_be_active(op, in->id, &brief);
    if (status == PAWL_OK && op->now_ms - brief.beat_ms >= BEAT_AGE_MS)
        status = instance_touch(op, &brief, &beat);
    else if (status == PAWL_OK && wants_claims(b->in))
        status = instance_must_be_live(op, in->id);
    b->out->lease_until_ms = brief.lease_until_ms;
    return status;
}

static pawl_status report(struct batching *b, int kind) {
    struct work_batch_result *out = b->out;
    const struct messages_renew renew = batch_renew(b->in, kind);
    const struct messages_complete complete = batch_complete(b->in, kind);
    const struct messages_fail fail = batch_fail(b->in, kind);
    const struct messages_release release = batch_release(b->in, kind);
    TRY(items_renew(b->op, &renew, b->arena, &out->renewed[kind]));
    TRY(items_complete(b->op, &complete, b->arena, &out->completed[kind]));
    TRY(items_fail(b->op, &fail, b->arena, &out->failed[kind]));
    return items_release(b->op, &release, b->arena, &out->released[kind]);
}

static pawl_status put(struct batching *b, int kind) {
    const struct messages_put in = batch_put(b->in, kind);
    return put_messages(b->op, &in, b->used, b->arena, &b->out->put[kind]);
}

static pawl_status log_reports(struct batching *b) {
    struct work_batch_result *out = b->out;
    const struct checkpoints_renew renew = batch_checkpoints_renew(b->in);
    const struct checkpoints_report checkpoints = batch_checkpoints(b->in);
    TRY(log_receptors(b->op, b->in->receptors, b->in->receptor_count, b->arena, &out->receptors));
    TRY(checkpoints_extend(b->op, &renew, b->arena, &out->checkpoint_renewals));
    return log_checkpoints(b->op, &checkpoints, b->arena, &out->checkpoints);
}

static pawl_status claim(struct batching *b, int kind) {
    const struct messages_claim in = batch_claim(b->in, kind);
    return b->used ? claim_again(b->op, &in, b->arena, &b->out->claimed[kind])
                   : claim_messages(b->op, &in, b->arena, &b->out->claimed[kind]);
}

static pawl_status run(struct batching *b) {
    TRY(enter(b));
    TRY(request_use(b->op, b->in->request, &b->used));
    for (int kind = 1; kind <= KIND_COUNT; kind++) {
        TRY(report(b, kind));
        TRY(put(b, kind));
    }
    TRY(log_reports(b));
    for (int kind = 1; kind <= KIND_COUNT && wants_claims(b->in); kind++)
        if (b->in->claim_max[kind] > 0)
            TRY(claim(b, kind));
    if (wants_claims(b->in) && b->in->checkpoint_max > 0)
        TRY(checkpoints_batch(b->op, b->in, b->used, b->arena, &b->out->granted));
    const bool lanes_wanted = (b->in->flags & BATCH_LANES) != 0;
    for (int kind = 1; kind <= KIND_COUNT && lanes_wanted; kind++)
        TRY(lane_list_owned(b->op, (enum store_kind)kind, b->in->instance.id, b->arena, &b->out->lanes[kind],
                            &b->out->lane_count[kind]));
    b->out->now_ms = b->op->now_ms;
    return PAWL_OK;
}

pawl_status sqlite_batch_process(struct store *store, const struct work_batch *in, struct arena *arena,
                                 struct work_batch_result *out, pawl_error *err) {
    struct operation op = operation_write(store, "batch_process", check_batch(in, err), err);
    struct work_batch_result result = {0};
    struct batching b = {.op = &op, .in = in, .arena = arena, .out = &result};
    return operation_give(&op, run(&b), out, &result);
}
