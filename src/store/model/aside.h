/* How messages leave the straight way: set aside, dead, taken back from a claim that ended. */
#ifndef MODEL_ASIDE_H
#define MODEL_ASIDE_H

#include "store/model/state.h"

/* Set aside as it is: out of its claim, without an attempt or a death. */
void model_aside_as_is(struct model *model, struct record *record);

/* The successors of the record in active claims are set aside as they are. */
void model_aside_successors(struct model *model, const struct record *record);

/* A record that is in no claim becomes a dead letter, and its stream does what the policy says. */
void model_die(struct model *model, struct record *record, enum dead_reason reason, enum dead_policy policy);

/* Ends every overdue claim of the kind; lanes of others than the caller that had one become free. Returns how
 * many. */
int64_t model_claims_expire(struct model *model, enum store_kind kind, pawl_uuid caller);

/* The same only for lanes of the caller. */
void model_claims_expire_own(struct model *model, enum store_kind kind, pawl_uuid caller);

/* Ends every active claim of the instance: killed (evicted), or released without a death. */
void model_claims_evict(struct model *model, pawl_uuid instance);
void model_claims_release(struct model *model, pawl_uuid instance);

/* An array of record pointers, copied before a loop that moves them; free() it. */
struct record **model_list_copy(const struct list *list);

#endif
