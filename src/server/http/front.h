/* HTTP as a front of operations. */
#ifndef SERVER_HTTP_FRONT_H
#define SERVER_HTTP_FRONT_H

#include "operations/request.h"
#include "server/http/call.h"

/* For routes that use parts of an operation. */
struct request http_request(struct call *call);

/* Runs an operation with the fields of the route as its inputs. */
PAWL_MUSTCHECK pawl_status http_run(struct call *call, operation_run *run, pawl_error *err);

#endif
