/* Putting messages, and request keys. */
#ifndef STORE_SQLITE_MESSAGES_PUT_H
#define STORE_SQLITE_MESSAGES_PUT_H

#include "store/sqlite/file/operation.h"

/* Uses a request key; *used true when it was used before. A nil key was never used. */
PAWL_MUSTCHECK pawl_status request_use(struct operation *op, pawl_uuid key, bool *used);
/* Gives back a key that was used for nothing, so that the next call may use it. */
PAWL_MUSTCHECK pawl_status request_forget(struct operation *op, pawl_uuid key);

/* Inside an operation: the input is checked already; `used` says that the request key was used before. */
PAWL_MUSTCHECK pawl_status put_messages(struct operation *op, const struct messages_put *in, bool used,
                                        struct arena *arena, struct put_result *out);

#endif
