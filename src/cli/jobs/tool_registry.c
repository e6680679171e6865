/* Loading the tools of --tools for commands. */
#include "cli/jobs/tool_registry.h"

#include <stdio.h>
#include <unistd.h>

#include "work/pipeline/builtin.h"

pawl_status tool_registry_open(struct cli *cli, struct tools **tools, pawl_error *err) {
    struct tools *made = NULL;
    char name[32];
    pawl_str path = options_text(&cli->arguments.options, OPTION_TOOLS);
    snprintf(name, sizeof(name), "pawl-%d", (int)getpid());
    pawl_status status = tools_create(name, &made, err);
    if (status == PAWL_OK)
        status = builtin_add(made, err);
    if (status == PAWL_OK && path.len > 0)
        status = tools_add_file(made, path.ptr, err);
    if (status == PAWL_OK)
        tools_limit(made, options_number(&cli->arguments.options, OPTION_TOOLS_TIMEOUT));
    struct log *log = arena_alloc(cli->arena, sizeof(*log));
    if (status == PAWL_OK && log != NULL) {
        *log = (struct log){.level = LOG_LEVEL_WARN, .file = stderr};
        tools_log(made, log);
    }
    if (status != PAWL_OK) {
        tools_free(made);
        return status;
    }
    *tools = made;
    return PAWL_OK;
}
