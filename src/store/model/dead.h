/* Dead letters: driven again, or thrown away. */
#ifndef MODEL_DEAD_H
#define MODEL_DEAD_H

#include "store/model/state.h"

pawl_status model_dead_redrive(struct store *store, const struct dead_ref *refs, size_t count,
                               struct arena *arena, struct answer_list *out, pawl_error *err);
pawl_status model_dead_discard(struct store *store, const struct dead_ref *refs, size_t count,
                               struct arena *arena, struct answer_list *out, pawl_error *err);

#endif
