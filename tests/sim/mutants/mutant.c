/* Seeded bugs of the protocol: where they act. */
#include "sim/mutants/mutants_int.h"

#include <string.h>

#include "sim/world/world.h"

const struct mutant *mutant_find(const char *name) {
    for (size_t i = 0; i < mutant_count(); i++) {
        if (strcmp(mutant_at(i)->name, name) == 0)
            return mutant_at(i);
    }
    return NULL;
}

int64_t mutant_clock_ppm(const struct world *world) {
    return world->mutant != NULL ? world->mutant->clock_ppm : 0;
}

int64_t mutant_clock_ms(const struct world *world, int worker) {
    return world->mutant != NULL && world->mutant->wall_clock && worker >= 0 ? worker * 4000 : 0;
}

bool mutant_unfenced(const struct world *world) { return world->mutant != NULL && world->mutant->unfenced; }

void mutant_weights(const struct world *world, int weights[CHANNEL_COUNT]) {
    if (world->mutant != NULL && world->mutant->weights[0] > 0)
        memcpy(weights, world->mutant->weights, sizeof(world->mutant->weights));
}

#define ACT(hook, ...)                                                                                       \
    do {                                                                                                     \
        if (world->mutant != NULL && world->mutant->hook != NULL)                                            \
            world->mutant->hook(__VA_ARGS__);                                                                \
    } while (0)

void mutant_started(struct world *world, int worker, const struct engine_run *run) {
    ACT(started, world, worker, run);
}

void mutant_before_put(struct world *world, struct messages_put *in) { ACT(before_put, world, in); }

void mutant_after_put(struct world *world, const struct messages_put *in) { ACT(after_put, world, in); }

void mutant_before_batch(struct world *world, const struct wire *wire, struct work_batch *batch) {
    ACT(before_batch, world, wire, batch);
}

void mutant_after_batch(struct world *world, struct wire *wire, struct work_batch_result *result,
                        struct arena *arena) {
    ACT(after_batch, world, wire, result, arena);
}

void mutant_before_reply(struct world *world, const struct wire *wire, struct work_batch_result *result) {
    ACT(before_reply, world, wire, result);
}

void mutant_after_complete(struct world *world, struct wire *wire) { ACT(after_complete, world, wire); }

void mutant_after_fail(struct world *world, struct wire *wire) { ACT(after_fail, world, wire); }

void mutant_after_beat(struct world *world, const struct wire *wire) { ACT(after_beat, world, wire); }

void mutant_before_deregister(struct world *world, const struct wire *wire) {
    ACT(before_deregister, world, wire);
}

void mutant_after_deregister(struct world *world, const struct wire *wire) {
    ACT(after_deregister, world, wire);
}

void mutant_after_redrive(struct world *world, const struct dead_ref *ref) { ACT(after_redrive, world, ref); }

static int64_t run_statement(struct world *world, const char *sql) {
    struct ground_values values = {{world_db_ms(world)}, strstr(sql, "?1") != NULL, NULL};
    return ground_run(world->ground, sql, &values);
}

void mutant_tally(struct world *world) {
    ground_run(world->ground,
               "UPDATE pawl_job_tally AS t SET"
               " ready = (SELECT count(*) FROM pawl_job AS j WHERE j.queue = t.queue AND j.state = 1),"
               " running = (SELECT count(*) FROM pawl_job AS j WHERE j.queue = t.queue AND j.state = 2),"
               " later = (SELECT count(*) FROM pawl_job AS j WHERE j.queue = t.queue AND j.state = 3),"
               " waiting = (SELECT count(*) FROM pawl_job AS j WHERE j.queue = t.queue AND j.state = 4),"
               " dead = (SELECT count(*) FROM pawl_job AS j WHERE j.queue = t.queue AND j.state = 5)",
               &(struct ground_values){0});
    ground_run(world->ground, "DELETE FROM pawl_job_step WHERE job NOT IN (SELECT id FROM pawl_job)",
               &(struct ground_values){0});
}

void mutant_before_enqueue(struct world *world, struct jobs_enqueue *in) { ACT(before_enqueue, world, in); }

void mutant_before_call(struct world *world, struct wire *wire) { ACT(before_call, world, wire); }

void mutant_after_call(struct world *world, struct wire *wire, struct delivery *delivery) {
    const struct mutant *mutant = world->mutant;
    ACT(after_call, world, wire, delivery);
    if (mutant == NULL || mutant->sql == NULL ||
        (mutant->sql_after != NULL && mutant->sql_after != wire->call))
        return;
    int64_t changed = run_statement(world, mutant->sql);
    if (mutant->sql_too != NULL)
        changed += run_statement(world, mutant->sql_too);
    if (mutant->tally && changed > 0)
        mutant_tally(world);
}

void mutant_after_wake(struct world *world, const struct job_wake *in) { ACT(after_wake, world, in); }

void mutant_after_cancel(struct world *world, int64_t id) { ACT(after_cancel, world, id); }

void mutant_after_job_redrive(struct world *world, int64_t id) { ACT(after_job_redrive, world, id); }

void mutant_before_append(struct world *world, struct events_append *in) { ACT(before_append, world, in); }

void mutant_before_receive(struct world *world, struct messages_receive *in) {
    ACT(before_receive, world, in);
}

void mutant_after_rebuild(struct world *world, const char *perspective) {
    ACT(after_rebuild, world, perspective);
}

void mutant_after_switch(struct world *world, struct switch_result *out) { ACT(after_switch, world, out); }

void mutant_forget(struct world *world) {
    arena_free(world->mutant_memory.arena);
    world->mutant_memory = (struct mutant_memory){0};
}
