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

/* Pieces of the help that the manual page uses as well. */
void help_usage(struct buf *buf, const struct operation *command);
/* "--kind KIND"; of a word, "ID". */
void help_input_name(struct buf *buf, const struct field *input);
/* What it is, and its choices. */
void help_input_text(struct buf *buf, const struct field *input);
void help_option_name(struct buf *buf, const struct option_row *row);
/* The option's text with its other sources and its default. */
void help_option_text(struct buf *buf, const struct option_row *row);

#endif
