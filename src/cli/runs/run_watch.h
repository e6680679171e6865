/* Following a run until it ends. */
#ifndef CLI_RUNS_RUN_WATCH_H
#define CLI_RUNS_RUN_WATCH_H

#include "cli/cli.h"

/* Shows the run that a word names every second. PAWL_CONFLICT: it failed or was cancelled; PAWL_BUSY: the
 * time of --timeout is over. */
PAWL_MUSTCHECK pawl_status run_watch(struct cli *cli, const char *word, pawl_error *err);

#endif
