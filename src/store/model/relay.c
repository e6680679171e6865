/* Duties, what came in and was refused, pauses and the audit. */
#include "store/model/relay.h"

#include "store/model/view.h"
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/hash.h"
#include "base/str.h"
#include "base/uuid.h"
#include "store/model/put.h"

struct relay {
    struct duty_row *duties;
    size_t duty_count, duty_cap;
    struct refused_row *refused;
    int64_t *hashes; /* of the refused payloads */
    size_t refused_count, refused_cap, hash_cap;
    struct pause_row *pauses;
    size_t pause_count, pause_cap;
    struct audit_row *audits;
    size_t audit_count, audit_cap;
    int64_t refused_last, audit_last;
};

static struct relay *relay_of(struct model *model) {
    if (model->relay == NULL)
        model->relay = model_alloc(sizeof(*model->relay));
    return model->relay;
}

void model_relay_free(struct model *model) {
    struct relay *relay = model->relay;
    if (relay == NULL)
        return;
    for (size_t i = 0; i < relay->duty_count; i++)
        model_text_free(relay->duties[i].name);
    for (size_t i = 0; i < relay->refused_count; i++) {
        struct refused_row *row = &relay->refused[i];
        pawl_str texts[] = {row->consumer, row->topic, row->message_id, row->detail, row->payload};
        for (size_t j = 0; j < 5; j++)
            model_text_free(texts[j]);
    }
    for (size_t i = 0; i < relay->pause_count; i++) {
        model_text_free(relay->pauses[i].name);
        model_text_free(relay->pauses[i].reason);
        model_text_free(relay->pauses[i].actor);
    }
    for (size_t i = 0; i < relay->audit_count; i++) {
        model_text_free(relay->audits[i].actor);
        model_text_free(relay->audits[i].action);
        model_text_free(relay->audits[i].detail);
    }
    free(relay->duties);
    free(relay->refused);
    free(relay->hashes);
    free(relay->pauses);
    free(relay->audits);
    free(relay);
}

static struct duty_row *duty_find(struct relay *relay, pawl_str name) {
    for (size_t i = 0; i < relay->duty_count; i++) {
        if (str_equal(relay->duties[i].name, name))
            return &relay->duties[i];
    }
    return NULL;
}

static bool active(struct model *model, pawl_uuid id) {
    struct instance *instance = model_instance_find(model, id);
    return instance != NULL && instance->state == INSTANCE_ACTIVE;
}

static pawl_status duty_take(struct store *store, const struct duty_take *in, struct duty_grant *out,
                             pawl_error *err) {
    pawl_status status = check_duty(in, err);
    if (status != PAWL_OK)
        return status;
    struct model *model = model_enter(store);
    struct relay *relay = relay_of(model);
    if (!active(model, in->instance))
        return model_leave(model, error_set(err, PAWL_STALE, "duty_take", "the instance is not active"));
    struct duty_row *duty = duty_find(relay, in->name);
    if (duty == NULL) {
        relay->duties =
            model_grow(relay->duties, &relay->duty_cap, relay->duty_count + 1, sizeof(*relay->duties));
        duty = &relay->duties[relay->duty_count++];
        *duty = (struct duty_row){.name = model_text(in->name)};
    }
    bool own = uuid_equal(duty->instance, in->instance) && duty->lease_until_ms > model->now_ms;
    if (!own && (duty->lease_until_ms <= model->now_ms || !active(model, duty->instance))) {
        duty->instance = in->instance;
        duty->token = model_token_next(model);
        own = true;
    }
    if (own)
        duty->lease_until_ms = model->now_ms + in->lease_ms;
    *out =
        (struct duty_grant){own, own ? duty->token : 0, duty->instance, model->now_ms, duty->lease_until_ms};
    return model_leave(model, PAWL_OK);
}

static pawl_status duty_leave(struct store *store, pawl_str name, int64_t token, pawl_error *err) {
    struct model *model = model_enter(store);
    struct duty_row *duty = duty_find(relay_of(model), name);
    if (duty == NULL || duty->token != token || duty->lease_until_ms <= model->now_ms)
        return model_leave(model, error_set(err, PAWL_STALE, "duty_leave", "the duty is no longer held"));
    duty->lease_until_ms = model->now_ms;
    return model_leave(model, PAWL_OK);
}

