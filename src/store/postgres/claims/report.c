/* Reports on PostgreSQL: complete, fail, release, renew, and those of receptors and checkpoints. */
#include "store/postgres/calls.h"

void pg_complete_params(const struct messages_complete *in, struct params *p) {
    PARAMS(p, in->instance, in->kind, ROWS_OF(complete_item_shape, in->items, in->count), in->debug);
}

pawl_status pg_fail_params(const struct messages_fail *in, struct params *p, pawl_error *err) {
    pawl_str *errors = arena_array(p->arena, in->count, sizeof *errors);
    if (errors == NULL)
        return pg_answer_no_memory("messages_fail", err);
    for (size_t i = 0; i < in->count; i++) {
        pawl_status status =
            store_error_text(p->arena, in->items[i].error, in->items[i].stack, &errors[i], err);
        if (status != PAWL_OK)
            return status;
    }
    PARAMS(p, in->instance, in->kind, LIST_OF(in->items, ref.token, in->count),
           LIST_OF(in->items, ref.id, in->count), LIST(errors, in->count),
           LIST_OF(in->items, error_class, in->count), LIST_OF(in->items, delay_ms, in->count),
           LIST_OF(in->items, policy, in->count), LIST_OF(in->items, max_attempts, in->count));
    return PAWL_OK;
}

void pg_release_params(const struct messages_release *in, struct params *p) {
    PARAMS(p, in->instance, in->kind, ROWS_OF(release_item_shape, in->items, in->count));
}

void pg_renew_params(const struct messages_renew *in, struct params *p) {
    PARAMS(p, in->instance, in->kind, ROWS_OF(item_ref_shape, in->items, in->count), in->lease_ms);
}

void pg_checkpoints_params(const struct checkpoints_report *in, struct params *p) {
    PARAMS(p, in->instance, ROWS_OF(checkpoint_report_shape, in->reports, in->count));
}

pawl_status postgres_messages_complete(struct store *store, const struct messages_complete *in,
                                       struct arena *arena, struct answer_list *out, pawl_error *err) {
    struct query q =
        pg_write(store, POSTGRES_Q_COMPLETE, "messages_complete", arena, check_complete(in, err));
    pg_complete_params(in, &q.statement.params);
    return pg_answers(&q, in->count, out, err);
}

pawl_status postgres_messages_fail(struct store *store, const struct messages_fail *in, struct arena *arena,
                                   struct answer_list *out, pawl_error *err) {
    struct query q = pg_write(store, POSTGRES_Q_FAIL, "messages_fail", arena, check_fail(in, err));
    if (q.status == PAWL_OK)
        q.status = pg_fail_params(in, &q.statement.params, err);
    return pg_answers(&q, in->count, out, err);
}

pawl_status postgres_messages_release(struct store *store, const struct messages_release *in,
                                      struct arena *arena, struct answer_list *out, pawl_error *err) {
    struct query q = pg_write(store, POSTGRES_Q_RELEASE, "messages_release", arena, check_release(in, err));
    pg_release_params(in, &q.statement.params);
    return pg_answers(&q, in->count, out, err);
}

pawl_status postgres_messages_renew(struct store *store, const struct messages_renew *in, struct arena *arena,
                                    struct answer_list *out, pawl_error *err) {
    struct query q = pg_write(store, POSTGRES_Q_RENEW, "messages_renew", arena, check_renew(in, err));
    pg_renew_params(in, &q.statement.params);
    return pg_answers(&q, in->count, out, err);
}

pawl_status postgres_receptors_report(struct store *store, const struct receptor_report *reports,
                                      size_t count, struct arena *arena, struct answer_list *out,
                                      pawl_error *err) {
    struct query q = pg_write(store, POSTGRES_Q_RECEPTORS_REPORT, "receptors_report", arena,
                              check_receptors(reports, count, err));
    SEND(&q, ROWS_OF(receptor_report_shape, reports, count));
    return pg_answers(&q, count, out, err);
}

pawl_status postgres_checkpoints_report(struct store *store, const struct checkpoints_report *in,
                                        struct arena *arena, struct answer_list *out, pawl_error *err) {
    struct query q = pg_write(store, POSTGRES_Q_CHECKPOINTS_REPORT, "checkpoints_report", arena,
                              check_checkpoints(in, err));
    pg_checkpoints_params(in, &q.statement.params);
    return pg_answers(&q, in->count, out, err);
}
