/* The commands of the program: the operations that have one, and how words find them. */
#ifndef CLI_COMMAND_H
#define CLI_COMMAND_H

#include "operations/front/operation.h"

/* Options every command takes. */
#define OPTION_BITS_COMMON                                                                                   \
    (OPTION(CONFIG) | OPTION(DATABASE_URL) | OPTION(SCHEMA) | OPTION(OUTPUT) | OPTION(STATEMENT_TIMEOUT) |   \
     OPTION(CONNECT_TIMEOUT) | OPTION(HELP) | OPTION(VERSION))

/* All commands in the order of the help: NULL after the last. */
const struct operation *command_at(size_t index);

/* The command "help". */
bool command_is_help(const struct operation *command);

/* How many words it takes after its path. */
struct word_range {
    int min, max;
};
struct word_range command_words(const struct operation *command);

/* Whether word is the first of two words of some path. */
bool command_is_group(const char *word);

/*
 * The command that the first words name, and how many words that took. PAWL_INVALID with a suggestion when
 * there is none. No words name the command "help".
 */
PAWL_MUSTCHECK pawl_status command_find(const char *const *words, int count, const struct operation **command,
                                        int *used, pawl_error *err);

#endif
