/* Jobs from outside: who enqueues them, signals, cancels, redrives; and what the checker is told of it. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/str.h"
#include "base/uuid.h"
#include "sim/world/alloc.h"
#include "sim/world/world.h"

enum { ENQUEUE_MAX = 12, BURST_MIN = 6, NAME_BYTES = 24, KEEP_MS = 600000, OPERATE_SHOWN = 1000 };

struct sim_job *sim_job(struct world *world, int64_t id) {
    struct kinds *kinds = &world->kinds;
    size_t before = kinds->job_capacity;
    kinds->job_rows =
        sim_grow(kinds->job_rows, &kinds->job_capacity, (size_t)id + 1, sizeof(*kinds->job_rows));
    if (kinds->job_capacity > before)
        memset(kinds->job_rows + before, 0, (kinds->job_capacity - before) * sizeof(*kinds->job_rows));
    struct sim_job *job = &kinds->job_rows[id];
    if (job->known)
        return job;
    struct rng *rng = &world->rng;
    *job = (struct sim_job){.known = true, .nature = (int)outside_nature(world)};
    job->fails_left = (int)rng_range(rng, 1, world->swarm.max_attempts);
    bool plain = world->swarm.kinds_on.flood;
    job->snoozes_left = !plain && rng_chance(rng, 800) ? (int)rng_range(rng, 1, 2) : 0;
    job->waits_left = !plain && rng_chance(rng, 800) ? 1 : 0;
    job->signal = (int)rng_range(rng, 0, KINDS_SIGNALS - 1);
    job->wait_ms = rng_chance(rng, 5000) ? -1 : rng_range(rng, 0, 3000);
    kinds->failing += job->nature != NATURE_NORMAL || job->snoozes_left > 0 || job->waits_left > 0;
    return job;
}

/* One call of a producer. */
struct enqueue_data {
    struct job_new jobs[ENQUEUE_MAX];
    struct history_job_new told[ENQUEUE_MAX];
    char keys[ENQUEUE_MAX][NAME_BYTES], uniques[ENQUEUE_MAX][NAME_BYTES];
    int64_t delays_ms[ENQUEUE_MAX], deadlines_ms[ENQUEUE_MAX];
    size_t count;
    pawl_uuid request;
    bool answered;
};

struct enqueue_answer {
    struct enqueue_result result;
};

static pawl_status execute_enqueue(struct world *world, struct wire *wire, struct delivery *delivery) {
    struct enqueue_data *data = wire->data;
    struct jobs_enqueue in = {.jobs = data->jobs, .count = data->count, .request = data->request};
    struct enqueue_result *out = arena_alloc(delivery->arena, sizeof(*out));
    if (out == NULL)
        abort();
    *out = (struct enqueue_result){0};
    delivery->answer = out;
    mutant_before_enqueue(world, &in);
    pawl_status status =
        world->store->ops->jobs->enqueue(world->store, &in, delivery->arena, out, &wire->error);
    if (status != PAWL_OK)
        return status;
    mutant_after_call(world, wire, delivery);
    bool any = false;
    for (size_t i = 0; i < data->count; i++) {
        struct history_job_new *told = &data->told[i];
        world_note(world, "enqueue", out->ids[i], (int64_t)out->answers[i], told->key);
        /* A repeated call of one job answers as the first one did, whatever has become of the job. */
        if (out->answers[i] == ANSWER_DUPLICATE && out->ids[i] > 0 && !data->answered)
            history_job_held(&world->kinds.jobs, told->unique, out->ids[i]);
        any = any || out->answers[i] == ANSWER_APPLIED || out->answers[i] == ANSWER_DUPLICATE;
        if (out->answers[i] != ANSWER_APPLIED)
            continue;
        if (data->answered)
            history_violated(&world->history, "job_put_once", "a repeated call enqueued job %lld",
                             (long long)out->ids[i]);
        told->now_ms = world_db_ms(world);
        told->due_ms = told->now_ms + data->delays_ms[i];
        history_job_put(&world->kinds.jobs, out->ids[i], told);
        history_share_added(&world->kinds.share, SIDE_JOBS, 1, world->now_ms);
        (void)sim_job(world, out->ids[i]);
    }
    data->answered = data->answered || any;
    return PAWL_OK;
}

/* Until the producer knows. */
void outside_reply(struct world *world, struct wire *wire) {
    if (wire->status == PAWL_OK) {
        world->kinds.calls_open--;
        return;
    }
    if (wire->status != PAWL_UNKNOWN && wire->status != PAWL_UNAVAILABLE) {
        history_violated(&world->history, "call", "%s was answered with status %d: %s", wire->call->name,
                         (int)wire->status, wire->error.text);
        return;
    }
    wire_call_send(world, wire, rng_range(&world->rng, 10, 200));
}

