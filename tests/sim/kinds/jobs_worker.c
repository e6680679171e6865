/* The job side of a simulated worker: the real core of the jobs, and its calls of the store. */
#include <stdlib.h>

#include "base/str.h"
#include "base/uuid.h"
#include "sim/kinds/jobs_int.h"
#include "sim/world/alloc.h"

enum { STEPS_MAX = 10000 };

static int match(void *self, const struct job *job) {
    const struct worker *worker = self;
    int rule = job->type.ptr[0] == 'j' ? job->type.ptr[1] - '0' : 0;
    return rule == worker->no_handler && !worker->world->healed ? -1 : rule;
}

void job_worker_start(struct world *world, int index) {
    struct worker *worker = &world->workers[index];
    const struct swarm *swarm = &world->swarm;
    if (!swarm_has_jobs(swarm))
        return;
    struct job_worker *side = sim_alloc(sizeof(*side));
    for (int i = 0; i < 2; i++)
        side->rules[i] = (struct job_rule){.bundled = swarm->handlers[0].bundled && i == 0,
                                           .concurrency = i == 1 ? swarm->handlers[0].concurrency : 0,
                                           .timeout_ms = swarm->handlers[0].timeout_ms,
                                           .retry_base_ms = swarm->handlers[0].retry_base_ms,
                                           .retry_max_ms = swarm->handlers[0].retry_max_ms};
    struct job_core_config config = {.slots = swarm->slots,
                                     .batch = swarm->batch > swarm->slots ? swarm->batch : swarm->slots,
                                     .lease_ms = swarm->lease_ms,
                                     .poll_ms = swarm->poll_ms,
                                     .drain_ms = swarm->drain_ms,
                                     .settle_ms = swarm->heartbeat_ms,
                                     .rules = side->rules,
                                     .rule_count = 2,
                                     .match = match,
                                     .match_self = worker,
                                     .seed = rng_next(&world->rng)};
    side->core = job_core_create(&config);
    if (side->core == NULL)
        abort();
    side->slots = job_slots_new(swarm->slots);
    worker->jobs = side;
    engine_hold(worker->core, true);
}

/* Grants that the core still has are freed with the worker, as a process frees them by ending. */
void job_worker_free(struct worker *worker) {
    if (worker->jobs == NULL)
        return;
    job_core_free(worker->jobs->core);
    job_slots_free(worker->jobs->slots, worker->world->swarm.slots);
    free(worker->jobs);
    worker->jobs = NULL;
}

void job_worker_dies(struct world *world, int index) { job_slots_die(world, index); }

/* What became of a call, for the core. */
struct job_answer {
    struct finish_result finish;
    struct renew_result renew;
    struct grants_settled settled;
};

static struct job_answer *answer_new(struct delivery *delivery) {
    struct job_answer *answer = arena_alloc(delivery->arena, sizeof(*answer));
    if (answer == NULL)
        abort();
    *answer = (struct job_answer){0};
    delivery->answer = answer;
    return answer;
}

static pawl_status execute_finish(struct world *world, struct wire *wire, struct delivery *delivery) {
    const struct jobs_finish *in = wire->data;
    struct job_answer *answer = answer_new(delivery);
    pawl_status status =
        world->store->ops->jobs->finish(world->store, in, delivery->arena, &answer->finish, &wire->error);
    if (status != PAWL_OK)
        return status;
    mutant_after_call(world, wire, delivery);
    int instance = world_number(in->instance);
    for (size_t i = 0; i < in->count; i++) {
        world_note(world, "job report", in->items[i].ref.id, (int64_t)in->items[i].outcome,
                   (int64_t)answer->finish.answers[i]);
        history_job_reported(&world->kinds.jobs, instance, &in->items[i], answer->finish.answers[i],
                             answer->finish.results[i], world_db_ms(world));
        const struct sim_job *job = sim_job(world, in->items[i].ref.id);
        if (job->kind == SIM_JOB_FAN && in->items[i].outcome == JOB_COMPLETE &&
            answer->finish.answers[i] == ANSWER_APPLIED)
            world->kinds.runs[job->run].history.fans_done++;
    }
    sim_jobs_tell_grants(world, &answer->finish.jobs, instance);
    return PAWL_OK;
}

