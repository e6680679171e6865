/* Duties, deliveries, pauses and recorded actions on SQLite. */
#include "store/relay.h"

#include "base/error.h"
#include "base/hash.h"
#include "base/str.h"
#include "base/uuid.h"
#include "store/sqlite/file/row.h"
#include "store/sqlite/messages/pause.h"
#include "store/sqlite/messages/put.h"

static pawl_status is_active(struct operation *op, pawl_uuid instance, bool *active) {
    return statement_any(SQL(op, SQLITE_Q_INSTANCE_IS_ACTIVE, instance), active);
}

static pawl_status duty_find(struct operation *op, pawl_str name, struct duty_row *duty) {
    struct statement s = SQL(op, SQLITE_Q_DUTY_FIND, name);
    *duty = (struct duty_row){.name = name};
    if (statement_next(&s))
        row_read(&s, 0, &duty_shape, op->scratch, duty);
    return statement_end(&s);
}

static pawl_status duty_put(struct operation *op, const struct duty_row *duty) {
    return statement_run(SQL(op, SQLITE_Q_DUTY_PUT, ROW_OF(duty_shape, duty)));
}

/* Decides inside the operation which instance has the duty now. */
static pawl_status duty_decide(struct operation *op, const struct duty_take *in, struct duty_grant *grant) {
    struct duty_row duty;
    bool active = false, other = false;
    TRY(is_active(op, in->instance, &active));
    if (!active)
        return error_set(op->err, PAWL_STALE, "duty_take", "the instance is not active");
    TRY(duty_find(op, in->name, &duty));
    TRY(is_active(op, duty.instance, &other));
    bool own = uuid_equal(duty.instance, in->instance) && duty.lease_until_ms > op->now_ms;
    if (!own && (duty.lease_until_ms <= op->now_ms || !other)) {
        duty.instance = in->instance;
        duty.token = operation_next_token(op);
        own = true;
    }
    if (own) {
        duty.lease_until_ms = op->now_ms + in->lease_ms;
        TRY(duty_put(op, &duty));
    }
    *grant = (struct duty_grant){own, own ? duty.token : 0, duty.instance, op->now_ms, duty.lease_until_ms};
    return PAWL_OK;
}

pawl_status sqlite_duty_take(struct store *store, const struct duty_take *in, struct duty_grant *out,
                             pawl_error *err) {
    struct duty_grant grant = {0};
    struct operation op = operation_write(store, "duty_take", check_duty(in, err), err);
    return operation_give(&op, duty_decide(&op, in, &grant), out, &grant);
}

pawl_status sqlite_duty_leave(struct store *store, pawl_str name, int64_t token, pawl_error *err) {
    struct duty_row duty;
    struct operation op = operation_write(store, "duty_leave", PAWL_OK, err);
    if (op.status != PAWL_OK)
        return op.status;
    pawl_status status = duty_find(&op, name, &duty);
    if (status == PAWL_OK && (duty.token != token || duty.lease_until_ms <= op.now_ms))
        status = error_set(err, PAWL_STALE, "duty_leave", "the duty is no longer held");
    duty.lease_until_ms = op.now_ms;
    if (status == PAWL_OK)
        status = duty_put(&op, &duty);
    return operation_end(&op, status);
}

pawl_status sqlite_duties(struct store *store, struct arena *arena, struct duty_rows *out, pawl_error *err) {
    struct operation op = operation_read(store, "duties", PAWL_OK, err);
    return operation_list(&op, SQL(&op, SQLITE_Q_DUTY_LIST, op.now_ms), &duty_shape, arena,
                          ROWS_OUT(out, rows));
}

pawl_status refused_keep(struct operation *op, const struct refused_row *row) {
    int64_t hash = 0;
    TRY(hash_payload(row->payload, &hash, op->err));
    return statement_run(SQL(op, SQLITE_Q_REFUSED_INSERT, row->reason, row->consumer, row->topic,
                             row->message_id, row->detail, row->payload, hash, op->now_ms));
}

static pawl_status refused_keep_all(struct operation *op, const struct messages_receive *in,
                                    const struct put_result *result) {
    for (size_t i = 0; i < in->count; i++) {
        char id[UUID_TEXT_BYTES];
        if (result->answers[i] == ANSWER_CONFLICT)
            TRY(refused_keep(op,
                             &(struct refused_row){.reason = REFUSED_CONFLICT,
                                                   .consumer = in->consumer,
                                                   .topic = in->messages[i].topic,
                                                   .message_id = str_from(uuid_format(result->ids[i], id)),
                                                   .detail = STR(RECEIVE_CONFLICT_TEXT),
                                                   .payload = in->messages[i].payload}));
    }
    for (size_t i = 0; i < in->malformed_count; i++) {
        const struct malformed *one = &in->malformed[i];
        TRY(refused_keep(
            op, &(struct refused_row){.reason = REFUSED_MALFORMED,
                                      .consumer = in->consumer,
                                      .topic = in->topic,
                                      .message_id = str_absent(one->message_id) ? STR("") : one->message_id,
                                      .detail = one->detail,
                                      .payload = str_absent(one->payload) ? STR("") : one->payload}));
    }
    return PAWL_OK;
}

pawl_status sqlite_messages_receive(struct store *store, const struct messages_receive *in,
                                    struct arena *arena, struct put_result *out, pawl_error *err) {
    struct messages_put put = receive_put(in);
    struct put_result result = {0};
    struct duty_row duty;
    struct operation op = operation_write(store, "messages_receive", check_receive(in, err), err);
    if (op.status != PAWL_OK)
        return op.status;
    pawl_status status = duty_find(&op, in->duty, &duty);
    if (status == PAWL_OK && (duty.token != in->token || !uuid_equal(duty.instance, in->instance) ||
                              duty.lease_until_ms <= op.now_ms))
        status = error_set(err, PAWL_STALE, "messages_receive", "the duty is no longer held");
    if (status == PAWL_OK)
        status = put_messages(&op, &put, false, arena, &result);
    if (status == PAWL_OK)
        status = refused_keep_all(&op, in, &result);
    return operation_give(&op, status, out, &result);
}

pawl_status sqlite_refused_remove(struct store *store, int64_t number, pawl_error *err) {
    int64_t changed = 0;
    struct operation op = operation_write(store, "refused_remove", PAWL_OK, err);
    if (op.status != PAWL_OK)
        return op.status;
    pawl_status status = statement_run_count(SQL(&op, SQLITE_Q_REFUSED_DELETE, number), &changed);
    if (status == PAWL_OK && changed == 0)
        status = error_set(err, PAWL_NOT_FOUND, "refused_remove", "there is no refused message %lld",
                           (long long)number);
    return operation_end(&op, status);
}

pawl_status sqlite_audit_add(struct store *store, const struct audit_row *in, pawl_error *err) {
    struct operation op = operation_write(store, "audit_add", check_audit(in, err), err);
    return operation_end(
        &op, statement_run(SQL(&op, SQLITE_Q_AUDIT_INSERT, op.now_ms, in->actor, in->action, in->detail)));
}
