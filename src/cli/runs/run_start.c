/* pawl run start --watch: starts a run and follows it. */
#include <inttypes.h>

#include "base/error.h"
#include "cli/commands.h"
#include "cli/front.h"
#include "cli/runs/run_watch.h"
#include "operations/runs/runs.h"

pawl_status run_start_terminal(struct cli *cli, pawl_error *err) {
    struct request request = front_request(cli);
    struct run_begun begun = {0};
    pawl_status status = run_begin_from(&request, &begun, err);
    if (status != PAWL_OK || cli_value(cli, "dry_run").present)
        return status;
    if (!cli_value(cli, "watch").present || begun.run == 0)
        return run_answer_begun(&request, &begun, err);
    const char *word = arena_printf(cli->arena, "%" PRId64, begun.run);
    return word != NULL ? run_watch(cli, word, err) : error_set(err, PAWL_NO_MEMORY, "run", "out of memory");
}
