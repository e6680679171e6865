/* Claiming messages on PostgreSQL. */
#include "store/postgres/calls.h"

enum postgres_query pg_claim_params(const struct messages_claim *in, struct params *p) {
    PARAMS(p, in->instance, in->kind, in->max, in->lease_ms, in->policy, in->max_attempts, in->request);
    if (in->one_lane)
        PARAMS(p, in->lane);
    return in->one_lane ? POSTGRES_Q_CLAIM_LANE : POSTGRES_Q_CLAIM;
}

void pg_claim_take(struct item_list *out) {
    for (size_t i = 0; i < out->count; i++)
        if (out->items[i].attempt == 0) /* the usual first one is not sent */
            out->items[i].attempt = 1;
}

pawl_status postgres_messages_claim(struct store *store, const struct messages_claim *in, struct arena *arena,
                                    struct item_list *out, pawl_error *err) {
    struct query q = pg_write(store, POSTGRES_Q_CLAIM, "messages_claim", arena, check_claim(in, err));
    q.statement.query = pg_claim_params(in, &q.statement.params);
    pawl_status status = pg_list(&q, &item_shape, ROWS_OUT(out, items), err);
    if (status == PAWL_OK)
        pg_claim_take(out);
    return status;
}
