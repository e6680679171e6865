/* Handlers of jobs: how long they take, what they do, and when they listen. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/str.h"
#include "sim/world/alloc.h"
#include "sim/world/world.h"

enum page_phase { PAGE_IDLE, PAGE_BEGINNING, PAGE_FETCHING, PAGE_COMMITTING };

struct job_slot {
    bool busy, in_job, interrupted;
    enum stop_reason cancelled;
    uint64_t number; /* of the occasion it waits for */
    size_t count, at;
    const struct job *jobs[ENGINE_BUNDLE_MAX];
    struct job_result_in results[ENGINE_BUNDLE_MAX];
    int64_t fence_ms, began_ms;
    int run;
    enum page_phase page; /* of a job that is one */
    int64_t offset;
    pawl_uuid instance;
};

struct job_slot *job_slots_new(int count) {
    return sim_alloc((size_t)count * sizeof(struct job_slot));
}

void job_slots_free(struct job_slot *slots, int count) {
    (void)count;
    free(slots);
}

static void go_on(struct world *world, const struct occasion *occasion);

static void wait_for(struct world *world, int index, struct job_slot *slot, int64_t for_ms) {
    slot->number = ++world->numbers;
    world_then(world, index, for_ms, slot->number, go_on);
}

void job_slot_start(struct world *world, int index, const struct engine_action *action) {
    struct worker *worker = &world->workers[index];
    struct job_slot *slot = &worker->job_slots[action->slot];
    const struct engine_run *run = &action->run;
    worker->slots[action->slot].busy = false;
    *slot = (struct job_slot){.busy = true,
                              .count = run->count,
                              .fence_ms = run->fence_ms,
                              .instance = engine_metrics(worker->core).instance,
                              .began_ms = worker_boot_ms(worker, world->now_ms)};
    memcpy(slot->jobs, run->jobs, run->count * sizeof(*run->jobs));
    for (size_t i = 0; i < run->count; i++)
        slot->results[i] = (struct job_result_in){.end = JOB_END_NOT_RUN};
    wait_for(world, index, slot, rng_range(&world->rng, 0, 2));
}

void job_slot_cancel(struct world *world, int index, int number, int reason) {
    struct job_slot *slot = &world->workers[index].job_slots[number];
    world_note(world, "job cancel", index, number, reason);
    slot->cancelled = (enum stop_reason)reason;
    if (!slot->in_job || slot->page == PAGE_BEGINNING || slot->page == PAGE_COMMITTING)
        return;
    if (rng_chance(&world->rng, world->swarm.chance[FAULT_DEAF])) {
        world_fault(world, FAULT_DEAF);
        return;
    }
    slot->interrupted = true;
    wait_for(world, index, slot, rng_range(&world->rng, 0, 5));
}

/* What the handler says when nobody interrupted it. */
static struct job_result_in result_of(struct world *world, struct sim_job *job) {
    struct job_result_in result = {.end = JOB_END_DONE, .delay_ms = -1, .error = STR("the handler failed")};
    if (job->snoozes_left > 0) {
        job->snoozes_left--;
        result.end = JOB_END_SNOOZE;
        result.delay_ms = rng_range(&world->rng, 1, 2000);
        return result;
    }
    if (job->waits_left > 0) {
        static const char *const signals[] = {"signal-0", "signal-1", "signal-2"};
        job->waits_left--;
        result.end = JOB_END_WAIT;
        result.delay_ms = job->wait_ms;
        result.wait_key = str_from(signals[job->signal]);
        result.wait_step = STR("step");
        return result;
    }
    enum outcome_type outcome = slot_verdict(world, (enum nature)job->nature, &job->fails_left);
    if (outcome != OUTCOME_DONE)
        result.end = outcome == OUTCOME_PERMANENT ? JOB_END_PERMANENT : JOB_END_RETRY;
    return result;
}

static struct sim_page page_of(struct world *world, int index, const struct job_slot *slot) {
    return (struct sim_page){.job = slot->jobs[slot->at],
                             .instance = slot->instance,
                             .slot = (int)(slot - world->workers[index].job_slots),
                             .number = slot->number,
                             .offset = slot->offset};
}

static void page_ended(struct world *world, int index, struct job_slot *slot, enum job_end end) {
    slot->results[slot->at] = (struct job_result_in){
        .end = end, .delay_ms = end == JOB_END_NOT_RUN ? 1000 : -1, .error = STR("the page failed")};
    history_job_ended(&world->kinds.jobs, slot->run);
    slot->in_job = slot->interrupted = false;
    slot->page = PAGE_IDLE;
    slot->at++;
    wait_for(world, index, slot, 0);
}

void job_slot_page(struct world *world, int index, int number, uint64_t occasion, enum job_end end,
                   int64_t offset) {
    struct job_slot *slot = &world->workers[index].job_slots[number];
    if (!slot->busy || slot->number != occasion || slot->page == PAGE_IDLE)
        return;
    struct sim_job *row = sim_job(world, slot->jobs[slot->at]->id);
    if (slot->page == PAGE_BEGINNING && end == JOB_END_DONE) {
        slot->page = PAGE_FETCHING;
        slot->offset = offset;
        wait_for(world, index, slot, slot_duration_ms(world, (enum nature *)&row->nature));
        return;
    }
    page_ended(world, index, slot, end);
}

