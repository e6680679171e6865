/* Instances: registration, heartbeats, shares, liveness. */
#include "base/error.h"
#include "base/uuid.h"
#include "store/check/place.h"
#include "store/postgres/calls.h"

void pg_instance_params(const struct instance_new *in, struct params *params) {
    pg_params_uuid(params, in->id);
    pg_params_text(params, in->service);
    pg_params_text(params, in->host);
    pg_params_int(params, in->pid);
    pg_params_json(params, in->metadata);
    pg_params_int(params, in->kinds);
    pg_params_big(params, in->lease_ms);
    pg_params_int(params, in->max_partitions);
    pg_params_int(params, in->partition_count);
}

/* A call about one instance with an optional kind (0: none), and the row it answers with. */
struct instance_call {
    const char *op;
    enum postgres_query query;
    pawl_uuid instance;
    enum store_kind kind; /* 0 = the call has none */
    int64_t processed;    /* heartbeat */
    enum statement_effect effect;
};

static pawl_status instance_run(struct store *store, const struct instance_call *call,
                                struct statement *statement, struct arena **arena, pawl_error *err) {
    *arena = arena_create(0);
    if (*arena == NULL)
        return pg_answer_no_memory(call->op, err);
    *statement = pg_statement_new(call->query, *arena);
    pg_params_uuid(&statement->params, call->instance);
    if (call->kind != 0)
        pg_params_small(&statement->params, (int)call->kind);
    if (call->query == POSTGRES_Q_HEARTBEAT)
        pg_params_big(&statement->params, call->processed);
    pawl_status status = pg_statement_run(postgres_of(store), call->op, statement, call->effect, err);
    if (status == PAWL_OK && PQntuples(statement->result) != 1)
        status = pg_answer_malformed(call->op, err);
    return status;
}

pawl_status postgres_clock_read(struct store *store, int64_t *now_ms, pawl_error *err) {
    struct statement statement = pg_statement_new(POSTGRES_Q_CLOCK_READ, NULL);
    pawl_status status = pg_statement_run(postgres_of(store), "clock_read", &statement, EFFECT_READ, err);
    if (status == PAWL_OK)
        *now_ms = pg_cell_int((struct cell){statement.result, 0, 0});
    pg_statement_clear(&statement);
    return status;
}

pawl_status postgres_instance_register(struct store *store, const struct instance_new *in,
                                       struct instance_grant *out, pawl_error *err) {
    pawl_status status = check_instance(in, err);
    if (status != PAWL_OK)
        return status;
    struct arena *arena = arena_create(0);
    if (arena == NULL)
        return pg_answer_no_memory("instance_register", err);
    struct statement statement = pg_statement_new(POSTGRES_Q_INSTANCE_REGISTER, arena);
    pg_instance_params(in, &statement.params);
    pg_params_int(&statement.params, in->slots);
    status = pg_statement_run(postgres_of(store), "instance_register", &statement, EFFECT_WRITE, err);
    if (status == PAWL_OK)
        *out = (struct instance_grant){
            .now_ms = pg_cell_int((struct cell){statement.result, 0, 0}),
            .lease_until_ms = pg_cell_int((struct cell){statement.result, 0, 1}),
            .epoch = pg_cell_int((struct cell){statement.result, 0, 2}),
            .lanes_owned = (int)pg_cell_int((struct cell){statement.result, 0, 3}),
        };
    pg_statement_clear(&statement);
    arena_free(arena);
    return status;
}

static pawl_status beat(struct store *store, const struct instance_call *call, struct beat_result *out,
                        pawl_error *err) {
    struct statement statement = {.result = NULL};
    struct arena *arena = NULL;
    pawl_status status = instance_run(store, call, &statement, &arena, err);
    if (status == PAWL_OK) {
        const PGresult *r = statement.result;
        *out = (struct beat_result){
            .now_ms = pg_cell_int((struct cell){r, 0, 0}),
            .lease_until_ms = pg_cell_int((struct cell){r, 0, 1}),
            .lanes_owned = {0, (int)pg_cell_int((struct cell){r, 0, 2}),
                            (int)pg_cell_int((struct cell){r, 0, 3}),
                            (int)pg_cell_int((struct cell){r, 0, 4})},
            .lanes_taken = (int)pg_cell_int((struct cell){r, 0, 5}),
            .lanes_given = (int)pg_cell_int((struct cell){r, 0, 6}),
            .evicted = (int)pg_cell_int((struct cell){r, 0, 7}),
            .pauses = call->kind == 0 ? pg_cell_int((struct cell){r, 0, 8}) : 0,
        };
    }
    pg_statement_clear(&statement);
    arena_free(arena);
    return status;
}

