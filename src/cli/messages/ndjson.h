/* One line of --ndjson: a JSON object that describes a message or an event. */
#ifndef CLI_MESSAGES_NDJSON_H
#define CLI_MESSAGES_NDJSON_H

#include "store/types.h"

/*
 * Fills what the line has; message holds the defaults for the rest. The payload keeps its bytes as they are
 * in the line, so big numbers and the order of keys survive. Texts borrow from line or live in the arena.
 */
PAWL_MUSTCHECK pawl_status ndjson_message(struct arena *arena, pawl_str line, pawl_outgoing *message,
                                          pawl_error *err);
/* The same for an event, whose headers may also be called metadata. */
PAWL_MUSTCHECK pawl_status ndjson_event(struct arena *arena, pawl_str line, pawl_outgoing *message,
                                        pawl_error *err);

#endif
