/* Housekeeping and settings. */
#include <string.h>

#include "base/error.h"
#include "store/postgres/calls.h"

pawl_status postgres_maintain(struct store *store, const struct maintain_in *in, struct maintain_result *out,
                              pawl_error *err) {
    pawl_status status = check_maintain(in, err);
    if (status != PAWL_OK)
        return status;
    struct arena *arena = arena_create(0);
    if (arena == NULL)
        return pg_answer_no_memory("maintain", err);
    struct statement statement = pg_statement_new(POSTGRES_Q_MAINTAIN, arena);
    pg_params_uuid(&statement.params, in->caller);
    pg_params_int(&statement.params, in->rows_max);
    status = pg_statement_run(postgres_of(store), "maintain", &statement, EFFECT_WRITE, err);
    if (status == PAWL_OK) {
        int64_t n[9];
        for (int i = 0; i < 9; i++)
            n[i] = pg_cell_int((struct cell){statement.result, 0, i});
        *out = (struct maintain_result){
            .instances_removed = n[0],
            .tombstones_removed = n[1],
            .dedupe_removed = n[2],
            .requests_removed = n[3],
            .claims_removed = n[4],
            .history_removed = n[5],
            .receptors_removed = n[6],
            .claims_expired = n[7],
            .tally_folded = n[8],
        };
    }
    pg_statement_clear(&statement);
    arena_free(arena);
    return status;
}

pawl_status postgres_settings_change(struct store *store, const struct settings_change *in, pawl_error *err) {
    pawl_status status = check_settings(in, err);
    if (status != PAWL_OK)
        return status;
    struct arena *arena = arena_create(0);
    if (arena == NULL)
        return pg_answer_no_memory("settings_change", err);
    struct statement statement = pg_statement_new(POSTGRES_Q_SETTINGS_CHANGE, arena);
    pg_params_big(&statement.params, in->instance_lease_ms);
    pg_params_big(&statement.params, in->stale_ms);
    pg_params_big(&statement.params, in->dedupe_ms);
    pg_params_big(&statement.params, in->history_ms);
    pg_params_big(&statement.params, in->test_now_ms);
    pg_params_int(&statement.params, in->max_attempts);
    pg_params_int(&statement.params, in->dead_policy);
    status = pg_statement_run(postgres_of(store), "settings_change", &statement, EFFECT_WRITE, err);
    pg_statement_clear(&statement);
    arena_free(arena);
    return status;
}

pawl_status postgres_settings_read(struct store *store, struct settings *out, pawl_error *err) {
    struct statement statement = pg_statement_new(POSTGRES_Q_SETTINGS_READ, NULL);
    pawl_status status = pg_statement_run(postgres_of(store), "settings_read", &statement, EFFECT_READ, err);
    if (status == PAWL_OK && PQntuples(statement.result) != 1)
        status = error_set(err, PAWL_CONFLICT, "settings_read",
                           "schema \"%s\" has no settings; run `pawl migrate`", postgres_of(store)->schema);
    if (status == PAWL_OK) {
        int64_t n[13];
        for (int i = 0; i < 13; i++)
            n[i] = pg_cell_int((struct cell){statement.result, 0, i});
        memset(out, 0, sizeof *out); /* callers compare settings as bytes */
        out->partition_count = (int)n[0];
        out->lane_count = (int)n[1];
        out->max_attempts = (int)n[2];
        out->dead_policy = (int)n[3];
        out->schema_version = (int)n[4];
        out->epoch = n[5];
        out->instance_lease_ms = n[6];
        out->stale_ms = n[7];
        out->dedupe_ms = n[8];
        out->history_ms = n[9];
        out->test_now_ms = n[10];
        out->epoch_ms = n[11];
        out->epoch_cause = (int)n[12];
    }
    pg_statement_clear(&statement);
    return status;
}

pawl_status postgres_epoch_raise(struct store *store, int64_t *epoch, pawl_error *err) {
    struct statement statement = pg_statement_new(POSTGRES_Q_EPOCH_RAISE, NULL);
    pawl_status status = pg_statement_run(postgres_of(store), "epoch_raise", &statement, EFFECT_WRITE, err);
    if (status == PAWL_OK)
        *epoch = pg_cell_int((struct cell){statement.result, 0, 0});
    pg_statement_clear(&statement);
    return status;
}
