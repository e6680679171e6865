/* Calling a handler that is a C function. */
#ifndef HANDLER_FUNCTION_H
#define HANDLER_FUNCTION_H

#include "handler/table.h"

/* Calls the function with the message; run is what pawl_message.run points to. */
void function_call(const struct handler *handler, const struct item *item, const void *run,
                   struct handler_verdict *verdict);

#endif
