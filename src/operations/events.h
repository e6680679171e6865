/* Parts of operations on events that the command line uses in its own ways. */
#ifndef OPERATIONS_EVENTS_H
#define OPERATIONS_EVENTS_H

#include "operations/front/request.h"

/* Appends them after the version of the input `expected`, and answers. */
PAWL_MUSTCHECK pawl_status events_append(struct request *request, struct events_append *in, pawl_error *err);

#endif
