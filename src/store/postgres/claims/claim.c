/* Claiming messages on PostgreSQL. */
#include "store/postgres/calls.h"

enum postgres_query pg_claim_params(const struct messages_claim *in, struct params *p) {
    PARAMS(p, in->instance, in->kind, in->max, in->lease_ms, in->policy, in->max_attempts, in->request);
    if (in->one_lane)
        PARAMS(p, in->lane);
    return in->one_lane ? POSTGRES_Q_CLAIM_LANE : POSTGRES_Q_CLAIM;
}

pawl_status postgres_messages_claim(struct store *store, const struct messages_claim *in, struct arena *arena,
                                    struct item_list *out, pawl_error *err) {
    struct query q = pg_write(store, POSTGRES_Q_CLAIM, "messages_claim", arena, check_claim(in, err));
    q.statement.query = pg_claim_params(in, &q.statement.params);
    return pg_list(&q, &item_shape, ROWS_OUT(out, items), err);
}
