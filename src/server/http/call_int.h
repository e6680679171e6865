/* Shared by call.c and call_read.c only: cursors. */
#ifndef SERVER_HTTP_CALL_INT_H
#define SERVER_HTTP_CALL_INT_H

#include "server/http/call.h"

/* Decodes a cursor in place. PAWL_INVALID if it does not belong to this list. */
PAWL_MUSTCHECK pawl_status call_cursor_check(struct call *call, struct value *value, pawl_error *err);

#endif
