/* Messages and jobs as the inputs of an operation choose them. */
#ifndef OPERATIONS_MESSAGES_H
#define OPERATIONS_MESSAGES_H

#include "operations/front/request.h"

/* What kind, state, stream, type, topic, fingerprint, lane and the page say. */
struct message_filter message_filter_from(const struct request *request);
/* What state, queue, task, type, key, fingerprint and the page say. */
struct job_filter job_filter_from(const struct request *request);

/* The messages with an id that are in a state (0: any) and of a kind (0: any); there may be none. */
PAWL_MUSTCHECK pawl_status messages_with_id(struct request *request, pawl_uuid id, int state, int kind,
                                            struct message_rows *rows, pawl_error *err);

#define MESSAGE_LIST_FLAGS (FLAG(STATE) | FLAG(STREAM) | FLAG(TYPE) | FLAG(TOPIC) | FLAG(LIMIT) | FLAG(AFTER))

/* Answers with the messages that the inputs choose, of a kind (0: any) and in a state (0: any). */
PAWL_MUSTCHECK pawl_status messages_list(struct request *request, enum store_kind kind, int state,
                                         pawl_error *err);
/* Answers with the message of the input `id`. */
operation_run message_show;

#endif
