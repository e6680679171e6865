/* Seeded bugs of the protocol that spoil the store's tables, as a wrong statement would; the store's own
 * invariants hold afterwards, so that the history has to show the bug. */
#include "base/uuid.h"
#include "sim/mutants/mutants_int.h"

#define NOT_CLAIMED                                                                                          \
    " AND NOT EXISTS (SELECT 1 FROM pawl_claim_item AS i WHERE i.kind = a.kind AND i.seq = a.seq)"

static int64_t run(struct world *world, const char *sql) {
    return ground_run(world->ground, sql, &(struct ground_values){0});
}

static int64_t run_id(struct world *world, const char *sql, pawl_uuid id) {
    return ground_run(world->ground, sql, &(struct ground_values){.id = &id});
}

/* A waiting hold follows what is aside. */
static void follow_holds(struct world *world) {
    run(world, "DELETE FROM pawl_hold AS h WHERE state = 1"
               " AND NOT EXISTS (SELECT 1 FROM pawl_aside AS a WHERE a.kind = h.kind AND a.key = h.key)");
    run(world, "UPDATE pawl_hold AS h SET due_ms = (SELECT scheduled_ms FROM pawl_aside AS a"
               " WHERE a.kind = h.kind AND a.key = h.key ORDER BY seq LIMIT 1) WHERE state = 1");
}

/* What is doomed is gone, and nothing in the store shows it. */
static void vanish(struct world *world) {
    run(world, "DELETE FROM pawl_message WHERE (kind, seq) IN (SELECT kind, seq FROM doomed)");
    run(world, "DELETE FROM pawl_aside WHERE (kind, seq) IN (SELECT kind, seq FROM doomed)");
    run(world, "DELETE FROM pawl_dead WHERE (kind, seq) IN (SELECT kind, seq FROM doomed)");
    run(world, "UPDATE pawl_tally AS t SET"
               " put = put - (SELECT count(*) FROM doomed AS d WHERE d.kind = t.kind),"
               " aside = (SELECT count(*) FROM pawl_aside AS a WHERE a.kind = t.kind),"
               " dead = (SELECT count(*) FROM pawl_dead AS a WHERE a.kind = t.kind)");
    run(world, "DELETE FROM doomed");
    follow_holds(world);
}

static void vanish_id(struct world *world, pawl_uuid id) {
    if (run_id(
            world,
            "INSERT INTO doomed SELECT a.kind, a.seq FROM (SELECT kind, seq FROM pawl_message WHERE id = ?1"
            " UNION ALL SELECT kind, seq FROM pawl_aside WHERE id = ?1) AS a WHERE TRUE" NOT_CLAIMED,
            id) > 0)
        vanish(world);
}

void mutant_releases_lost(struct world *world, struct wire *wire, struct work_batch_result *result,
                          struct arena *arena) {
    (void)arena;
    for (int kind = 1; result != NULL && kind <= KIND_COUNT; kind++) {
        for (size_t i = 0; i < wire->batch.release_count[kind]; i++) {
            if (result->released[kind].answers[i] == ANSWER_APPLIED)
                vanish_id(world, wire->batch.releases[kind][i].ref.id);
        }
    }
}

void mutant_put_lost(struct world *world, const struct messages_put *in) {
    if (rng_chance(&world->rng, 1000))
        vanish_id(world, in->messages[0].id);
}

void mutant_dedupe_forgotten(struct world *world, struct messages_put *in) {
    in->request = uuid_nil();
    run(world, "DELETE FROM pawl_dedupe");
}

void mutant_expire_early(struct world *world, struct wire *wire, struct work_batch_result *result,
                         struct arena *arena) {
    (void)wire, (void)arena;
    int64_t until_ms = world_db_ms(world) + world->swarm.lease_ms / 5;
    for (int kind = 1; result != NULL && kind <= KIND_COUNT; kind++) {
        for (size_t i = 0; i < result->claimed[kind].count; i++) {
            struct ground_values values = {{until_ms, result->claimed[kind].items[i].token}, 2, NULL};
            ground_run(world->ground,
                       "UPDATE pawl_claim SET lease_until_ms = ?1 WHERE token = ?2 AND state = 1", &values);
        }
    }
}

void mutant_evict_living(struct world *world, const struct wire *wire) {
    struct arena *arena = arena_create(0);
    struct instance_rows rows = {0};
    pawl_error error;
    if (world->store->ops->view.instances(world->store, arena, &rows, &error) != PAWL_OK)
        rows.count = 0;
    for (size_t i = 0; i < rows.count; i++) {
        if (rows.rows[i].state != INSTANCE_ACTIVE || uuid_equal(rows.rows[i].id, wire->instance) ||
            !rng_chance(&world->rng, 500))
            continue;
        (void)world->store->ops->core.instance_evict(world->store, rows.rows[i].id, &error);
        break;
    }
    arena_free(arena);
}

