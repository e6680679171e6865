/* The tools that the server knows: the built-in ones, and those of --tools. */
#ifndef SERVER_API_TOOLING_H
#define SERVER_API_TOOLING_H

#include "handler/tools/tools.h"

struct server;

/* The registry. Freed with tools_free. */
PAWL_MUSTCHECK pawl_status tooling_open(struct server *server, struct tools **tools, pawl_error *err);

#endif
