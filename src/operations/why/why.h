/* Why one message waits, for several operations. */
#ifndef OPERATIONS_WHY_WHY_H
#define OPERATIONS_WHY_WHY_H

#include "operations/front/request.h"

/* Answers with what it waits for, and what to do. PAWL_NOT_FOUND when there is none. */
PAWL_MUSTCHECK pawl_status why_message(struct request *request, pawl_uuid id, pawl_error *err);

#endif
