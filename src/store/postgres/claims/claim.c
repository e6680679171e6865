/* Claiming messages on PostgreSQL. */
#include "store/postgres/calls.h"

enum postgres_query pg_claim_params(const struct messages_claim *in, struct params *p) {
    pg_params_uuid(p, in->instance);
    pg_params_small(p, (int)in->kind);
    pg_params_int(p, in->max);
    pg_params_big(p, in->lease_ms);
    pg_params_small(p, (int)in->policy);
    pg_params_int(p, in->max_attempts);
    pg_params_uuid(p, in->request);
    if (in->one_lane)
        pg_params_int(p, in->lane);
    return in->one_lane ? POSTGRES_Q_CLAIM_LANE : POSTGRES_Q_CLAIM;
}

pawl_status postgres_messages_claim(struct store *store, const struct messages_claim *in, struct arena *arena,
                                    struct item_list *out, pawl_error *err) {
    struct query q;
    pg_write(&q, store, POSTGRES_Q_CLAIM, "messages_claim", arena, check_claim(in, err));
    q.statement.query = pg_claim_params(in, q.params);
    return pg_list(&q, &item_shape, ROWS_OUT(out, items), err);
}
