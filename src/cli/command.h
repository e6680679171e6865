/* The commands of the program: the operations and what only a terminal has; how words find them, and how a
 * command takes its inputs. */
#ifndef CLI_COMMAND_H
#define CLI_COMMAND_H

#include "operations/front/fields.h"

/* Options every command takes. */
#define OPTION_BITS_COMMON                                                                                   \
    (OPTION(CONFIG) | OPTION(DATABASE_URL) | OPTION(SCHEMA) | OPTION(OUTPUT) | OPTION(STATEMENT_TIMEOUT) |   \
     OPTION(CONNECT_TIMEOUT) | OPTION(HELP) | OPTION(VERSION))

/* All commands in the order of the help: NULL after the last. */
const struct operation *command_at(size_t index);

/* What it does instead of the operation; NULL: nothing else. */
pawl_status (*command_terminal(const struct operation *command))(struct cli *cli, pawl_error *err);

/* The command "help". */
bool command_is_help(const struct operation *command);

/* Its words: "job retry". Returns path. */
enum { COMMAND_PATH_BYTES = 48 };
char *command_path(const struct operation *command, char path[static COMMAND_PATH_BYTES]);

/* Whether a command has that noun, or is it. */
bool command_exists(const char *noun);
/* Whether word is a noun, or its plural, that has verbs. */
bool command_is_group(const char *word);
/* Whether the command's noun is that word, or the word its plural. */
bool command_in_group(const struct operation *command, const char *word);

/*
 * The command that the first words name, and how many words that took. PAWL_INVALID with a suggestion when
 * there is none. No words name the command "help", and a noun without a verb its list.
 */
PAWL_MUSTCHECK pawl_status command_find(const char *const *words, int count, const struct operation **command,
                                        int *used, pawl_error *err);

/* ---- Inputs: those of operation_input, with the same indexes; --limit has no limit, and cursor is --after.
 */

const struct field *command_input(const struct operation *command, size_t index);
/* Whether it is a word, not a flag. */
bool input_is_word(const struct field *input);
/* Whether the word or flag may be given again. */
bool input_is_many(const struct field *input);

enum { INPUT_NAME_BYTES = 40 };
/* "unique-key", "timeout". Returns name. */
char *input_flag(const struct field *input, char name[static INPUT_NAME_BYTES]);
/* "--unique-key", or "ID". Returns label. */
char *input_label(const struct field *input, char label[static INPUT_NAME_BYTES]);
/* What the help calls its value: "DURATION"; "" of a switch. Returns value. */
char *input_value(const struct field *input, char value[static INPUT_NAME_BYTES]);

/* " ID [PAYLOAD]", " ID..."; nothing if it takes no words. */
void command_words(struct buf *buf, const struct operation *command);

#endif
