/* The state of the whole fleet on PostgreSQL: one transaction. */
#include "store/fleet.h"

#include "store/postgres/query.h"

struct facts_call {
    struct arena *arena;
    struct fleet_facts *out;
};

static pawl_status gather(struct store *store, void *self, pawl_error *err) {
    const struct facts_call *call = self;
    return fleet_facts_gather(store, call->arena, call->out, err);
}

/* Stamping again what is stamped changes nothing. */
pawl_status postgres_fleet(struct store *store, struct arena *arena, struct fleet_facts *out,
                           pawl_error *err) {
    struct facts_call call = {arena, out};
    return pg_together(store, "fleet", EFFECT_READ, gather, &call, err);
}
