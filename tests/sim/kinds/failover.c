/* A failover: the store goes back to what it was a moment ago, its epoch is raised, and the workers go on
 * with what they know. Only schedules and their jobs are there to see it. */
#include <stdlib.h>
#include <string.h>

#include "sim/world/alloc.h"
#include "sim/world/world.h"

enum { KEEP_MS = 400 };

static void *copy_of(const void *items, size_t count, size_t size) {
    void *copy = sim_alloc(count * size);
    if (count > 0)
        memcpy(copy, items, count * size);
    return copy;
}

static void forget(struct sim_failover *kept) {
    free(kept->jobs.jobs);
    free(kept->jobs.runs);
    *kept = (struct sim_failover){0};
}

/* What the checker knows is kept with the store. */
static void keep(struct world *world) {
    struct sim_failover *kept = &world->kinds.failover;
    const struct history_jobs *jobs = &world->kinds.jobs;
    ground_keep(world->ground);
    forget(kept);
    kept->kept = true;
    kept->jobs = *jobs;
    kept->jobs.jobs = copy_of(jobs->jobs, jobs->capacity, sizeof(*jobs->jobs));
    kept->jobs.runs = copy_of(jobs->runs, jobs->run_capacity, sizeof(*jobs->runs));
    memcpy(kept->schedules, world->kinds.schedules, sizeof(kept->schedules));
}

static void go_back(struct world *world) {
    struct sim_failover *kept = &world->kinds.failover;
    struct settings lost;
    int64_t epoch = 0;
    pawl_error error;
    world_must(world, world->store->ops->core.settings_read(world->store, &lost, &error), &error, "settings");
    ground_go_back(world->ground);
    /* A promotion is above every epoch before it, also above one whose raise was lost with the old server. */
    while (epoch <= lost.epoch)
        world_must(world, world->store->ops->core.epoch_raise(world->store, &epoch, &error), &error, "epoch");
    world_fault(world, FAULT_FAILOVER);
    world_note(world, "failover", epoch, 0, 0);
    history_jobs_go_back(&world->kinds.jobs, &kept->jobs);
    memcpy(world->kinds.schedules, kept->schedules, sizeof(kept->schedules));
    kept->kept = false;
    for (size_t i = 0; i < world->history.instance_count; i++) {
        struct history_instance *instance = &world->history.instances[i];
        instance->left = false;
        instance->revived_ms = world_db_ms(world);
        if (instance->lease_until_ms > world_db_ms(world))
            instance->lease_until_ms = world_db_ms(world);
    }
}

static void look(struct world *world, const struct occasion *occasion) {
    world_clock(world, 0);
    if (world->healed || world->stopping)
        return;
    if (world->kinds.failover.kept && world_strikes(world, FAULT_FAILOVER))
        go_back(world);
    else if (!world->kinds.failover.kept || rng_chance(&world->rng, 5000))
        keep(world);
    world_push(world, rng_range(&world->rng, KEEP_MS / 2, KEEP_MS * 2), *occasion);
}

void sim_failover_begin(struct world *world) {
    if (world->swarm.kinds_on.failover)
        world_push(world, KEEP_MS, (struct occasion){.what = HAPPENS_THEN, .worker = -1, .then = look});
}

void sim_failover_free(struct world *world) { forget(&world->kinds.failover); }