pawl_status postgres_heartbeat(struct store *store, pawl_uuid instance, int64_t processed,
                               struct beat_result *out, pawl_error *err) {
    const struct instance_call call = {"heartbeat", POSTGRES_Q_HEARTBEAT, instance, 0,
                                       processed,   EFFECT_WRITE};
    return beat(store, &call, out, err);
}

pawl_status postgres_lanes_rebalance(struct store *store, pawl_uuid instance, enum store_kind kind,
                                     struct beat_result *out, pawl_error *err) {
    struct place at = {.op = "lanes_rebalance", .err = err};
    pawl_status status = place_kind(&at, kind);
    if (status != PAWL_OK)
        return status;
    const struct instance_call call = {at.op, POSTGRES_Q_LANES_REBALANCE, instance, kind, 0, EFFECT_WRITE};
    return beat(store, &call, out, err);
}

/* A call that answers nothing but its status. */
static pawl_status instance_end(struct store *store, const struct instance_call *call, pawl_error *err) {
    struct statement statement = {.result = NULL};
    struct arena *arena = NULL;
    pawl_status status = instance_run(store, call, &statement, &arena, err);
    pg_statement_clear(&statement);
    arena_free(arena);
    return status;
}

pawl_status postgres_instance_deregister(struct store *store, pawl_uuid instance, pawl_error *err) {
    const struct instance_call call = {"instance_deregister", POSTGRES_Q_INSTANCE_DEREGISTER, instance, 0, 0,
                                       EFFECT_WRITE};
    pawl_status status = instance_end(store, &call, err);
    if (status == PAWL_OK && uuid_equal(postgres_of(store)->alive, instance)) {
        postgres_of(store)->alive = uuid_nil();
        postgres_of(store)->lock_lost = false;
    }
    return status;
}

pawl_status postgres_instance_evict(struct store *store, pawl_uuid instance, pawl_error *err) {
    const struct instance_call call = {"instance_evict", POSTGRES_Q_INSTANCE_EVICT, instance, 0, 0,
                                       EFFECT_WRITE};
    return instance_end(store, &call, err);
}

pawl_status postgres_liveness_hold(struct store *store, pawl_uuid instance, bool *held, pawl_error *err) {
    struct postgres *self = postgres_of(store);
    struct statement statement = {.result = NULL};
    struct arena *arena = NULL;
    bool direct = false;
    pawl_status status = pg_session_is_ours(self, "liveness_hold", &direct, err);
    if (status != PAWL_OK)
        return status;
    if (!direct) {
        /* Still an answer about the instance: an evicted one must hear it here too. */
        const struct instance_call look = {"liveness_hold", POSTGRES_Q_PEERS_LOOK, instance, 0, 0,
                                           EFFECT_WRITE};
        status = instance_end(store, &look, err);
        if (status == PAWL_OK)
            *held = false;
        return status;
    }
    const struct instance_call call = {"liveness_hold", POSTGRES_Q_LIVENESS_HOLD, instance, 0, 0,
                                       EFFECT_WRITE};
    status = instance_run(store, &call, &statement, &arena, err);
    if (status == PAWL_OK) {
        *held = pg_cell_bool((struct cell){statement.result, 0, 0});
        if (*held)
            self->alive = instance;
    }
    pg_statement_clear(&statement);
    arena_free(arena);
    return status;
}

pawl_status postgres_peers_look(struct store *store, pawl_uuid instance, struct peers_look *out,
                                pawl_error *err) {
    const struct instance_call call = {"peers_look", POSTGRES_Q_PEERS_LOOK, instance, 0, 0, EFFECT_WRITE};
    struct statement statement = {.result = NULL};
    struct arena *arena = NULL;
    pawl_status status = instance_run(store, &call, &statement, &arena, err);
    if (status == PAWL_OK)
        *out = (struct peers_look){.evicted = (int)pg_cell_int((struct cell){statement.result, 0, 0}),
                                   .rebalance_wanted = pg_cell_bool((struct cell){statement.result, 0, 1}),
                                   .believe_ms = pg_cell_int((struct cell){statement.result, 0, 2})};
    pg_statement_clear(&statement);
    arena_free(arena);
    return status;
}
