/* Putting messages. */
#include "store/model/put.h"

#include <stdlib.h>

#include "base/error.h"
#include "base/hash.h"
#include "base/str.h"
#include "base/uuid.h"

pawl_status model_put_prepare(const struct messages_put *in, struct arena *arena, struct put_plan *plan,
                              pawl_error *err) {
    struct put_plan p = {0};
    p.result.answers = arena_array(arena, in->count, sizeof *p.result.answers);
    p.result.ids = arena_array(arena, in->count, sizeof *p.result.ids);
    p.payload_hashes = arena_array(arena, in->count, sizeof *p.payload_hashes);
    if (p.result.answers == NULL || p.result.ids == NULL || p.payload_hashes == NULL)
        return error_set(err, PAWL_NO_MEMORY, "messages_put", "no memory for %zu messages", in->count);
    for (size_t i = 0; i < in->count; i++) {
        pawl_status status = PAWL_OK;
        p.result.ids[i] = in->messages[i].id;
        if (uuid_is_nil(p.result.ids[i]))
            status = uuid_next(&p.result.ids[i], err);
        if (status == PAWL_OK && in->kind == KIND_INBOX)
            status = hash_payload(in->messages[i].payload, &p.payload_hashes[i], err);
        if (status != PAWL_OK)
            return status;
    }
    *plan = p;
    return PAWL_OK;
}

static uint64_t dedupe_hash(pawl_str consumer, pawl_uuid id) {
    return model_hash_pair(fnv1a64(consumer), model_hash_uuid(id));
}

static struct dedupe *dedupe_find(const struct model *model, pawl_str consumer, pawl_uuid id) {
    struct node *node = model_table_first(&model->dedupe, dedupe_hash(consumer, id));
    for (; node != NULL; node = model_table_next(node)) {
        struct dedupe *dedupe = node->thing;
        if (uuid_equal(dedupe->id, id) && str_equal(dedupe->consumer, consumer))
            return dedupe;
    }
    return NULL;
}

void model_dedupe_remove(struct model *model, struct dedupe *dedupe) {
    model_table_remove(&model->dedupe, &dedupe->by_key);
    model_text_free(dedupe->consumer);
    free(dedupe);
}

/* Applied when the pair (consumer, id) is new; it is remembered then. */
static enum store_answer dedupe_accept(struct model *model, pawl_str consumer, pawl_uuid id,
                                       int64_t payload_hash) {
    struct dedupe *known = dedupe_find(model, consumer, id);
    if (known != NULL)
        return known->payload_hash == payload_hash ? ANSWER_DUPLICATE : ANSWER_CONFLICT;
    struct dedupe *dedupe = model_alloc(sizeof *dedupe);
    dedupe->consumer = model_text(consumer);
    dedupe->id = id;
    dedupe->payload_hash = payload_hash;
    dedupe->seen_ms = model->now_ms;
    model_table_add(&model->dedupe, &dedupe->by_key, dedupe_hash(consumer, id), dedupe);
    return ANSWER_APPLIED;
}

void model_put_apply(struct model *model, const struct messages_put *in, bool used, struct put_plan *plan) {
    for (size_t i = 0; i < in->count; i++) {
        if (used) {
            plan->result.answers[i] = ANSWER_DUPLICATE;
            plan->result.ids[i] = in->messages[i].id;
            continue;
        }
        struct message_new message = in->messages[i];
        message.id = plan->result.ids[i];
        enum store_answer answer = ANSWER_APPLIED;
        if (in->kind == KIND_INBOX)
            answer = dedupe_accept(model, in->consumer, message.id, plan->payload_hashes[i]);
        if (answer == ANSWER_APPLIED) {
            (void)model_record_new(model, in->kind, &message,
                                   in->kind == KIND_INBOX ? in->consumer : (pawl_str){NULL, 0});
            model->tally[in->kind].put++;
        } else if (answer == ANSWER_DUPLICATE) {
            model->tally[in->kind].duplicate++;
        }
        plan->result.answers[i] = answer;
    }
}

pawl_status model_messages_put(struct store *store, const struct messages_put *in, struct arena *arena,
                               struct put_result *out, pawl_error *err) {
    struct put_plan plan = {0};
    pawl_status status = check_put(in, err);
    if (status == PAWL_OK)
        status = model_put_prepare(in, arena, &plan, err);
    if (status != PAWL_OK)
        return status;
    struct model *model = model_enter(store);
    bool used = model_request_find(model, in->request) != NULL;
    if (!used)
        model_request_add(model, in->request);
    model_put_apply(model, in, used, &plan);
    *out = plan.result;
    return model_leave(model, PAWL_OK);
}