const struct wire_call jobs_enqueue_call = {"enqueue", execute_enqueue, outside_reply};

static void draw_job(struct world *world, struct enqueue_data *data, size_t at, int key) {
    struct rng *rng = &world->rng;
    const struct swarm *swarm = &world->swarm;
    struct job_new *job = &data->jobs[at];
    bool plain = swarm->kinds_on.flood;
    int unique = !plain && rng_chance(rng, 1500) ? (int)rng_range(rng, 0, 1) : -1;
    int64_t delay_ms = !plain && rng_chance(rng, 2000) ? rng_range(rng, 1, 3000) : 0;
    int64_t deadline_ms =
        !plain && rng_chance(rng, 1000) ? world_db_ms(world) + swarm->fault_ms + rng_range(rng, 0, 8000) : 0;
    *job = (struct job_new){.type = rng_chance(rng, 7000) ? STR("j0") : STR("j1"),
                            .payload = STR("{}"),
                            .priority = rng_chance(rng, 3000) ? (int)rng_range(rng, -2, 2) : 0,
                            .max_attempts = swarm->max_attempts,
                            .delay_ms = delay_ms,
                            .deadline_ms = deadline_ms};
    (void)snprintf(data->keys[at], NAME_BYTES, "key-%d", key);
    (void)snprintf(data->uniques[at], NAME_BYTES, "unique-%d", unique);
    if (key >= 0)
        job->key = str_from(data->keys[at]);
    if (unique >= 0)
        job->unique_key = str_from(data->uniques[at]);
    data->delays_ms[at] = delay_ms;
    data->told[at] = (struct history_job_new){.key = key,
                                              .unique = unique,
                                              .priority = job->priority,
                                              .max_attempts = job->max_attempts,
                                              .deadline_ms = deadline_ms};
}

static void produce(struct world *world, const struct occasion *occasion) {
    (void)occasion;
    struct rng *rng = &world->rng;
    const struct swarm *swarm = &world->swarm;
    bool burst = world_strikes(world, FAULT_BURST);
    int count = (int)rng_range(rng, burst ? BURST_MIN : 1, burst ? ENQUEUE_MAX : 4);
    if (count > world->kinds.jobs_left)
        count = world->kinds.jobs_left;
    struct wire *wire = wire_call_new(world, -1, &jobs_enqueue_call, sizeof(struct enqueue_data));
    struct enqueue_data *data = wire->data;
    data->count = (size_t)count;
    data->request = world_uuid(world, 0);
    int hot = swarm->kinds_on.keys > 0 && rng_chance(rng, 7000)
                  ? (int)rng_range(rng, 0, swarm->kinds_on.keys - 1)
                  : -1;
    for (int i = 0; i < count; i++) {
        int key = burst || swarm->kinds_on.keys == 0 || rng_chance(rng, 4000)
                      ? hot
                      : (int)rng_range(rng, 0, swarm->kinds_on.keys - 1);
        draw_job(world, data, (size_t)i, key);
    }
    world->kinds.jobs_left -= count;
    world->kinds.calls_open++;
    wire_call_send(world, wire, 0);
    if (world->kinds.jobs_left > 0)
        world_push(world,
                   world->healed ? 1 : rng_range(rng, 0, swarm->fault_ms * 8 / (swarm->kinds_on.jobs + 1)),
                   (struct occasion){.what = HAPPENS_THEN, .worker = -1, .then = produce});
}

void sim_jobs_begin(struct world *world) {
    const struct swarm_kinds *on = &world->swarm.kinds_on;
    pawl_error error;
    history_jobs_init(&world->kinds.jobs, &world->history);
    for (int i = 0; i < on->keys; i++) {
        char key[NAME_BYTES];
        (void)snprintf(key, sizeof(key), "key-%d", i);
        struct job_limit limit = {.key = str_from(key),
                                  .concurrency = on->key_limit[i],
                                  .rate = on->key_rated[i] ? 3 : 0,
                                  .rate_ms = on->key_rated[i] ? 300 : 0,
                                  .weight = on->key_weight[i]};
        world_must(world, world->store->ops->jobs->limit_set(world->store, &limit, &error), &error, "limit");
        world->kinds.jobs.turns.weight[i] = on->key_weight[i];
        world->kinds.jobs.limit[i] = on->key_limit[i];
        world->kinds.jobs.rated[i] = on->key_rated[i];
    }
    world->kinds.jobs_left = on->jobs;
    if (on->jobs > 0)
        world_push(world, 0, (struct occasion){.what = HAPPENS_THEN, .worker = -1, .then = produce});
}

