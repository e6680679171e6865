/* Why a message waits, including pauses and cancellations. */
#ifndef VIEW_WHY_PAUSE_H
#define VIEW_WHY_PAUSE_H

#include "store/store.h"

struct why_pause {
    struct pause_row row; /* scope 0 = none */
    bool front;           /* the message it waits for is paused */
};

/* view.why, and the pause that holds the message up; then the cause is WHY_PAUSED or WHY_CANCELLED. */
PAWL_MUSTCHECK pawl_status why_read(struct store *store, pawl_uuid id, struct arena *arena, struct why *why,
                                    struct why_pause *pause, pawl_error *err);

#endif