/* A copy of the texts in the arena; the model's own may go at any time. */
static pawl_str copied(struct arena *arena, pawl_str text, bool *failed) {
    pawl_str copy = {NULL, 0};
    if (str_dup(arena, text, &copy, NULL) != PAWL_OK)
        *failed = true;
    return copy;
}

static pawl_status no_memory(struct model *model, pawl_error *err) {
    return model_leave(model, error_set(err, PAWL_NO_MEMORY, "relay", "out of memory"));
}

static int duty_order(const void *a, const void *b) {
    return str_compare(((const struct duty_row *)a)->name, ((const struct duty_row *)b)->name);
}

static pawl_status duties(struct store *store, struct arena *arena, struct duty_rows *out, pawl_error *err) {
    struct model *model = model_enter(store);
    struct relay *relay = relay_of(model);
    struct duty_row *rows = arena_array(arena, relay->duty_count, sizeof(*rows));
    bool failed = rows == NULL;
    size_t count = 0;
    for (size_t i = 0; !failed && i < relay->duty_count; i++) {
        rows[count] = relay->duties[i];
        rows[count].name = copied(arena, rows[count].name, &failed);
        count += rows[count].lease_until_ms > model->now_ms;
    }
    if (failed)
        return no_memory(model, err);
    qsort(rows, count, sizeof(*rows), duty_order);
    *out = (struct duty_rows){rows, count};
    return model_leave(model, PAWL_OK);
}

static void refuse(struct model *model, const struct refused_row *in, int64_t hash) {
    struct relay *relay = relay_of(model);
    for (size_t i = 0; i < relay->refused_count; i++) {
        const struct refused_row *row = &relay->refused[i];
        if (str_equal(row->consumer, in->consumer) && str_equal(row->message_id, in->message_id) &&
            relay->hashes[i] == hash)
            return;
    }
    relay->refused =
        model_grow(relay->refused, &relay->refused_cap, relay->refused_count + 1, sizeof(*relay->refused));
    relay->hashes =
        model_grow(relay->hashes, &relay->hash_cap, relay->refused_count + 1, sizeof(*relay->hashes));
    relay->hashes[relay->refused_count] = hash;
    relay->refused[relay->refused_count++] = (struct refused_row){.number = ++relay->refused_last,
                                                                  .reason = in->reason,
                                                                  .consumer = model_text(in->consumer),
                                                                  .topic = model_text(in->topic),
                                                                  .message_id = model_text(in->message_id),
                                                                  .detail = model_text(in->detail),
                                                                  .payload = model_text(in->payload),
                                                                  .received_ms = model->now_ms};
}

static pawl_status refuse_all(struct model *model, const struct messages_receive *in,
                              const struct put_plan *plan, pawl_error *err) {
    pawl_status status = PAWL_OK;
    for (size_t i = 0; i < in->count; i++) {
        char id[UUID_TEXT_BYTES];
        if (plan->result.answers[i] != ANSWER_CONFLICT)
            continue;
        struct refused_row row = {.reason = REFUSED_CONFLICT,
                                  .consumer = in->consumer,
                                  .topic = in->messages[i].topic,
                                  .message_id = str_from(uuid_format(plan->result.ids[i], id)),
                                  .detail = STR(RECEIVE_CONFLICT_TEXT),
                                  .payload = in->messages[i].payload};
        refuse(model, &row, plan->payload_hashes[i]);
    }
    for (size_t i = 0; status == PAWL_OK && i < in->malformed_count; i++) {
        const struct malformed *one = &in->malformed[i];
        int64_t hash = 0;
        status = hash_payload(one->payload, &hash, err);
        struct refused_row row = {.reason = REFUSED_MALFORMED,
                                  .consumer = in->consumer,
                                  .topic = in->topic,
                                  .message_id = str_absent(one->message_id) ? STR("") : one->message_id,
                                  .detail = one->detail,
                                  .payload = one->payload};
        if (status == PAWL_OK)
            refuse(model, &row, hash);
    }
    return status;
}

