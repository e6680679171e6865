/* Putting messages on PostgreSQL. */
#include "base/error.h"
#include "base/hash.h"
#include "base/str.h"
#include "base/uuid.h"
#include "store/postgres/calls.h"

/* Ids are generated and payloads hashed here, so that the server need not parse them. */
static pawl_status put_ids(const struct messages_put *in, struct put_result *out, int64_t *hashes,
                           pawl_error *err) {
    pawl_status status = PAWL_OK;
    for (size_t i = 0; status == PAWL_OK && i < in->count; i++) {
        out->ids[i] = in->messages[i].id;
        if (uuid_is_nil(out->ids[i]))
            status = uuid_next(&out->ids[i], err);
        if (status == PAWL_OK && in->kind == KIND_INBOX)
            status = hash_payload(in->messages[i].payload, &hashes[i], err);
    }
    return status;
}

/* One message of a producer: the call without arrays. */
static bool is_plain(const struct messages_put *in) {
    return in->count == 1 && in->kind == KIND_OUTBOX && uuid_is_nil(in->request);
}

pawl_status pg_put_prepare(const struct messages_put *in, struct arena *arena, struct statement *statement,
                           struct put_result *out, pawl_error *err) {
    const pawl_outgoing *m = in->messages;
    int64_t *hashes = arena_array(arena, in->count, sizeof *hashes);
    out->answers = arena_array(arena, in->count, sizeof *out->answers);
    out->ids = arena_array(arena, in->count, sizeof *out->ids);
    if (hashes == NULL || out->answers == NULL || out->ids == NULL)
        return pg_answer_no_memory("messages_put", err);
    pawl_status status = put_ids(in, out, hashes, err);
    if (status != PAWL_OK)
        return status;
    *statement = pg_statement_new(is_plain(in) ? POSTGRES_Q_PUT_ONE : POSTGRES_Q_PUT, arena);
    struct params *p = &statement->params;
    if (is_plain(in)) {
        PARAMS(p, out->ids[0], ROW_OF(message_new_shape, m));
        return PAWL_OK;
    }
    PARAMS(p, in->kind, LIST(out->ids, in->count), ROWS_OF(message_new_shape, m, in->count),
           in->kind == KIND_INBOX ? in->consumer : str_from(NULL),
           LIST(hashes, in->kind == KIND_INBOX ? in->count : 0), in->request);
    return PAWL_OK;
}

pawl_status pg_put_take(const struct messages_put *in, const PGresult *result, struct put_result *out,
                        pawl_error *err) {
    if (is_plain(in)) {
        out->answers[0] = ANSWER_APPLIED;
        return PAWL_OK;
    }
    if (PQntuples(result) != 1 ||
        !pg_cell_array_ints((struct cell){result, 0, 0}, (int *)out->answers, in->count))
        return pg_answer_malformed("messages_put", err);
    /* A repeated request writes nothing: an id that was drawn for it names no message. */
    bool repeated = in->count > 0 && !uuid_is_nil(in->request);
    for (size_t i = 0; i < in->count; i++)
        repeated = repeated && out->answers[i] == ANSWER_DUPLICATE;
    for (size_t i = 0; repeated && i < in->count; i++)
        out->ids[i] = in->messages[i].id;
    return PAWL_OK;
}

pawl_status postgres_messages_put(struct store *store, const struct messages_put *in, struct arena *arena,
                                  struct put_result *out, pawl_error *err) {
    struct statement statement = {.result = NULL};
    struct put_result result = {0};
    pawl_status status = check_put(in, err);
    if (status == PAWL_OK)
        status = pg_put_prepare(in, arena, &statement, &result, err);
    if (status == PAWL_OK)
        status = pg_statement_run(postgres_of(store), "messages_put", &statement, EFFECT_WRITE, err);
    if (status == PAWL_OK)
        status = pg_put_take(in, statement.result, &result, err);
    if (status == PAWL_OK)
        *out = result;
    pg_statement_clear(&statement);
    return status;
}
