/* The tools that commands see: those of --tools. */
#ifndef CLI_JOBS_TOOL_REGISTRY_H
#define CLI_JOBS_TOOL_REGISTRY_H

#include "cli/cli.h"
#include "handler/tools/tools.h"

/* The registry of --tools; empty without it. Freed with tools_free. */
PAWL_MUSTCHECK pawl_status tool_registry_open(struct cli *cli, struct tools **tools, pawl_error *err);

#endif