static pawl_status messages_receive(struct store *store, const struct messages_receive *in,
                                    struct arena *arena, struct put_result *out, pawl_error *err) {
    struct messages_put put = receive_put(in);
    struct put_plan plan = {0};
    pawl_status status = check_receive(in, err);
    if (status == PAWL_OK)
        status = model_put_prepare(&put, arena, &plan, err);
    if (status != PAWL_OK)
        return status;
    struct model *model = model_enter(store);
    struct duty_row *duty = duty_find(relay_of(model), in->duty);
    if (duty == NULL || duty->token != in->token || !uuid_equal(duty->instance, in->instance) ||
        duty->lease_until_ms <= model->now_ms)
        return model_leave(model,
                           error_set(err, PAWL_STALE, "messages_receive", "the duty is no longer held"));
    model_put_apply(model, &put, false, &plan);
    status = refuse_all(model, in, &plan, err);
    *out = plan.result;
    return model_leave(model, status);
}

static pawl_status refused(struct store *store, int64_t after, int limit, struct arena *arena,
                           struct refused_rows *out, pawl_error *err) {
    struct model *model = model_enter(store);
    struct relay *relay = relay_of(model);
    struct refused_row *rows = arena_array(arena, relay->refused_count, sizeof(*rows));
    bool failed = rows == NULL;
    size_t count = 0;
    for (size_t i = 0; !failed && i < relay->refused_count && count < (size_t)limit; i++) {
        struct refused_row row = relay->refused[i];
        if (row.number <= after)
            continue;
        row.consumer = copied(arena, row.consumer, &failed);
        row.topic = copied(arena, row.topic, &failed);
        row.message_id = copied(arena, row.message_id, &failed);
        row.detail = copied(arena, row.detail, &failed);
        row.payload = copied(arena, row.payload, &failed);
        rows[count++] = row;
    }
    if (failed)
        return no_memory(model, err);
    *out = (struct refused_rows){rows, count};
    return model_leave(model, PAWL_OK);
}

static pawl_status refused_remove(struct store *store, int64_t number, pawl_error *err) {
    struct model *model = model_enter(store);
    struct relay *relay = relay_of(model);
    for (size_t i = 0; i < relay->refused_count; i++) {
        struct refused_row row = relay->refused[i];
        if (row.number != number)
            continue;
        pawl_str texts[] = {row.consumer, row.topic, row.message_id, row.detail, row.payload};
        for (size_t j = 0; j < 5; j++)
            model_text_free(texts[j]);
        size_t behind = --relay->refused_count - i;
        memmove(&relay->refused[i], &relay->refused[i + 1], behind * sizeof(*relay->refused));
        memmove(&relay->hashes[i], &relay->hashes[i + 1], behind * sizeof(*relay->hashes));
        return model_leave(model, PAWL_OK);
    }
    return model_leave(model, error_set(err, PAWL_NOT_FOUND, "refused_remove",
                                        "there is no refused message %lld", (long long)number));
}

static struct pause_row *pause_find(struct relay *relay, enum pause_scope scope, pawl_str name) {
    for (size_t i = 0; i < relay->pause_count; i++) {
        if (relay->pauses[i].scope == scope && str_equal(relay->pauses[i].name, name))
            return &relay->pauses[i];
    }
    return NULL;
}

static pawl_status pause_set(struct store *store, const struct pause_row *in, pawl_error *err) {
    pawl_status status = check_pause(in, err);
    if (status != PAWL_OK)
        return status;
    struct model *model = model_enter(store);
    struct relay *relay = relay_of(model);
    if (pause_find(relay, in->scope, in->name) == NULL) {
        relay->pauses =
            model_grow(relay->pauses, &relay->pause_cap, relay->pause_count + 1, sizeof(*relay->pauses));
        relay->pauses[relay->pause_count++] = (struct pause_row){.scope = in->scope,
                                                                 .name = model_text(in->name),
                                                                 .reason = model_text(in->reason),
                                                                 .actor = model_text(in->actor),
                                                                 .since_ms = model->now_ms};
    }
    return model_leave(model, PAWL_OK);
}

static bool in_aside(const struct record *record, const void *self) {
    (void)self;
    return record->place == PLACE_ASIDE;
}

/* What was given back because of the pause is due at once. */
static void resume(struct model *model, enum pause_scope scope, pawl_str name) {
    struct records found = model_records_by_seq(model, in_aside, NULL);
    for (size_t i = 0; i < found.count; i++) {
        struct record *record = found.at[i];
        bool named = scope == PAUSE_HANDLER ||
                     (scope == PAUSE_TOPIC &&
                      str_equal(str_absent(record->topic) ? record->type : record->topic, name)) ||
                     (scope == PAUSE_STREAM && str_equal(record->stream, name));
        if (named && record->reason == ASIDE_RELEASED && record->scheduled_ms > model->now_ms)
            model_record_to_aside(model, record, ASIDE_RELEASED, model->now_ms);
    }
    free(found.at);
}