/* The page was fetched, or it could not be. */
static void page_fetched(struct world *world, int index, struct job_slot *slot) {
    struct sim_job *row = sim_job(world, slot->jobs[slot->at]->id);
    enum outcome_type outcome = slot_verdict(world, (enum nature)row->nature, &row->fails_left);
    if (slot->interrupted || outcome != OUTCOME_DONE) {
        page_ended(world, index, slot,
                   slot->interrupted && slot->cancelled != STOP_TIMEOUT ? JOB_END_CANCELLED
                   : outcome == OUTCOME_PERMANENT                       ? JOB_END_PERMANENT
                                                                        : JOB_END_RETRY);
        return;
    }
    slot->page = PAGE_COMMITTING;
    slot->number = ++world->numbers;
    struct sim_page page = page_of(world, index, slot);
    history_job_effect(&world->kinds.jobs, slot->run);
    sim_page_commit(world, index, &page);
}

static void job_ends(struct world *world, struct job_slot *slot) {
    const struct job *job = slot->jobs[slot->at];
    struct job_result_in *result = &slot->results[slot->at];
    struct sim_job *row = sim_job(world, job->id);
    if (slot->interrupted)
        *result =
            (struct job_result_in){.end = slot->cancelled == STOP_TIMEOUT ? JOB_END_RETRY : JOB_END_CANCELLED,
                                   .delay_ms = -1,
                                   .error = STR("the handler was interrupted")};
    else
        *result = result_of(world, row);
    if (result->end == JOB_END_DONE)
        history_job_effect(&world->kinds.jobs, slot->run);
    history_job_ended(&world->kinds.jobs, slot->run);
    history_share_ended(&world->kinds.share, SIDE_JOBS, world->now_ms);
    world_note(world, "job ended", job->id, (int64_t)result->end, 0);
    slot->in_job = slot->interrupted = false;
    slot->at++;
}

/* False: the job killed its worker. */
static void job_begins(struct world *world, int index, struct job_slot *slot) {
    const struct job *job = slot->jobs[slot->at];
    struct sim_job *row = sim_job(world, job->id);
    world_note(world, "job begins", index, job->id, job->token);
    slot->run = history_job_began(&world->kinds.jobs, job->id, job->token, world_db_ms(world));
    history_share_began(&world->kinds.share, SIDE_JOBS, world->now_ms);
    slot->in_job = true;
    if (row->nature == NATURE_POISON) {
        world_fault(world, FAULT_POISON);
        history_job_killed(&world->kinds.jobs, job->id);
        worker_kill(world, index);
        return;
    }
    if (row->kind == SIM_JOB_PAGE) {
        slot->page = PAGE_BEGINNING;
        slot->number = ++world->numbers;
        struct sim_page page = page_of(world, index, slot);
        sim_page_begin(world, index, &page);
        return;
    }
    wait_for(world, index, slot, slot_duration_ms(world, (enum nature *)&row->nature));
    if (world_strikes(world, FAULT_PAUSE))
        worker_pause(world, index,
                     rng_range(&world->rng, world->swarm.lease_ms / 2, world->swarm.lease_ms * 3));
}

static void go_on(struct world *world, const struct occasion *occasion) {
    int index = occasion->worker, at = 0;
    struct worker *worker = &world->workers[index];
    struct job_slot *slots = worker->job_slots;
    while (at < world->swarm.slots && (!slots[at].busy || slots[at].number != occasion->number))
        at++;
    if (at == world->swarm.slots)
        return; /* it was interrupted meanwhile */
    struct job_slot *slot = &slots[at];
    if (slot->page == PAGE_FETCHING) {
        page_fetched(world, index, slot);
        return;
    }
    if (slot->in_job)
        job_ends(world, slot);
    while (slot->at < slot->count) {
        bool fenced = worker_boot_ms(worker, world->now_ms) >= slot->fence_ms && !mutant_unfenced(world);
        if (slot->cancelled == STOP_NONE && !fenced) {
            job_begins(world, index, slot);
            return;
        }
        slot->at++;
    }
    if (world_strikes(world, FAULT_KILL)) {
        world_fault(world, FAULT_KILL);
        worker_kill(world, index);
        return;
    }
    slot->busy = false;
    slot->number = 0;
    worker_event(
        world, index,
        (struct engine_event){.type = EVENT_FINISHED,
                              .slot = at,
                              .results = slot->results,
                              .count = slot->count,
                              .elapsed_us = (worker_boot_ms(worker, world->now_ms) - slot->began_ms) * 1000});
}

void job_slots_die(struct world *world, int index) {
    struct job_slot *slots = world->workers[index].job_slots;
    for (int i = 0; slots != NULL && i < world->swarm.slots; i++) {
        struct job_slot *slot = &slots[i];
        if (!slot->busy || !slot->in_job)
            continue;
        /* Its effect may have happened just before. */
        bool innocent = sim_job(world, slot->jobs[slot->at]->id)->nature != NATURE_POISON;
        if (innocent && rng_chance(&world->rng, 5000))
            history_job_effect(&world->kinds.jobs, slot->run);
        history_job_ended(&world->kinds.jobs, slot->run);
        slot->in_job = false;
    }
}
