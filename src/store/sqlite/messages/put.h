/* Putting messages, request keys, the intake, and what cannot be a message. */
#ifndef STORE_SQLITE_MESSAGES_PUT_H
#define STORE_SQLITE_MESSAGES_PUT_H

#include "store/relay.h"
#include "store/sqlite/file/operation.h"

/* Uses a request key; *used true when it was used before. A nil key was never used. */
PAWL_MUSTCHECK pawl_status request_use(struct operation *op, pawl_uuid key, bool *used);
/* Gives back a key that was used for nothing, so that the next call may use it. */
PAWL_MUSTCHECK pawl_status request_forget(struct operation *op, pawl_uuid key);

/* Inside an operation: the input is checked already; `used` says that the request key was used before. */
PAWL_MUSTCHECK pawl_status put_messages(struct operation *op, const struct messages_put *in, bool used,
                                        struct arena *arena, struct put_result *out);

/* Moves rows that applications inserted with plain SQL into the outbox. Inside an operation that claims: in
 * the order of their numbers, at most a batch of them. Rows that cannot be messages are kept as refused and
 * do not hold up the rest. */
PAWL_MUSTCHECK pawl_status intake_drain(struct operation *op);

/* Keeps what cannot be a message: once per content, inside an operation (relay.c). */
PAWL_MUSTCHECK pawl_status refused_keep(struct operation *op, const struct refused_row *row);

#endif
