/* Jobs of a simulated worker: which handlers they have, and the core's calls of the store. */
#include <stdlib.h>

#include "base/str.h"
#include "sim/world/alloc.h"
#include "sim/world/world.h"

/* After those of the messages. */
void job_handlers(const struct swarm *swarm, struct engine_handler *handlers) {
    for (int i = 0; i < SWARM_JOB_HANDLERS; i++)
        handlers[i] = (struct engine_handler){.bundled = swarm->handlers[0].bundled && i == 0,
                                              .concurrency = i == 1 ? swarm->handlers[0].concurrency : 0,
                                              .timeout_ms = swarm->handlers[0].timeout_ms,
                                              .retry_base_ms = swarm->handlers[0].retry_base_ms,
                                              .retry_max_ms = swarm->handlers[0].retry_max_ms};
}

int job_match(void *self, const struct job *job) {
    const struct worker *worker = self;
    int handler = job->type.ptr[0] == 'j' ? job->type.ptr[1] - '0' : 0;
    bool none = handler == worker->no_handler && !worker->world->healed;
    return none ? -1 : worker->world->swarm.handler_count + handler;
}

/* What became of a call, for the core. */
struct job_answer {
    struct finish_result finish;
    struct renew_result renew;
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
    struct engine_event event = {.type = EVENT_JOBS_FINISHED, .status = wire->status, .error = &wire->error};
    if (wire->status == PAWL_OK) {
        event.finish = &((struct job_answer *)wire->delivery->answer)->finish;
        event.grant = delivery_hold(world, wire);
    }
    worker_event(world, wire->worker, event);
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
    struct engine_event event = {.type = EVENT_JOBS_RENEWED, .status = wire->status, .error = &wire->error};
    if (wire->status == PAWL_OK)
        event.renewed = &((struct job_answer *)wire->delivery->answer)->renew;
    worker_event(world, wire->worker, event);
}

const struct wire_call jobs_finish_call = {"jobs finish", execute_finish, reply_finish};
const struct wire_call jobs_renew_call = {"jobs renew", execute_renew, reply_renew};

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

void job_call(struct world *world, int index, const struct engine_action *action) {
    if (action->type == ACTION_JOBS_FINISH)
        send_finish(world, index, action->finish);
    else
        send_renew(world, index, action->renew);
}
