/* What applying granted checkpoints and advancing others share. */
#ifndef STORE_POSTGRES_EVENTS_APPLY_H
#define STORE_POSTGRES_EVENTS_APPLY_H

#include "store/apply.h"
#include "store/postgres/wire/pipeline.h"

/* A transaction of ours around a function; close commits it, or rolls it back when status is a failure. */
PAWL_MUSTCHECK pawl_status pg_apply_open(struct postgres *self, pawl_error *err);
PAWL_MUSTCHECK pawl_status pg_apply_close(struct postgres *self, pawl_status status, pawl_error *err);
struct apply_marks pg_apply_marks(struct postgres *self);
/* The events of the cuts, whose first and count are filled in. */
PAWL_MUSTCHECK pawl_status pg_apply_events(struct postgres *self, pawl_str perspective,
                                           struct apply_cut *cuts, size_t count, struct arena *arena,
                                           struct stored_event **events, pawl_error *err);

/* What became of a stream, as the functions answer it from this column on. */
struct apply_item pg_apply_item(struct cell answer, struct arena *arena, bool *failed);

#endif