static pawl_status pause_clear(struct store *store, enum pause_scope scope, pawl_str name, pawl_error *err) {
    struct model *model = model_enter(store);
    struct relay *relay = relay_of(model);
    struct pause_row *row = pause_find(relay, scope, name);
    if (row == NULL)
        return model_leave(model, error_set(err, PAWL_NOT_FOUND, "pause_clear", "it is not paused"));
    model_text_free(row->name);
    model_text_free(row->reason);
    model_text_free(row->actor);
    *row = relay->pauses[--relay->pause_count];
    resume(model, scope, name);
    return model_leave(model, PAWL_OK);
}

const struct pause_row *model_pause_find(const struct model *model, enum pause_scope scope, pawl_str name) {
    return model->relay != NULL ? pause_find(model->relay, scope, name) : NULL;
}

int64_t model_pause_count(const struct model *model) {
    return model->relay != NULL ? (int64_t)model->relay->pause_count : 0;
}

static int pause_order(const void *a, const void *b) {
    const struct pause_row *left = a, *right = b;
    return left->scope != right->scope ? (int)left->scope - (int)right->scope
                                       : str_compare(left->name, right->name);
}

static pawl_status pauses(struct store *store, struct arena *arena, struct pause_rows *out, pawl_error *err) {
    struct model *model = model_enter(store);
    struct relay *relay = relay_of(model);
    struct pause_row *rows = arena_array(arena, relay->pause_count, sizeof(*rows));
    bool failed = rows == NULL;
    for (size_t i = 0; !failed && i < relay->pause_count; i++) {
        rows[i] = relay->pauses[i];
        rows[i].name = copied(arena, rows[i].name, &failed);
        rows[i].reason = copied(arena, rows[i].reason, &failed);
        rows[i].actor = copied(arena, rows[i].actor, &failed);
    }
    if (failed)
        return no_memory(model, err);
    qsort(rows, relay->pause_count, sizeof(*rows), pause_order);
    *out = (struct pause_rows){rows, relay->pause_count};
    return model_leave(model, PAWL_OK);
}

static pawl_status audit_add(struct store *store, const struct audit_row *in, pawl_error *err) {
    pawl_status status = check_audit(in, err);
    if (status != PAWL_OK)
        return status;
    struct model *model = model_enter(store);
    struct relay *relay = relay_of(model);
    relay->audits =
        model_grow(relay->audits, &relay->audit_cap, relay->audit_count + 1, sizeof(*relay->audits));
    relay->audits[relay->audit_count++] = (struct audit_row){.number = ++relay->audit_last,
                                                             .at_ms = model->now_ms,
                                                             .actor = model_text(in->actor),
                                                             .action = model_text(in->action),
                                                             .detail = model_text(in->detail)};
    return model_leave(model, PAWL_OK);
}

static pawl_status audits(struct store *store, int64_t before, int limit, struct arena *arena,
                          struct audit_rows *out, pawl_error *err) {
    struct model *model = model_enter(store);
    struct relay *relay = relay_of(model);
    struct audit_row *rows = arena_array(arena, relay->audit_count, sizeof(*rows));
    bool failed = rows == NULL;
    size_t count = 0;
    for (size_t i = relay->audit_count; !failed && i-- > 0 && count < (size_t)limit;) {
        struct audit_row row = relay->audits[i];
        if (before > 0 && row.number >= before)
            continue;
        row.actor = copied(arena, row.actor, &failed);
        row.action = copied(arena, row.action, &failed);
        row.detail = copied(arena, row.detail, &failed);
        rows[count++] = row;
    }
    if (failed)
        return no_memory(model, err);
    *out = (struct audit_rows){rows, count};
    return model_leave(model, PAWL_OK);
}

const struct store_relay_ops model_relay_ops = {
    .duty_take = duty_take,
    .duty_leave = duty_leave,
    .duties = duties,
    .messages_receive = messages_receive,
    .refused = refused,
    .refused_remove = refused_remove,
    .pause_set = pause_set,
    .pause_clear = pause_clear,
    .pauses = pauses,
    .audit_add = audit_add,
    .audits = audits,
};
