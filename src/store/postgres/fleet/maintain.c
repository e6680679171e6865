/* Housekeeping and settings on PostgreSQL. */
#include "store/postgres/query.h"

/* A switch to the next segment and the emptying of another, each in its own transaction. */
enum { ROTATIONS_MAX = 3 };

static pawl_status segments_rotate(struct store *store, pawl_error *err) {
    int64_t again = 1;
    pawl_status status = PAWL_OK;
    for (int i = 0; status == PAWL_OK && again != 0 && i < ROTATIONS_MAX; i++) {
        struct query q = pg_write(store, POSTGRES_Q_SEGMENTS_ROTATE, "maintain", NULL, PAWL_OK);
        status = pg_int(&q, &again, err);
    }
    return status;
}

pawl_status postgres_maintain(struct store *store, const struct maintain_in *in, struct maintain_result *out,
                              pawl_error *err) {
    struct query q = pg_write(store, POSTGRES_Q_MAINTAIN, "maintain", NULL, check_maintain(in, err));
    SEND(&q, in->caller, in->rows_max);
    pawl_status status = pg_row(&q, &maintain_shape, out, err);
    return status == PAWL_OK ? segments_rotate(store, err) : status;
}

pawl_status postgres_settings_change(struct store *store, const struct settings_change *in, pawl_error *err) {
    struct query q =
        pg_write(store, POSTGRES_Q_SETTINGS_CHANGE, "settings_change", NULL, check_settings(in, err));
    SEND(&q, ROW_OF(settings_change_shape, in));
    return pg_done(&q, err);
}

pawl_status postgres_settings_read(struct store *store, struct settings *out, pawl_error *err) {
    struct settings *rows = NULL;
    size_t count = 0;
    struct query q = pg_read(store, POSTGRES_Q_SETTINGS_READ, "settings_read", NULL, PAWL_OK);
    pawl_status status = pg_list(&q, &settings_shape, (struct rows_out){&rows, &count, NULL}, err);
    if (status == PAWL_OK && count != 1)
        return error_set(err, PAWL_CONFLICT, "settings_read",
                         "schema \"%s\" has no settings; run `pawl migrate`", q.self->schema);
    if (status == PAWL_OK)
        *out = *rows;
    return status;
}

pawl_status postgres_epoch_raise(struct store *store, int64_t *epoch, pawl_error *err) {
    struct query q = pg_write(store, POSTGRES_Q_EPOCH_RAISE, "epoch_raise", NULL, PAWL_OK);
    return pg_int(&q, epoch, err);
}
