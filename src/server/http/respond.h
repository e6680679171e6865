/* Building libmicrohttpd responses, with the headers common to all of them. */
#ifndef SERVER_HTTP_RESPOND_H
#define SERVER_HTTP_RESPOND_H

#include <microhttpd.h>

#include "server/http/exchange.h"

enum MHD_Result respond(struct exchange *exchange);
enum MHD_Result respond_asset(struct exchange *exchange);

/* The headers that protect a browser; for streams as well. */
void respond_headers(struct exchange *exchange, struct MHD_Response *response);

#endif
