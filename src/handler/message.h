/* What a handler gets of a claimed item: a message in C or JSON, or environment variables. */
#ifndef HANDLER_MESSAGE_H
#define HANDLER_MESSAGE_H

#include "base/arena.h"
#include "base/buf.h"
#include "base/stop.h"
#include "handler/table.h"
#include "pawl.h"
#include "process/launcher.h"
#include "store/types.h"

/* The item as the public API shows it; borrows from the item. */
pawl_message work_message(const struct item *item);

/* The same message as a JSON object, for handlers that are not C functions. */
void work_message_json(struct buf *buf, const struct item *item);

/* The same for every attempt at one message, different for any two messages: "ID:SEQ". Returns text. */
enum { WORK_KEY_BYTES = 64 };
char *work_idempotency_key(const struct item *item, char text[static WORK_KEY_BYTES]);

const char *work_kind_name(enum store_kind kind);

/* The variables that describe a message to its program; texts in the arena. Returns how many. */
enum { ENVIRONMENT_PAIRS_MAX = 16 };
size_t environment_pairs(const struct item *item, struct arena *arena,
                         struct environment_pair pairs[static ENVIRONMENT_PAIRS_MAX]);

/* Calls a handler that is a C function; run is what pawl_message.run points to. */
void function_call(const struct handler *handler, const struct item *item, const void *run,
                   struct handler_verdict *verdict);

struct run_handle {
    stop_flag cancel;
    const atomic_bool
        *asked; /* set when a person cancels the running message; NULL = it cannot be cancelled */
    /* Takes progress (JSON) of a job; NULL = it is dropped. */
    bool (*progress)(struct run_handle *handle, pawl_str json);
    int64_t began_us; /* of the job, by the boot clock; 0 = unknown */
};

/* How long the handler of a job has been running; 0 when unknown. */
int64_t run_handle_elapsed_ms(const pawl_message *message);

#endif
