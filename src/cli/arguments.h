/* Parsing the command line: the command, its words and flags as inputs, and global options. */
#ifndef CLI_ARGUMENTS_H
#define CLI_ARGUMENTS_H

#include "base/options/options.h"
#include "cli/command.h"

struct arguments {
    const struct operation *command;
    struct value *values; /* one per input of the command */
    const char **words;   /* what is left when the command's own words are gone */
    int word_count;
    struct options options;
};

/*
 * Reads argv, the environment and the configuration file. Texts borrow from argv or live in the arena.
 * PAWL_INVALID is wrong usage; *command is set as soon as it is known, also when the call fails, so that the
 * error can name it.
 */
PAWL_MUSTCHECK pawl_status arguments_parse(struct arena *arena, int argc, char **argv,
                                           struct arguments *arguments, pawl_error *err);

/*
 * Copies argv, and removes the passwords of addresses from the original, which other users can see in the
 * process list. Any argument may be an address: of the database, of a broker, of an endpoint.
 */
PAWL_MUSTCHECK pawl_status arguments_hide(struct arena *arena, int argc, char **argv, char ***copy,
                                          pawl_error *err);

/* Whether the word after this flag is its value. A flag has a value in every command or in none: a test
 * checks that. */
bool arguments_takes_next(const char *text);

/* Whether argv asks for JSON; needed for the errors of a command line that cannot be parsed. */
bool arguments_want_json(int argc, char **argv);

#endif
