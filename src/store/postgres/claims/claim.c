/* Claiming messages. */
#include "base/error.h"
#include "store/postgres/calls.h"

void pg_claim_prepare(const struct messages_claim *in, struct arena *arena, struct statement *statement) {
    *statement = pg_statement_new(in->one_lane ? POSTGRES_Q_CLAIM_LANE : POSTGRES_Q_CLAIM, arena);
    struct params *p = &statement->params;
    pg_params_uuid(p, in->instance);
    pg_params_small(p, (int)in->kind);
    pg_params_int(p, in->max);
    pg_params_big(p, in->lease_ms);
    pg_params_small(p, (int)in->policy);
    pg_params_int(p, in->max_attempts);
    pg_params_uuid(p, in->request);
    if (in->one_lane)
        pg_params_int(p, in->lane);
}

pawl_status pg_item_take(struct cell first, struct arena *arena, struct item *item, pawl_error *err) {
    bool failed = false;
    struct cell at[ITEM_COLUMNS];
    for (int i = 0; i < ITEM_COLUMNS; i++)
        at[i] = (struct cell){first.result, first.row, first.column + i};
    *item = (struct item){
        .token = pg_cell_int(at[0]),
        .lease_until_ms = pg_cell_int(at[1]),
        .seq = pg_cell_int(at[2]),
        .kind = (enum store_kind)pg_cell_int(at[3]),
        .lane = (int)pg_cell_int(at[4]),
        .partition = (int)pg_cell_int(at[5]),
        .id = pg_cell_uuid(at[6]),
        .stream = pg_cell_text(at[7], arena, &failed),
        .topic = pg_cell_text(at[8], arena, &failed),
        .type = pg_cell_text(at[9], arena, &failed),
        .payload = pg_cell_text(at[10], arena, &failed),
        .headers = pg_cell_text(at[11], arena, &failed),
        .correlation_id = pg_cell_uuid(at[12]),
        .causation_id = pg_cell_uuid(at[13]),
        .traceparent = pg_cell_text(at[14], arena, &failed),
        .consumer = pg_cell_text(at[15], arena, &failed),
        .put_ms = pg_cell_int(at[16]),
        .attempt = (int)pg_cell_int(at[17]),
        .deaths = (int)pg_cell_int(at[18]),
        .out_of_order = pg_cell_bool(at[19]),
    };
    return failed ? pg_answer_no_memory("messages_claim", err) : PAWL_OK;
}

pawl_status pg_claim_take(const PGresult *result, struct arena *arena, struct item_list *out,
                          pawl_error *err) {
    struct item_list list = {.count = (size_t)PQntuples(result)};
    list.items = arena_array(arena, list.count, sizeof *list.items);
    if (list.items == NULL)
        return pg_answer_no_memory("messages_claim", err);
    pawl_status status = PAWL_OK;
    for (size_t i = 0; status == PAWL_OK && i < list.count; i++) {
        status = pg_item_take((struct cell){result, (int)i, 0}, arena, &list.items[i], err);
        list.items[i].suspect = pg_cell_bool((struct cell){result, (int)i, ITEM_COLUMNS});
    }
    if (status == PAWL_OK)
        *out = list;
    return status;
}

pawl_status postgres_messages_claim(struct store *store, const struct messages_claim *in, struct arena *arena,
                                    struct item_list *out, pawl_error *err) {
    struct statement statement = {.result = NULL};
    pawl_status status = check_claim(in, err);
    if (status != PAWL_OK)
        return status;
    pg_claim_prepare(in, arena, &statement);
    status = pg_statement_run(postgres_of(store), "messages_claim", &statement, EFFECT_WRITE, err);
    if (status == PAWL_OK)
        status = pg_claim_take(statement.result, arena, out, err);
    pg_statement_clear(&statement);
    return status;
}