/* The core takes over what was granted, with the memory it is in. */
static void reply_finish(struct world *world, struct wire *wire) {
    struct worker *worker = &world->workers[wire->worker];
    struct delivery *delivery = wire->status == PAWL_OK ? wire->delivery : NULL;
    struct finish_result none = {0};
    const struct finish_result *result = &none;
    if (delivery != NULL) {
        wire->delivery = NULL;
        delivery->prev = worker->held.prev;
        delivery->next = &worker->held;
        delivery->prev->next = delivery;
        worker->held.prev = delivery;
        result = &((struct job_answer *)delivery->answer)->finish;
    }
    worker->jobs->calling = false;
    if (wire->status == PAWL_STALE)
        worker->jobs->instance = uuid_nil();
    job_core_finished_call(worker->jobs->core, worker_boot_ms(worker, wire->sent_ms),
                           worker_boot_ms(worker, world->now_ms), wire->status, result, delivery);
    job_worker_pump(world, wire->worker);
}

static pawl_status execute_renew(struct world *world, struct wire *wire, struct delivery *delivery) {
    const struct jobs_renew *in = wire->data;
    struct job_answer *answer = answer_new(delivery);
    pawl_status status =
        world->store->ops->jobs->renew(world->store, in, delivery->arena, &answer->renew, &wire->error);
    if (status != PAWL_OK)
        return status;
    mutant_after_call(world, wire, delivery);
    for (size_t i = 0; i < in->count; i++) {
        world_note(world, "job renew", in->items[i].ref.id, in->items[i].ref.token,
                   (int64_t)answer->renew.answers[i]);
        history_job_renewed(&world->kinds.jobs, world_number(in->instance), in->items[i].ref,
                            answer->renew.answers[i], in->lease_ms, world_db_ms(world));
    }
    return PAWL_OK;
}

static void reply_renew(struct world *world, struct wire *wire) {
    struct worker *worker = &world->workers[wire->worker];
    struct renew_result none = {0};
    worker->jobs->calling = false;
    job_core_renewed(worker->jobs->core, worker_boot_ms(worker, wire->sent_ms),
                     worker_boot_ms(worker, world->now_ms), wire->status,
                     wire->status == PAWL_OK ? &((struct job_answer *)wire->delivery->answer)->renew : &none);
    job_worker_pump(world, wire->worker);
}

static pawl_status execute_settle(struct world *world, struct wire *wire, struct delivery *delivery) {
    const struct grants_settle *in = wire->data;
    struct job_answer *answer = answer_new(delivery);
    pawl_status status =
        world->store->ops->core.grants_settle(world->store, in, &answer->settled, &wire->error);
    if (status == PAWL_OK)
        history_jobs_settled(&world->kinds.jobs, world_number(in->instance), in, world_db_ms(world));
    return status;
}

static void reply_settle(struct world *world, struct wire *wire) {
    struct worker *worker = &world->workers[wire->worker];
    struct grants_settled none = {0};
    worker->jobs->calling = false;
    job_core_settled(worker->jobs->core, worker_boot_ms(worker, world->now_ms), wire->status,
                     wire->status == PAWL_OK ? &((struct job_answer *)wire->delivery->answer)->settled
                                             : &none);
    job_worker_pump(world, wire->worker);
}

const struct wire_call jobs_finish_call = {"jobs finish", execute_finish, reply_finish};
const struct wire_call jobs_renew_call = {"jobs renew", execute_renew, reply_renew};
const struct wire_call jobs_settle_call = {"jobs settle", execute_settle, reply_settle};

/* The request outlives the core that made it: all of it is copied. */
static void send_finish(struct world *world, int index, const struct jobs_finish *in) {
    struct wire *wire = wire_call_new(world, index, &jobs_finish_call, sizeof(*in));
    struct jobs_finish *copy = wire->data;
    *copy = *in;
    struct finish_item *items =
        (struct finish_item *)wire_copy(wire, in->items, in->count, sizeof(struct finish_item));
    for (size_t i = 0; i < in->count; i++) {
        items[i].error = wire_copy_text(wire, items[i].error);
        items[i].wait_key = wire_copy_text(wire, items[i].wait_key);
        items[i].wait_step = wire_copy_text(wire, items[i].wait_step);
    }
    copy->items = items;
    wire_call_send(world, wire, 0);
}

static void send_renew(struct world *world, int index, const struct jobs_renew *in) {
    struct wire *wire = wire_call_new(world, index, &jobs_renew_call, sizeof(*in));
    struct jobs_renew *copy = wire->data;
    *copy = *in;
    copy->items = wire_copy(wire, in->items, in->count, sizeof(struct renew_item));
    wire_call_send(world, wire, 0);
}

