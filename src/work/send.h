/* Messages of the public API as the stores take them; shared with the adapters for open transactions. */
#ifndef WORK_SEND_H
#define WORK_SEND_H

#include "work/put_spans.h"

/* The store behind a public handle; owned by the handle. */
struct store *send_store(pawl_store *store);

/* Who puts through a public handle: under a span when that was asked for. */
struct putter send_putter(pawl_store *store, struct arena *arena);

PAWL_MUSTCHECK pawl_status send_put(struct arena *arena, const pawl_send_config *config,
                                    const pawl_outgoing *messages, size_t count, struct messages_put *put,
                                    pawl_error *err);

#endif
