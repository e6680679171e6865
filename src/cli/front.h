/* The command line as a front of operations. */
#ifndef CLI_FRONT_H
#define CLI_FRONT_H

#include "cli/cli.h"
#include "operations/front/request.h"

/* For commands that use parts of an operation. */
struct request front_request(struct cli *cli);

/* Reads what inputs name: files, and standard input. */
PAWL_MUSTCHECK pawl_status front_load(struct cli *cli, pawl_error *err);

/* Runs an operation with the words and flags of the command as its inputs. */
PAWL_MUSTCHECK pawl_status front_run(struct cli *cli, operation_run *run, pawl_error *err);

#endif
