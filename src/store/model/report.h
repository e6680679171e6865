/* Reports on granted messages: complete, fail, release, renew. */
#ifndef MODEL_REPORT_H
#define MODEL_REPORT_H

#include "store/model/state.h"

/* Room for the answers of count items; outcomes too when asked for. */
PAWL_MUSTCHECK pawl_status model_answers_new(struct arena *arena, size_t count, bool outcomes,
                                             struct answer_list *out, pawl_error *err);

/* What a fail call needs from outside before it changes anything: a random number and the stored text per
 * item. */
struct fail_scratch {
    uint64_t *randoms;
    pawl_str *errors;
};
PAWL_MUSTCHECK pawl_status model_fail_prepare(struct arena *arena, const struct fail_item *items,
                                              size_t count, struct fail_scratch *scratch, pawl_error *err);

/* The operations themselves: the input is checked, the answers have room. */
void model_report_complete(struct model *model, const struct messages_complete *in, struct answer_list *out);
void model_report_fail(struct model *model, const struct messages_fail *in,
                       const struct fail_scratch *scratch, struct answer_list *out);
void model_report_release(struct model *model, const struct messages_release *in, struct answer_list *out);
void model_report_renew(struct model *model, const struct messages_renew *in, struct answer_list *out);

pawl_status model_messages_complete(struct store *store, const struct messages_complete *in,
                                    struct arena *arena, struct answer_list *out, pawl_error *err);
pawl_status model_messages_fail(struct store *store, const struct messages_fail *in, struct arena *arena,
                                struct answer_list *out, pawl_error *err);
pawl_status model_messages_release(struct store *store, const struct messages_release *in,
                                   struct arena *arena, struct answer_list *out, pawl_error *err);
pawl_status model_messages_renew(struct store *store, const struct messages_renew *in, struct arena *arena,
                                 struct answer_list *out, pawl_error *err);

#endif
