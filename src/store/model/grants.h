/* Grants that their holder does not know of. */
#ifndef MODEL_GRANTS_H
#define MODEL_GRANTS_H

#include "store/model/state.h"

pawl_status model_grants_settle(struct store *store, const struct grants_settle *in,
                                struct grants_settled *out, pawl_error *err);

#endif
