/* Putting messages. */
#ifndef MODEL_PUT_H
#define MODEL_PUT_H

#include "store/model/state.h"

/* Everything a put needs before it changes anything: room for the answers, drawn ids, payload hashes. */
struct put_plan {
    struct put_result result;
    int64_t *payload_hashes; /* inbox only */
};

PAWL_MUSTCHECK pawl_status model_put_prepare(const struct messages_put *in, struct arena *arena,
                                             struct put_plan *plan, pawl_error *err);
/* Writes the messages; `used` when the request key was used before: then nothing is written. */
void model_put_apply(struct model *model, const struct messages_put *in, bool used, struct put_plan *plan);
void model_dedupe_remove(struct model *model, struct dedupe *dedupe);

pawl_status model_messages_put(struct store *store, const struct messages_put *in, struct arena *arena,
                               struct put_result *out, pawl_error *err);

#endif
