/* Claims: what is granted to whom. */
#ifndef MODEL_CLAIM_H
#define MODEL_CLAIM_H

#include "store/model/state.h"

/* The records granted, in the order of the answer. */
struct grants {
    struct record **records;
    size_t count, cap;
};

/* PAWL_STALE unless the instance is active and its lease is not over. */
PAWL_MUSTCHECK pawl_status model_claim_allowed(const struct model *model, pawl_uuid instance, const char *op,
                                               pawl_error *err);
/* Claims; the input is checked and the instance allowed. The request key is only noted on the claims. */
void model_claim_make(struct model *model, const struct messages_claim *in, struct grants *grants);
/* The unfinished items of the instance's active claims that were made under the request key. */
void model_claim_repeat(const struct model *model, const struct messages_claim *in, struct grants *grants);
/* Copies the granted messages into the arena. When that fails, what was granted stays leased until its lease
 * ends, or is asked for again by its request key: the same as an answer that got lost on its way. */
PAWL_MUSTCHECK pawl_status model_grants_copy(const struct grants *grants, struct arena *arena,
                                             struct item_list *out, pawl_error *err);
PAWL_MUSTCHECK pawl_status model_item_copy(const struct record *record, struct arena *arena,
                                           struct item *item, pawl_error *err);

pawl_status model_messages_claim(struct store *store, const struct messages_claim *in, struct arena *arena,
                                 struct item_list *out, pawl_error *err);

#endif
