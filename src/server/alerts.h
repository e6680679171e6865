/* Evaluating alert rules in the server, which must notice when the last worker is gone. */
#ifndef SERVER_ALERTS_H
#define SERVER_ALERTS_H

#include "server/server.h"

struct server_alerts;

/* PAWL_INVALID: an enabled rule names a target that is not in the targets file. */
PAWL_MUSTCHECK pawl_status server_alerts_open(struct server *server, struct server_alerts **alerts,
                                              pawl_error *err);
void server_alerts_tick(struct server_alerts *alerts, int64_t now_ms); /* takes NULL, as does close */
/* Deliveries that it had leased are left to other processes. */
void server_alerts_close(struct server_alerts *alerts);

#endif
