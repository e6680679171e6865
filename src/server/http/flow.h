/* An answer that is sent piece by piece while its request goes on: frames of server-sent events. The loop's
 * own. */
#ifndef SERVER_HTTP_FLOW_H
#define SERVER_HTTP_FLOW_H

#include "base/buf.h"

struct exchange;
struct flow;

/* Frames to come; data has no line ends. PAWL_NO_MEMORY. */
PAWL_MUSTCHECK pawl_status flow_send(struct exchange *exchange, pawl_str data, pawl_error *err);
/* Queues the response, from a callback of the connection. PAWL_INTERNAL: it could not be started. */
PAWL_MUSTCHECK pawl_status flow_start(struct exchange *exchange, pawl_error *err);
/* No more frames come after those that wait. */
void flow_end(struct exchange *exchange);
void flow_free(struct flow *flow); /* takes NULL */

#endif
