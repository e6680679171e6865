/* The exit codes and their meanings. */
#ifndef CLI_EXIT_CODES_H
#define CLI_EXIT_CODES_H

#include <stddef.h>

struct exit_code {
    int code;
    const char *name; /* the status, as errors in JSON say it */
    const char *meaning;
};

extern const struct exit_code exit_codes[];
extern const size_t exit_codes_count;

#endif