static void send_settle(struct world *world, int index, const struct grants_settle *in) {
    struct wire *wire = wire_call_new(world, index, &jobs_settle_call, sizeof(*in));
    struct grants_settle *copy = wire->data;
    *copy = *in;
    copy->held = wire_copy(wire, in->held, in->count, sizeof(struct grant_held));
    wire_call_send(world, wire, 0);
}

static void tick(struct world *world, const struct occasion *occasion) {
    struct job_worker *side = world->workers[occasion->worker].jobs;
    if (side != NULL && side->timer == occasion->number)
        job_worker_pump(world, occasion->worker);
}

static void arm(struct world *world, int index, int64_t boot_ms) {
    struct worker *worker = &world->workers[index];
    worker->jobs->timer = ++world->numbers;
    world_push(world, worker_when_ms(worker, boot_ms, world->now_ms) - world->now_ms,
               (struct occasion){.what = HAPPENS_THEN,
                                 .worker = index,
                                 .number = worker->jobs->timer,
                                 .life = worker->life,
                                 .then = tick});
}

/* What came in since the last look. */
static void read_mailbox(struct worker *worker, int64_t now_ms) {
    struct job_worker *side = worker->jobs;
    pawl_uuid instance = engine_metrics(worker->core).instance;
    if (!uuid_equal(instance, side->told))
        side->instance = side->told = instance;
    job_core_instance(side->core, side->instance);
    if (side->stops > side->stops_seen) {
        side->stops_seen = side->stops;
        job_core_stop(side->core, now_ms, side->stops > 1);
    }
    for (int i = 0; i < worker->world->swarm.slots; i++) {
        struct job_slot *slot = &side->slots[i];
        if (!slot->ended)
            continue;
        slot->busy = slot->ended = false;
        job_core_slot_ended(side->core, now_ms, i, slot->results, (now_ms - slot->began_ms) * 1000);
    }
}

/* True: something was asked of the store, or there is nothing to do. */
static bool carry_out(struct world *world, int index, const struct job_action *action) {
    struct worker *worker = &world->workers[index];
    struct job_worker *side = worker->jobs;
    switch (action->type) {
    case JOB_ACT_WAIT:
        arm(world, index, action->at_ms);
        return true;
    case JOB_ACT_FINISH:
        send_finish(world, index, action->finish);
        break;
    case JOB_ACT_RENEW:
        send_renew(world, index, action->renew);
        break;
    case JOB_ACT_SETTLE:
        send_settle(world, index, action->settle);
        break;
    case JOB_ACT_START:
        if (world_strikes(world, FAULT_UNSTARTED)) {
            world_fault(world, FAULT_UNSTARTED);
            worker_kill(world, index);
            return true;
        }
        job_slot_start(world, index, action);
        return false;
    case JOB_ACT_CANCEL:
        job_slot_cancel(world, index, action->slot, (int)action->reason);
        return false;
    case JOB_ACT_FREE_GRANT:
        delivery_free(action->owner);
        return false;
    case JOB_ACT_FREE_RESULT:
        return false;
    case JOB_ACT_DONE:
        side->over = true;
        engine_hold(worker->core, false);
        worker_event(world, index, (struct engine_event){.type = EVENT_TICK});
        return true;
    }
    side->calling = true;
    return true;
}

void job_worker_pump(struct world *world, int index) {
    struct worker *worker = &world->workers[index];
    struct job_worker *side = worker->jobs;
    if (side == NULL || side->calling || side->over)
        return;
    int64_t now_ms = worker_boot_ms(worker, world->now_ms);
    read_mailbox(worker, now_ms);
    for (int i = 0; i < STEPS_MAX; i++) {
        struct job_action action;
        if (!job_core_next(side->core, now_ms, &action))
            abort();
        if (carry_out(world, index, &action))
            return;
    }
    history_violated(&world->history, "liveness", "the job side of worker %d never waits", index);
}

void job_worker_sync(struct world *world, int index) { job_worker_pump(world, index); }

/* An instance whose lease was over, and that was not evicted, is alive again with its next beat. */
void job_worker_revive(struct world *world, int index) {
    struct worker *worker = &world->workers[index];
    if (worker->jobs == NULL || !uuid_is_nil(worker->jobs->instance))
        return;
    worker->jobs->instance = engine_metrics(worker->core).instance;
    job_worker_pump(world, index);
}

void job_worker_stop(struct world *world, int index, bool now) {
    struct job_worker *side = world->workers[index].jobs;
    if (side == NULL)
        return;
    side->stops = now ? 2 : side->stops > 0 ? side->stops : 1;
    job_worker_pump(world, index);
}