void sim_jobs_tell_grants(struct world *world, const struct job_list *list, int instance) {
    for (size_t i = 0; i < list->count; i++)
        world_note(world, "job grant", instance, list->jobs[i].id, list->jobs[i].token);
    kinds_meet_jobs(world, list);
    history_jobs_granted(&world->kinds.jobs, list, instance, world_db_ms(world));
}

void sim_jobs_seen(struct world *world, bool last) {
    struct job_filter filter = {.limit = OPERATE_SHOWN};
    struct arena *arena = arena_create(0);
    struct job_rows rows = {0};
    pawl_error error;
    world_clock(world, 0);
    world_must(world, world->store->ops->jobs->jobs(world->store, &filter, arena, &rows, &error), &error,
               "jobs");
    kinds_meet_rows(world, &rows);
    history_jobs_seen(&world->kinds.jobs, &rows, world_db_ms(world), last);
    arena_free(arena);
}

/* Every job that waits for the signal is ready, and is told of it. */
static void signal_all(struct world *world, int signal) {
    static const char *const signals[] = {"signal-0", "signal-1", "signal-2"};
    struct history_jobs *jobs = &world->kinds.jobs;
    struct job_wake in = {.wait_key = str_from(signals[signal]), .payload = STR("1"), .keep_ms = KEEP_MS};
    struct wake_result out = {0};
    pawl_error error;
    world_must(world, world->store->ops->jobs->wake(world->store, &in, &out, &error), &error, "wake");
    mutant_after_wake(world, &in);
    world_note(world, "signal", signal, out.woken, out.kept);
    for (size_t i = 1; i < jobs->count; i++) {
        if (jobs->jobs[i].at == AT_WAITING && sim_job(world, (int64_t)i)->signal == signal)
            history_job_woken(jobs, (int64_t)i);
    }
}

static void operate_on_dead(struct world *world, int64_t id, struct arena *arena) {
    struct history_jobs *jobs = &world->kinds.jobs;
    const struct store_jobs_ops *ops = world->store->ops->jobs;
    struct job_answers answers = {0};
    pawl_error error;
    bool discard = world_strikes(world, FAULT_DISCARD);
    if (!discard && !world_strikes(world, FAULT_REDRIVE))
        return;
    world_must(world, ops->redrive(world->store, &id, 1, discard, arena, &answers, &error), &error,
               "redrive");
    if (!discard && answers.answers[0] == ANSWER_APPLIED)
        mutant_after_job_redrive(world, id);
    if (!discard && rng_chance(&world->rng, 7000))
        sim_job(world, id)->nature = NATURE_NORMAL;
    world_note(world, "job redrive", id, discard, (int64_t)answers.answers[0]);
    history_job_redriven(jobs, id, discard, answers.answers[0], world_db_ms(world));
}

static void cancel_some(struct world *world, struct arena *arena) {
    struct history_jobs *jobs = &world->kinds.jobs;
    struct job_answers answers = {0};
    pawl_error error;
    if (jobs->count < 2 || !world_strikes(world, FAULT_CANCEL))
        return;
    int64_t id = rng_range(&world->rng, 1, (int64_t)jobs->count - 1);
    if (jobs->jobs[id].at == AT_UNKNOWN || jobs->jobs[id].of_run)
        return;
    world_fault(world, FAULT_CANCEL);
    world_must(world, world->store->ops->jobs->cancel(world->store, &id, 1, arena, &answers, &error), &error,
               "cancel");
    mutant_after_cancel(world, id);
    world_note(world, "job cancelled", id, (int64_t)answers.answers[0], 0);
    history_job_cancelled(jobs, id, answers.answers[0], world_db_ms(world));
}

void sim_jobs_operate(struct world *world) {
    struct history_jobs *jobs = &world->kinds.jobs;
    struct arena *arena = arena_create(0);
    pawl_error error;
    sim_jobs_seen(world, false);
    for (size_t i = 1; i < jobs->count && !world->history.violated; i++) {
        if (jobs->jobs[i].at == AT_DEAD && !jobs->jobs[i].of_run)
            operate_on_dead(world, (int64_t)i, arena);
    }
    cancel_some(world, arena);
    for (int i = 0; i < KINDS_SIGNALS; i++) {
        if (world->healed || rng_chance(&world->rng, 3000))
            signal_all(world, i);
    }
    if (world_strikes(world, FAULT_MAINTAIN)) {
        struct jobs_maintain_result out;
        world_must(world, world->store->ops->jobs->maintain(world->store, 1000, &out, &error), &error,
                   "maintain jobs");
    }
    arena_free(arena);
}
