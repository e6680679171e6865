/* Seeded bugs of jobs, schedules, runs and events that are more than a statement. */
#include "base/uuid.h"
#include "sim/mutants/mutants_int.h"

/* Every second completion is stored as something else; the wire keeps which. */
void mutant_completions_released(struct world *world, struct wire *wire) {
    struct jobs_finish *in = wire->data;
    (void)world;
    if (wire->call != &jobs_finish_call)
        return;
    for (size_t i = 0; i < in->count; i++) {
        struct finish_item *item = (struct finish_item *)&in->items[i];
        if (item->outcome == JOB_COMPLETE && item->ref.id % 2 == 0) {
            item->outcome = JOB_RELEASE;
            item->error_class = CLASS_PERMANENT; /* so that it is known again */
        }
    }
}

void mutant_completions_claimed(struct world *world, struct wire *wire, struct delivery *delivery) {
    struct jobs_finish *in = wire->data;
    (void)world, (void)delivery;
    if (wire->call != &jobs_finish_call)
        return;
    for (size_t i = 0; i < in->count; i++) {
        struct finish_item *item = (struct finish_item *)&in->items[i];
        if (item->outcome == JOB_RELEASE && item->error_class == CLASS_PERMANENT)
            item->outcome = JOB_COMPLETE;
    }
}

static void answers_become(struct wire *wire, struct delivery *delivery, enum store_answer from) {
    const struct jobs_finish *in = wire->data;
    struct finish_result *result = delivery->answer;
    if (wire->call != &jobs_finish_call)
        return;
    for (size_t i = 0; i < in->count; i++) {
        if (result->answers[i] == from)
            result->answers[i] = ANSWER_APPLIED;
    }
}

void mutant_job_stale_applied(struct world *world, struct wire *wire, struct delivery *delivery) {
    (void)world;
    answers_become(wire, delivery, ANSWER_STALE);
}

void mutant_job_duplicate_applied(struct world *world, struct wire *wire, struct delivery *delivery) {
    (void)world;
    answers_become(wire, delivery, ANSWER_DUPLICATE);
}

void mutant_renewal_short(struct world *world, struct wire *wire) {
    (void)world;
    if (wire->call == &jobs_renew_call)
        ((struct jobs_renew *)wire->data)->lease_ms = PAWL_LEASE_MS_MIN;
}

void mutant_renewal_said(struct world *world, struct wire *wire, struct delivery *delivery) {
    (void)delivery;
    if (wire->call == &jobs_renew_call)
        ((struct jobs_renew *)wire->data)->lease_ms = world->swarm.lease_ms;
}

void mutant_enqueue_key_forgotten(struct world *world, struct jobs_enqueue *in) {
    (void)world;
    in->request = uuid_nil();
}

void mutant_unique_forgotten(struct world *world, struct jobs_enqueue *in) {
    (void)world;
    for (size_t i = 0; i < in->count; i++)
        ((struct job_new *)&in->jobs[i])->unique_key = (pawl_str){NULL, 0};
}

static void job_vanishes(struct world *world, int64_t id) {
    struct ground_values values = {{id}, 1, NULL};
    ground_run(world->ground, "DELETE FROM pawl_job WHERE id = ?1 AND state <> 2", &values);
    mutant_tally(world);
}

void mutant_enqueue_lost(struct world *world, struct wire *wire, struct delivery *delivery) {
    const struct enqueue_result *result = delivery->answer;
    if (wire->call == &jobs_enqueue_call && result->answers[0] == ANSWER_APPLIED &&
        rng_chance(&world->rng, 1000))
        job_vanishes(world, result->ids[0]);
}

void mutant_job_redrive_lost(struct world *world, int64_t id) { job_vanishes(world, id); }

void mutant_cancel_forgotten(struct world *world, int64_t id) {
    struct ground_values values = {{id}, 1, NULL};
    ground_run(world->ground, "UPDATE pawl_job SET cancel_ms = 0 WHERE id = ?1 AND cancel_ms > 0", &values);
}

void mutant_append_key_forgotten(struct world *world, struct events_append *in) {
    for (size_t i = 0; i < in->count; i++) {
        pawl_event *event = (pawl_event *)&in->events[i];
        event->id.b[0] = (uint8_t)rng_next(&world->rng);
        event->id.b[1] = (uint8_t)rng_next(&world->rng);
    }
}

void mutant_duty_kept(struct world *world, struct wire *wire, struct delivery *delivery) {
    struct mutant_memory *memory = &world->mutant_memory;
    struct duty_grant *grant = delivery->answer;
    if (wire->call != &duty_take_call || !grant->held)
        return;
    if (!memory->has_holder)
        memory->holder = wire->instance;
    memory->has_holder = true;
    grant->held = uuid_equal(memory->holder, wire->instance);
}

/* Every caller is taken for the holder. */
void mutant_duty_unchecked(struct world *world, struct messages_receive *in) {
    struct arena *arena = arena_create(0);
    struct duty_rows rows = {0};
    pawl_error error;
    if (world->store->ops->relay->duties(world->store, arena, &rows, &error) == PAWL_OK && rows.count == 1) {
        in->token = rows.rows[0].token;
        in->instance = rows.rows[0].instance;
    }
    arena_free(arena);
}

void mutant_rebuild_forgets(struct world *world, const char *perspective) {
    ground_run(world->ground,
               perspective[2] == '1'
                   ? "UPDATE pawl_checkpoint SET version = (SELECT s.version FROM pawl_stream AS s WHERE"
                     " s.stream = pawl_checkpoint.stream) WHERE perspective = 'p@1' AND version = 0"
                   : "UPDATE pawl_checkpoint SET version = (SELECT s.version FROM pawl_stream AS s WHERE"
                     " s.stream = pawl_checkpoint.stream) WHERE perspective = 'p@2' AND version = 0",
               &(struct ground_values){0});
}

void mutant_switch_early(struct world *world, struct switch_result *out) {
    (void)world;
    if (out->answer == ANSWER_CONFLICT)
        out->answer = ANSWER_APPLIED;
}

void mutant_checkpoint_stale_applied(struct world *world, struct wire *wire, struct delivery *delivery) {
    struct answer_list *out = delivery->answer;
    (void)world;
    bool reports = wire->call == &checkpoint_report_call || wire->call == &exchange_call;
    for (size_t i = 0; reports && i < out->count; i++) {
        if (out->answers[i] == ANSWER_STALE)
            out->answers[i] = ANSWER_APPLIED;
    }
}

void mutant_notes_shared(struct world *world, struct wire *wire, struct delivery *delivery) {
    unsigned *done = delivery->answer;
    (void)world;
    if (wire->call == &recall_call && *done != 0)
        *done = ~0u;
}
