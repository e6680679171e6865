/* Dead letters and history on PostgreSQL: redrive, discard, edit, remove. */
#include "store/postgres/query.h"

pawl_status postgres_dead_redrive(struct store *store, const struct dead_ref *refs, size_t count,
                                  struct arena *arena, struct answer_list *out, pawl_error *err) {
    struct query q = pg_write(store, POSTGRES_Q_DEAD_REDRIVE, "dead_redrive", arena,
                              check_dead_refs("dead_redrive", refs, count, err));
    SEND(&q, ROWS_OF(dead_ref_shape, refs, count));
    return pg_answers(&q, count, out, err);
}

pawl_status postgres_dead_discard(struct store *store, const struct dead_ref *refs, size_t count,
                                  struct arena *arena, struct answer_list *out, pawl_error *err) {
    struct query q = pg_write(store, POSTGRES_Q_DEAD_DISCARD, "dead_discard", arena,
                              check_dead_refs("dead_discard", refs, count, err));
    SEND(&q, ROWS_OF(dead_ref_shape, refs, count));
    return pg_answers(&q, count, out, err);
}

pawl_status postgres_dead_edit(struct store *store, const struct dead_ref *ref, pawl_str payload,
                               enum store_answer *answer, pawl_error *err) {
    struct query q =
        pg_write(store, POSTGRES_Q_DEAD_EDIT, "dead_edit", NULL, check_dead_edit(ref, payload, err));
    SEND(&q, ref->kind, ref->seq, payload);
    return pg_answer(&q, answer, err);
}

pawl_status postgres_history_remove(struct store *store, const struct dead_ref *refs, size_t count,
                                    int64_t *removed, pawl_error *err) {
    struct query q = pg_write(store, POSTGRES_Q_HISTORY_REMOVE, "history_remove", NULL,
                              check_dead_refs("history_remove", refs, count, err));
    SEND(&q, ROWS_OF(dead_ref_shape, refs, count));
    return pg_int(&q, removed, err);
}
