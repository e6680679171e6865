/* The event that a receptor's message carries, read from its headers. */
#ifndef WORK_RECEPTORS_EVENT_ORIGIN_H
#define WORK_RECEPTORS_EVENT_ORIGIN_H

#include "base/arena.h"
#include "store/store.h"

struct event_origin {
    pawl_str stream; /* in the arena; absent = not known */
    int64_t version; /* 0 = not known */
};

/* As receptor_message (store/event_receptors.h) wrote it. */
struct event_origin event_origin(const struct item *item, struct arena *arena);

#endif
