/* Putting messages on SQLite: numbers in the order of the call, rows in the order of the lanes. */
#include "store/sqlite/messages/put.h"

#include "base/hash.h"
#include "base/str.h"
#include "base/uuid.h"
#include "store/sqlite/file/row.h"

/* Where a message of the call goes. */
struct placed {
    const pawl_outgoing *message;
    pawl_uuid id;
    int64_t seq;
    int lane, partition;
};

pawl_status request_use(struct operation *op, pawl_uuid key, bool *used) {
    *used = false;
    if (uuid_is_nil(key))
        return PAWL_OK;
    int64_t written = 0;
    TRY(statement_run_count(SQL(op, SQLITE_Q_REQUEST_INSERT, key, op->now_ms), &written));
    *used = written == 0;
    return PAWL_OK;
}

pawl_status request_forget(struct operation *op, pawl_uuid key) {
    if (uuid_is_nil(key))
        return PAWL_OK;
    return statement_run(SQL(op, SQLITE_Q_REQUEST_DELETE, key));
}

static pawl_status dedupe(struct operation *op, const struct messages_put *in, const struct placed *placed,
                          enum store_answer *answer) {
    int64_t hash = 0, known = 0, written = 0;
    bool found = false;
    TRY(hash_payload(placed->message->payload, &hash, op->err));
    TRY(statement_run_count(SQL(op, SQLITE_Q_DEDUPE_INSERT, in->consumer, placed->id, hash, op->now_ms),
                            &written));
    *answer = ANSWER_APPLIED;
    if (written == 1)
        return PAWL_OK;
    TRY(statement_number(SQL(op, SQLITE_Q_DEDUPE_HASH, in->consumer, placed->id), &known, &found));
    *answer = found && known == hash ? ANSWER_DUPLICATE : ANSWER_CONFLICT;
    return PAWL_OK;
}

static pawl_status insert(struct operation *op, const struct messages_put *in, const struct placed *placed) {
    return statement_run(SQL(op, SQLITE_Q_MESSAGE_INSERT, in->kind, placed->lane, placed->seq,
                             placed->partition, placed->id, ROW_OF(message_new_shape, placed->message),
                             in->kind == KIND_INBOX ? in->consumer : str_from(NULL), op->now_ms));
}

static void place(const struct operation *op, const pawl_outgoing *message, struct placed *placed) {
    char text[UUID_TEXT_BYTES];
    /* Messages without a stream have no order; their ids spread them over the lanes. */
    pawl_str hashed = str_absent(message->stream) ? str_from(uuid_format(placed->id, text)) : message->stream;
    uint32_t partition = partition_of(hashed, (uint32_t)op->settings.partition_count);
    placed->message = message;
    placed->partition = (int)partition;
    placed->lane = (int)lane_of(partition, (uint32_t)op->settings.lane_count);
}

/* Answers, ids, numbers and places of the call; *count is how many are to be written. */
static pawl_status plan(struct operation *op, const struct messages_put *in, struct placed *placed,
                        size_t *count, struct put_result *result) {
    for (size_t i = 0; i < in->count; i++) {
        struct placed *next = &placed[*count];
        next->id = in->messages[i].id;
        if (uuid_is_nil(next->id))
            TRY(uuid_next(&next->id, op->err));
        place(op, &in->messages[i], next);
        result->ids[i] = next->id;
        result->answers[i] = ANSWER_APPLIED;
        if (in->kind == KIND_INBOX)
            TRY(dedupe(op, in, next, &result->answers[i]));
        if (result->answers[i] == ANSWER_DUPLICATE)
            op->tally[in->kind].duplicate++;
        if (result->answers[i] != ANSWER_APPLIED)
            continue;
        next->seq = operation_next_seq(op);
        *count += 1;
    }
    return PAWL_OK;
}

/* The rows of a lane lie together in the table, so writing lane by lane touches each page once. */
static pawl_status write_by_lane(struct operation *op, const struct messages_put *in,
                                 const struct placed *placed, size_t count) {
    size_t lanes = (size_t)op->settings.lane_count;
    size_t *starts = arena_array(op->scratch, lanes + 1, sizeof(*starts));
    const struct placed **order = arena_array(op->scratch, count, sizeof(*order));
    if (starts == NULL || order == NULL)
        return operation_no_memory(op);
    for (size_t i = 0; i < count; i++)
        starts[placed[i].lane + 1]++;
    for (size_t lane = 1; lane <= lanes; lane++)
        starts[lane] += starts[lane - 1];
    for (size_t i = 0; i < count; i++)
        order[starts[placed[i].lane]++] = &placed[i];
    for (size_t i = 0; i < count; i++)
        TRY(insert(op, in, order[i]));
    return PAWL_OK;
}

/* Waiting workers are woken when this is committed; mostly there are none. */
static pawl_status find_waiter(struct operation *op, enum store_kind kind) {
    return statement_any(SQL(op, SQLITE_Q_WAITER_FIND, KIND_BIT(kind), op->now_ms), &op->wake);
}

pawl_status put_messages(struct operation *op, const struct messages_put *in, bool used, struct arena *arena,
                         struct put_result *out) {
    struct put_result result = {arena_array(arena, in->count, sizeof(*result.answers)),
                                arena_array(arena, in->count, sizeof(*result.ids))};
    struct placed *placed = arena_array(op->scratch, in->count, sizeof(*placed));
    if (result.answers == NULL || result.ids == NULL || placed == NULL)
        return operation_no_memory(op);
    *out = result;
    for (size_t i = 0; used && i < in->count; i++) {
        result.answers[i] = ANSWER_DUPLICATE;
        result.ids[i] = in->messages[i].id;
    }
    if (used || in->count == 0)
        return PAWL_OK;
    size_t count = 0;
    TRY(plan(op, in, placed, &count, &result));
    TRY(write_by_lane(op, in, placed, count));
    op->tally[in->kind].put += (int64_t)count;
    if (count > 0 && !op->wake)
        TRY(find_waiter(op, in->kind));
    return PAWL_OK;
}

pawl_status sqlite_messages_put(struct store *store, const struct messages_put *in, struct arena *arena,
                                struct put_result *out, pawl_error *err) {
    struct operation op = operation_write(store, "messages_put", check_put(in, err), err);
    if (op.status != PAWL_OK)
        return op.status;
    struct put_result result = {0};
    bool used = false;
    pawl_status status = request_use(&op, in->request, &used);
    if (status == PAWL_OK)
        status = put_messages(&op, in, used, arena, &result);
    return operation_give(&op, status, out, &result);
}
