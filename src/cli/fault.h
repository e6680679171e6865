/* Printing errors: one line on standard error, or a JSON object. */
#ifndef CLI_FAULT_H
#define CLI_FAULT_H

#include <stdio.h>

#include "base/buf.h"
#include "pawl.h"

struct fault {
    const char *what; /* the command; NULL: none yet */
    const pawl_error *err;
    int exit_code;
    const char *hint; /* NULL: what the status suggests */
    bool json;
};

/* pawl: what: why. What to do. Secrets of database addresses are masked. */
void fault_print(FILE *file, const struct fault *fault);

/* Exit codes that are not a status: see docs/cli.md. */
enum { EXIT_VIOLATIONS = 1, EXIT_FAULTS = 2 };

#endif
