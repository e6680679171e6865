/* Parts of operations on events that the command line uses in its own ways. */
#ifndef OPERATIONS_EVENTS_H
#define OPERATIONS_EVENTS_H

#include "operations/front/request.h"

/* Gives positions to events that have none yet. */
PAWL_MUSTCHECK pawl_status events_stamp(struct request *request, pawl_error *err);

/* Appends them after the version of the input `expected`, and answers. */
PAWL_MUSTCHECK pawl_status events_append(struct request *request, struct events_append *in, pawl_error *err);

#endif
