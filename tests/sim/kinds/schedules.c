/* Schedules: every worker looks for what is due and fires it, each at its own pace. */
#include <stdio.h>
#include <stdlib.h>

#include "base/str.h"
#include "sim/world/world.h"
#include "work/schedule_duty.h"

enum { NAME_BYTES = 24, FIRES_MAX = KINDS_SCHEDULES_MAX };

/* What a look found to be due: the real duty computes it, and its calls of the store are sent afterwards. */
struct due {
    struct schedule_fire fires[FIRES_MAX];
    size_t count;
};

/* The duty's store: it reads from the real one, and fires are kept for later. */
struct duty_store {
    struct store store;
    struct store_ops ops;
    struct store_jobs_ops jobs;
    struct store *real;
    struct due *due;
    struct arena *arena;
};

static pawl_status look(struct store *store, const struct schedule_filter *filter, struct arena *arena,
                        struct job_schedule_list *out, pawl_error *err) {
    struct store *real = ((struct duty_store *)store)->real;
    return real->ops->jobs->schedules(real, filter, arena, out, err);
}

static pawl_status keep(struct store *store, const struct schedule_fire *in, struct arena *arena,
                        struct fire_result *out, pawl_error *err) {
    struct duty_store *duty = (struct duty_store *)store;
    (void)arena, (void)err;
    struct schedule_fire *copy = &duty->due->fires[duty->due->count++];
    *copy = *in;
    copy->name.ptr = arena_copy(duty->arena, in->name.ptr, in->name.len);
    copy->instants = arena_copy(duty->arena, in->instants, (in->count + 1) * sizeof(*in->instants));
    copy->due_ms = arena_copy(duty->arena, in->due_ms, (in->count + 1) * sizeof(*in->due_ms));
    *out = (struct fire_result){.answer = ANSWER_CONFLICT};
    return PAWL_OK;
}

static pawl_status execute_look(struct world *world, struct wire *wire, struct delivery *delivery) {
    struct schedule_duty_result result = {0};
    struct due *due = arena_alloc(delivery->arena, sizeof(*due));
    if (due == NULL)
        abort();
    *due = (struct due){0};
    delivery->answer = due;
    struct duty_store duty = {.ops = *world->store->ops, .real = world->store, .due = due};
    duty.jobs = *world->store->ops->jobs;
    duty.jobs.schedules = look;
    duty.jobs.schedule_fire = keep;
    duty.ops.jobs = &duty.jobs;
    duty.store = (struct store){.ops = &duty.ops, .caps = world->store->caps, .dialect = "sqlite"};
    duty.arena = delivery->arena;
    return schedule_duty(&duty.store, &result, &wire->error);
}

static struct sim_schedule *schedule_of(struct world *world, pawl_str name) {
    return &world->kinds.schedules[name.ptr[name.len - 1] - '0'];
}

static void tell_fired(struct world *world, const struct schedule_fire *in, const struct fire_result *out,
                       size_t at) {
    struct sim_schedule *schedule = schedule_of(world, in->name);
    int number = (int)(schedule - world->kinds.schedules);
    world_note(world, "fired", number, in->instants[at] - schedule->history.start_ms,
               (int64_t)out->answers[at]);
    history_instant(&world->history, &schedule->history, in->instants[at], out->answers[at]);
    bool skip = schedule->overlap == OVERLAP_SKIP, queue = schedule->overlap == OVERLAP_QUEUE;
    if (out->answers[at] == ANSWER_CONFLICT && (!skip || world->kinds.jobs.unique[KINDS_OWN + number] == 0))
        history_violated(&world->history, "instant_skipped", "an instant was skipped, and nothing is open");
    if (out->answers[at] != ANSWER_APPLIED)
        return;
    struct history_job_new told = {.key = queue ? KINDS_OWN + number : -1,
                                   .unique = skip ? KINDS_OWN + number : -1,
                                   .max_attempts = world->swarm.max_attempts,
                                   .due_ms = in->due_ms[at],
                                   .now_ms = world_db_ms(world)};
    history_job_put(&world->kinds.jobs, out->ids[at], &told);
    (void)sim_job(world, out->ids[at]);
}

static pawl_status execute_fire(struct world *world, struct wire *wire, struct delivery *delivery) {
    const struct schedule_fire *in = wire->data;
    struct fire_result *out = arena_alloc(delivery->arena, sizeof(*out));
    if (out == NULL)
        abort();
    *out = (struct fire_result){0};
    delivery->answer = out;
    pawl_status status =
        world->store->ops->jobs->schedule_fire(world->store, in, delivery->arena, out, &wire->error);
    if (status != PAWL_OK || out->answer != ANSWER_APPLIED)
        return status;
    mutant_after_call(world, wire, delivery);
    for (size_t i = 0; i < in->count; i++)
        tell_fired(world, in, out, i);
    if (in->next_ms == 0)
        schedule_of(world, in->name)->history.over = true;
    return PAWL_OK;
}

static void ended(struct world *world, int index, pawl_status status) {
    worker_event(
        world, index,
        (struct engine_event){.type = EVENT_DUTY, .duty = DUTY_SCHEDULES, .status = status, .next_ms = -1});
}

