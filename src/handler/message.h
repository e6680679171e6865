/* Converting a claimed item to the message that its handler gets. */
#ifndef HANDLER_MESSAGE_H
#define HANDLER_MESSAGE_H

#include "base/buf.h"
#include "store/types.h"

/* The item as the public API shows it; borrows from the item. */
pawl_message work_message(const struct item *item);

/* The same message as a JSON object, for handlers that are not C functions. */
void work_message_json(struct buf *buf, const struct item *item);

/* The same for every attempt at one message, different for any two messages: "ID:SEQ". Returns text. */
enum { WORK_KEY_BYTES = 64 };
char *work_idempotency_key(const struct item *item, char text[static WORK_KEY_BYTES]);

const char *work_kind_name(enum store_kind kind);

#endif
