/* What the two halves of a call share. */
#ifndef SERVER_HTTP_CALL_INT_H
#define SERVER_HTTP_CALL_INT_H

#include "server/http/call.h"

/* Replaces a cursor's text by what it holds. PAWL_INVALID when it is not one of this list. */
PAWL_MUSTCHECK pawl_status call_cursor_check(struct call *call, struct value *value, pawl_error *err);

#endif
