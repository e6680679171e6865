/* Finding messages by id, or by the beginning of one. */
#ifndef SERVER_API_IDS_H
#define SERVER_API_IDS_H

#include "server/http/call.h"

/* The message that a field of type FIELD_ID means. PAWL_NOT_FOUND; PAWL_CONFLICT if several ids begin with
 * it. */
PAWL_MUSTCHECK pawl_status ids_message(struct call *call, const char *field, pawl_uuid *id, pawl_error *err);

#endif
