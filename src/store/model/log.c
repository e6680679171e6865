/* Reports that only keep a log: receptors' records and perspectives' checkpoints. */
#include "store/model/log.h"
#include "store/model/event_state.h"

#include <stdlib.h>

#include "base/hash.h"
#include "base/limits.h"
#include "base/str.h"
#include "base/utf8.h"
#include "base/uuid.h"
#include "domain/workstatus.h"
#include "store/model/report.h"

static void text_replace(pawl_str *text, pawl_str with) {
    model_text_free(*text);
    *text = model_text(with);
}

static struct receptor *receptor_get(struct model *model, pawl_uuid event_id, pawl_str name) {
    uint64_t hash = model_hash_pair(model_hash_uuid(event_id), fnv1a64(name));
    for (struct node *node = model_table_first(&model->receptors, hash); node != NULL;
         node = model_table_next(node)) {
        struct receptor *receptor = node->thing;
        if (uuid_equal(receptor->event_id, event_id) && str_equal(receptor->name, name))
            return receptor;
    }
    struct receptor *receptor = model_alloc(sizeof *receptor);
    receptor->event_id = event_id;
    receptor->name = model_text(name);
    model_table_add(&model->receptors, &receptor->by_key, hash, receptor);
    return receptor;
}

enum store_answer model_receptor_apply(struct model *model, const struct receptor_report *report) {
    struct receptor *receptor = receptor_get(model, report->event_id, report->receptor);
    if ((receptor->status & WORK_COMPLETED) != 0)
        return ANSWER_DUPLICATE;
    receptor->attempts++;
    receptor->updated_ms = model->now_ms;
    receptor->status = str_absent(report->error) ? report->status : report->status | WORK_FAILED;
    text_replace(&receptor->error, utf8_cut(report->error, PAWL_ERROR_BYTES_MAX));
    return ANSWER_APPLIED;
}

void model_receptor_remove(struct model *model, struct receptor *receptor) {
    model_table_remove(&model->receptors, &receptor->by_key);
    model_text_free(receptor->name);
    model_text_free(receptor->error);
    free(receptor);
}

static uint64_t checkpoint_hash(pawl_str stream, pawl_str perspective) {
    return model_hash_pair(fnv1a64(stream), fnv1a64(perspective));
}

struct checkpoint *model_checkpoint_find(const struct model *model, pawl_str stream, pawl_str perspective) {
    struct node *node = model_table_first(&model->checkpoints, checkpoint_hash(stream, perspective));
    for (; node != NULL; node = model_table_next(node)) {
        struct checkpoint *checkpoint = node->thing;
        if (str_equal(checkpoint->stream, stream) && str_equal(checkpoint->perspective, perspective))
            return checkpoint;
    }
    return NULL;
}

enum store_answer model_checkpoint_apply(struct model *model, pawl_uuid instance,
                                         const struct checkpoint_report *report) {
    struct checkpoint *c = model_checkpoint_find(model, report->stream, report->perspective);
    if (c == NULL)
        return ANSWER_NOT_FOUND;
    if (model_perspective_removed(model, report->perspective))
        return ANSWER_STALE;
    struct checkpoint_found found = {.version = c->version,
                                     .head = model_stream_version(model, report->stream),
                                     .token = c->token,
                                     .status = c->status,
                                     .held = c->status == CHECKPOINT_PROCESSING &&
                                             c->token == report->token && uuid_equal(c->instance, instance)};
    enum store_answer answer = checkpoint_answer(&found, report);
    if (answer == ANSWER_APPLIED)
        (void)model_checkpoint_end(model, c,
                                   &(struct checkpoint_end){.version = report->version,
                                                            .token = report->token,
                                                            .status = report->status,
                                                            .error = report->error,
                                                            .delay_ms = report->delay_ms});
    return answer;
}

struct checkpoint *model_checkpoint_make(struct model *model, pawl_str stream, pawl_str perspective) {
    struct checkpoint *checkpoint = model_checkpoint_find(model, stream, perspective);
    if (checkpoint != NULL)
        return checkpoint;
    checkpoint = model_alloc(sizeof *checkpoint);
    checkpoint->stream = model_text(stream);
    checkpoint->perspective = model_text(perspective);
    checkpoint->created_ms = checkpoint->updated_ms = model->now_ms;
    checkpoint->due_ms = model->now_ms;
    model_table_add(&model->checkpoints, &checkpoint->by_key, checkpoint_hash(stream, perspective),
                    checkpoint);
    return checkpoint;
}

pawl_status model_receptors_report(struct store *store, const struct receptor_report *reports, size_t count,
                                   struct arena *arena, struct answer_list *out, pawl_error *err) {
    struct answer_list list = {0};
    pawl_status status = check_receptors(reports, count, err);
    if (status == PAWL_OK)
        status = model_answers_new(arena, count, false, &list, err);
    if (status != PAWL_OK)
        return status;
    struct model *model = model_enter(store);
    for (size_t i = 0; i < count; i++)
        list.answers[i] = model_receptor_apply(model, &reports[i]);
    *out = list;
    return model_leave(model, PAWL_OK);
}

pawl_status model_checkpoints_report(struct store *store, const struct checkpoints_report *in,
                                     struct arena *arena, struct answer_list *out, pawl_error *err) {
    struct answer_list list = {0};
    pawl_status status = check_checkpoints(in, err);
    if (status == PAWL_OK)
        status = model_answers_new(arena, in->count, false, &list, err);
    if (status != PAWL_OK)
        return status;
    struct model *model = model_enter(store);
    for (size_t i = 0; i < in->count; i++)
        list.answers[i] = model_checkpoint_apply(model, in->instance, &in->reports[i]);
    *out = list;
    return model_leave(model, PAWL_OK);
}