/* The turn ends with the last of its calls. */
static void reply_fire(struct world *world, struct wire *wire) {
    struct worker *worker = &world->workers[wire->worker];
    worker->fires_failed = worker->fires_failed || wire->status != PAWL_OK;
    if (--worker->fires == 0)
        ended(world, wire->worker, worker->fires_failed ? PAWL_UNAVAILABLE : PAWL_OK);
}

const struct wire_call schedule_fire_call = {"fire", execute_fire, reply_fire};

static void reply_look(struct world *world, struct wire *wire) {
    const struct due *due = wire->status == PAWL_OK ? wire->delivery->answer : NULL;
    struct worker *worker = &world->workers[wire->worker];
    worker->fires = due != NULL ? (int)due->count : 0;
    worker->fires_failed = false;
    if (worker->fires == 0)
        ended(world, wire->worker, wire->status);
    for (size_t i = 0; due != NULL && i < due->count; i++) {
        const struct schedule_fire *in = &due->fires[i];
        struct wire *fire = wire_call_new(world, wire->worker, &schedule_fire_call, sizeof(*in));
        struct schedule_fire *copy = fire->data;
        *copy = *in;
        copy->name = wire_copy_text(fire, in->name);
        copy->instants = wire_copy(fire, in->instants, in->count, sizeof(*in->instants));
        copy->due_ms = wire_copy(fire, in->due_ms, in->count, sizeof(*in->due_ms));
        /* A holder of the duty that is stopped comes back with what it computed before. */
        bool late = world_strikes(world, FAULT_LATE_DUTY);
        if (late)
            world_fault(world, FAULT_LATE_DUTY);
        wire_call_send(world, fire, late ? rng_range(&world->rng, 500, 5000) : 0);
    }
}

static const struct wire_call look_call = {"due schedules", execute_look, reply_look};

void sim_schedules_turn(struct world *world, int index) {
    wire_call_send(world, wire_call_new(world, index, &look_call, 0), 0);
}

void sim_schedules_begin(struct world *world) {
    struct arena *arena = arena_create(0);
    const struct store_jobs_ops *ops = world->store->ops->jobs;
    struct put_answer answer;
    pawl_error error;
    struct task task = {
        .name = STR("task"), .type = STR("j0"), .spec = STR("{}"), .max_attempts = world->swarm.max_attempts};
    if (world->swarm.kinds_on.schedules > 0)
        world_must(world, ops->task_put(world->store, &task, arena, &answer, &error), &error, "task");
    for (int i = 0; i < world->swarm.kinds_on.schedules; i++) {
        struct sim_schedule *schedule = &world->kinds.schedules[i];
        struct history_schedule *h = &schedule->history;
        char name[NAME_BYTES], expr[NAME_BYTES];
        bool all = rng_chance(&world->rng, 6000);
        *h = (struct history_schedule){.interval_ms = rng_range(&world->rng, 1000, 3000),
                                       .count = (int)rng_range(&world->rng, 2, 6),
                                       .all = all};
        h->start_ms = world_db_ms(world) + rng_range(&world->rng, 0, 2000);
        schedule->overlap = (enum overlap)rng_range(&world->rng, OVERLAP_ALLOW, OVERLAP_QUEUE);
        (void)snprintf(name, sizeof(name), "schedule-%d", i);
        (void)snprintf(expr, sizeof(expr), "%lldms", (long long)h->interval_ms);
        struct job_schedule in = {.name = str_from(name),
                                  .task = STR("task"),
                                  .kind = JOB_SCHEDULE_INTERVAL,
                                  .expr = str_from(expr),
                                  .missed = all                             ? MISSED_ALL
                                            : rng_chance(&world->rng, 5000) ? MISSED_ONE
                                                                            : MISSED_SKIP,
                                  .missed_max = all ? HISTORY_INSTANTS_MAX : 0,
                                  .overlap = schedule->overlap,
                                  .jitter_ms = rng_chance(&world->rng, 3000) ? 200 : 0,
                                  .start_ms = h->start_ms,
                                  .end_ms = h->start_ms + (h->count - 1) * h->interval_ms + 1};
        world_must(world, schedule_first(&in, world_db_ms(world), &in.next_ms, &error), &error, "schedule");
        world_must(world, ops->schedule_put(world->store, &in, &answer, &error), &error, "schedule");
        world->kinds.jobs.turns.weight[KINDS_OWN + i] = 1;
        world->kinds.jobs.limit[KINDS_OWN + i] = schedule->overlap == OVERLAP_QUEUE ? 1 : 0;
    }
    arena_free(arena);
}

bool sim_schedules_drained(const struct world *world) {
    bool over = true;
    for (int i = 0; i < world->swarm.kinds_on.schedules; i++)
        over = over && world->kinds.schedules[i].history.over;
    return over;
}

void sim_schedules_end(struct world *world) {
    for (int i = 0; i < world->swarm.kinds_on.schedules; i++)
        history_schedule_end(&world->history, &world->kinds.schedules[i].history);
}
