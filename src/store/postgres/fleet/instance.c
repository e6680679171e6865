/* Instances on PostgreSQL: registration, heartbeats, lanes, liveness. */
#include "base/uuid.h"
#include "store/check/place.h"
#include "store/postgres/query.h"

pawl_status postgres_clock_read(struct store *store, int64_t *now_ms, pawl_error *err) {
    struct query q = pg_read(store, POSTGRES_Q_CLOCK_READ, "clock_read", NULL, PAWL_OK);
    return pg_int(&q, now_ms, err);
}

pawl_status postgres_instance_register(struct store *store, const struct instance_new *in,
                                       struct instance_grant *out, pawl_error *err) {
    struct query q =
        pg_write(store, POSTGRES_Q_INSTANCE_REGISTER, "instance_register", NULL, check_instance(in, err));
    SEND(&q, ROW_OF(instance_new_shape, in), in->slots);
    return pg_row(&q, &instance_grant_shape, out, err);
}

pawl_status postgres_heartbeat(struct store *store, pawl_uuid instance, int64_t processed,
                               struct beat_result *out, pawl_error *err) {
    struct query q = pg_write(store, POSTGRES_Q_HEARTBEAT, "heartbeat", NULL, PAWL_OK);
    SEND(&q, instance, processed);
    return pg_row(&q, &beat_shape, out, err);
}

pawl_status postgres_lanes_rebalance(struct store *store, pawl_uuid instance, enum store_kind kind,
                                     struct beat_result *out, pawl_error *err) {
    struct place at = {.op = "lanes_rebalance", .err = err};
    struct query q = pg_write(store, POSTGRES_Q_LANES_REBALANCE, at.op, NULL, place_kind(&at, kind));
    SEND(&q, instance, kind);
    return pg_row(&q, &rebalance_shape, out, err);
}

/* A query about one instance. */
static struct query instance_query(struct store *store, enum postgres_query query, const char *op,
                                   pawl_uuid instance) {
    struct query q = pg_write(store, query, op, NULL, PAWL_OK);
    SEND(&q, instance);
    return q;
}

pawl_status postgres_instance_deregister(struct store *store, pawl_uuid instance, pawl_error *err) {
    struct query q = instance_query(store, POSTGRES_Q_INSTANCE_DEREGISTER, "instance_deregister", instance);
    pawl_status status = pg_done(&q, err);
    if (status == PAWL_OK && uuid_equal(q.self->alive, instance)) {
        q.self->alive = uuid_nil();
        q.self->lock_lost = false;
    }
    return status;
}

pawl_status postgres_instance_evict(struct store *store, pawl_uuid instance, pawl_error *err) {
    struct query q = instance_query(store, POSTGRES_Q_INSTANCE_EVICT, "instance_evict", instance);
    return pg_done(&q, err);
}

pawl_status postgres_instance_full(struct store *store, pawl_uuid instance, bool full, pawl_error *err) {
    struct query q = instance_query(store, POSTGRES_Q_INSTANCE_FULL, "instance_full", instance);
    SEND(&q, full);
    return pg_done(&q, err);
}

pawl_status postgres_liveness_hold(struct store *store, pawl_uuid instance, bool *held, pawl_error *err) {
    bool direct = false;
    pawl_status status = pg_session_is_ours(postgres_of(store), "liveness_hold", &direct, err);
    if (status != PAWL_OK)
        return status;
    if (!direct) {
        /* This call also reports whether the instance was evicted. */
        struct query q = instance_query(store, POSTGRES_Q_PEERS_LOOK, "liveness_hold", instance);
        status = pg_done(&q, err);
        if (status == PAWL_OK)
            *held = false;
        return status;
    }
    struct query q = instance_query(store, POSTGRES_Q_LIVENESS_HOLD, "liveness_hold", instance);
    status = pg_flag(&q, held, err);
    if (status == PAWL_OK && *held)
        q.self->alive = instance;
    return status;
}

pawl_status postgres_peers_look(struct store *store, pawl_uuid instance, struct peers_look *out,
                                pawl_error *err) {
    struct query q = instance_query(store, POSTGRES_Q_PEERS_LOOK, "peers_look", instance);
    return pg_row(&q, &peers_look_shape, out, err);
}

pawl_status postgres_grants_settle(struct store *store, const struct grants_settle *in,
                                   struct grants_settled *out, pawl_error *err) {
    struct query q = pg_write(store, POSTGRES_Q_GRANTS_SETTLE, "grants_settle", NULL, check_settle(in, err));
    SEND(&q, in->instance, in->side, ROWS_OF(grant_held_shape, in->held, in->count), in->settled, in->seen);
    return pg_row(&q, &grants_settled_shape, out, err);
}
