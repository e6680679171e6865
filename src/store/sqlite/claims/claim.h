/* Claiming messages inside an operation. */
#ifndef STORE_SQLITE_CLAIMS_CLAIM_H
#define STORE_SQLITE_CLAIMS_CLAIM_H

#include "store/sqlite/claims/part.h"

/* Inside an operation: the input is checked and the instance is live. The items come from the arena. */
PAWL_MUSTCHECK pawl_status claim_messages(struct operation *op, const struct messages_claim *in,
                                          struct arena *arena, struct item_list *out);

/* What is still unfinished of the claims that were granted under the request key. */
PAWL_MUSTCHECK pawl_status claim_again(struct operation *op, const struct messages_claim *in,
                                       struct arena *arena, struct item_list *out);

#endif
