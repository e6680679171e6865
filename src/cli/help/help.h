/* Help made from the tables of commands, flags and options. */
#ifndef CLI_HELP_HELP_H
#define CLI_HELP_HELP_H

#include "cli/cli.h"

/* Prints a text, unless there was no memory for it. */
PAWL_MUSTCHECK pawl_status help_print(struct cli *cli, const struct buf *buf, pawl_error *err);

/* The help of one command, or the overview when command is NULL; always text. */
PAWL_MUSTCHECK pawl_status help_show(struct cli *cli, const struct operation *command, pawl_error *err);

/* The verbs of a noun, a line each. */
PAWL_MUSTCHECK pawl_status help_noun(struct cli *cli, const char *noun, pawl_error *err);

/* Nouns with blanks between them; title is NULL after the last. */
struct help_group {
    const char *title, *words;
};
extern const struct help_group help_groups[];

/* The table of exit codes. */
PAWL_MUSTCHECK pawl_status help_exit_codes(struct cli *cli, pawl_error *err);

/* The reference part of docs/cli.md; a test compares the two. */
void help_markdown(struct buf *buf);

/* "pawl job show ID [OPTION]...". */
void help_usage(struct buf *buf, const struct operation *command);

/* Calls entry for every input of a command (NULL: none), then for every option of a set, with "--kind KIND"
 * or "ID", and what it is. */
typedef void help_entry(struct buf *buf, const char *name, const char *text);
void help_entries(struct buf *buf, const struct operation *command, uint64_t options, help_entry *entry);

#endif
