/* The steps of a batch as the calls that they are; for the stores. */
#ifndef STORE_BATCH_H
#define STORE_BATCH_H

#include "store/store.h"

struct messages_claim batch_claim(const struct work_batch *in, int kind);
struct messages_put batch_put(const struct work_batch *in, int kind);
struct messages_renew batch_renew(const struct work_batch *in, int kind);
struct messages_complete batch_complete(const struct work_batch *in, int kind);
struct messages_fail batch_fail(const struct work_batch *in, int kind);
struct messages_release batch_release(const struct work_batch *in, int kind);
struct checkpoints_renew batch_checkpoints_renew(const struct work_batch *in);
struct checkpoints_report batch_checkpoints(const struct work_batch *in);

#endif