void mutant_deaths_forgotten(struct world *world, struct wire *wire, struct work_batch_result *result,
                             struct arena *arena) {
    (void)wire, (void)result, (void)arena;
    run(world, "UPDATE pawl_aside AS a SET deaths = 0 WHERE deaths > 0" NOT_CLAIMED);
}

void mutant_suspicion_forgotten(struct world *world, struct wire *wire, struct work_batch_result *result,
                                struct arena *arena) {
    (void)wire, (void)result, (void)arena;
    run(world, "UPDATE pawl_aside AS a SET losses = 0 WHERE losses > 0" NOT_CLAIMED);
}

void mutant_charged_at_grant(struct world *world, struct wire *wire, struct work_batch_result *result,
                             struct arena *arena) {
    (void)wire, (void)result, (void)arena;
    run(world, "UPDATE pawl_claim SET suspect = 2 WHERE suspect = 1 AND state = 1");
}

void mutant_attempts_forgotten(struct world *world, struct wire *wire, struct work_batch_result *result,
                               struct arena *arena) {
    (void)wire, (void)result, (void)arena;
    run(world, "UPDATE pawl_aside AS a SET attempts = 0 WHERE attempts > 0" NOT_CLAIMED);
}

/* The doomed get new numbers, behind everything that was put since. */
static void to_the_back(struct world *world) {
    run(world, "UPDATE pawl_aside AS a SET seq = (SELECT last_seq FROM pawl_settings) + n FROM"
               " (SELECT kind AS k, seq AS s, row_number() OVER (ORDER BY kind, seq) AS n FROM doomed)"
               " WHERE a.kind = k AND a.seq = s");
    run(world, "UPDATE pawl_settings SET last_seq = last_seq + (SELECT count(*) FROM doomed)");
    run(world, "DELETE FROM doomed");
    follow_holds(world);
}

void mutant_retry_behind(struct world *world, struct wire *wire, struct work_batch_result *result,
                         struct arena *arena) {
    (void)wire, (void)result, (void)arena;
    if (run(world, "INSERT INTO doomed SELECT kind, seq FROM pawl_aside AS a WHERE reason = 1" NOT_CLAIMED) >
        0)
        to_the_back(world);
}

void mutant_expiry_behind(struct world *world, struct wire *wire, struct work_batch_result *result,
                          struct arena *arena) {
    (void)wire, (void)result, (void)arena;
    if (run(world, "INSERT INTO doomed SELECT kind, seq FROM pawl_aside AS a WHERE reason = 3" NOT_CLAIMED) >
        0)
        to_the_back(world);
}

void mutant_block_ignored(struct world *world, struct wire *wire, struct work_batch_result *result,
                          struct arena *arena) {
    (void)wire, (void)result, (void)arena;
    if (run(world, "UPDATE pawl_hold SET state = 1, by_seq = 0 WHERE state = 2") > 0)
        follow_holds(world);
}

void mutant_parked_lost(struct world *world, struct wire *wire, struct work_batch_result *result,
                        struct arena *arena) {
    (void)wire, (void)result, (void)arena;
    if (run(world, "INSERT INTO doomed SELECT kind, seq FROM pawl_dead WHERE reason = 4") > 0)
        vanish(world);
}

void mutant_dead_lost(struct world *world, struct wire *wire, struct work_batch_result *result,
                      struct arena *arena) {
    (void)wire, (void)result, (void)arena;
    if (run(world,
            "INSERT INTO doomed SELECT kind, seq FROM pawl_dead AS d"
            " WHERE NOT EXISTS (SELECT 1 FROM pawl_hold AS h WHERE h.kind = d.kind AND h.key = d.key)") > 0)
        vanish(world);
}

void mutant_behind_lost(struct world *world, struct wire *wire, struct work_batch_result *result,
                        struct arena *arena) {
    (void)wire, (void)result, (void)arena;
    if (run(world, "INSERT INTO doomed SELECT kind, seq FROM pawl_aside AS a WHERE reason = 2" NOT_CLAIMED) >
        0)
        vanish(world);
}

void mutant_redrive_lost(struct world *world, const struct dead_ref *ref) {
    struct ground_values values = {{(int64_t)ref->kind, ref->seq}, 2, NULL};
    if (ground_run(world->ground,
                   "INSERT INTO doomed SELECT kind, seq FROM pawl_aside WHERE kind = ?1 AND seq = ?2",
                   &values) > 0)
        vanish(world);
}

/* Ended claims are forgotten with it: two of one number would be refused. */
void mutant_token_reused(struct world *world, const struct wire *wire, struct work_batch *batch) {
    (void)wire, (void)batch;
    run(world, "DELETE FROM pawl_claim WHERE state <> 1");
    run(world, "UPDATE pawl_settings SET last_token = last_token - 3 WHERE last_token > 4");
}

void mutant_leaving_loses(struct world *world, const struct wire *wire) {
    run_id(world, "INSERT INTO doomed SELECT kind, seq FROM pawl_claim_item WHERE instance = ?1",
           wire->instance);
}

void mutant_left_lost(struct world *world, const struct wire *wire) {
    (void)wire;
    vanish(world);
}
