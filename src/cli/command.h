/* One command of the program: its words, its help and what runs it. */
#ifndef CLI_COMMAND_H
#define CLI_COMMAND_H

#include "base/limits.h"
#include "base/options/options.h"
#include "cli/flags.h"
#include "operations/request.h"

struct cli;

#define OPTION_BIT(id) (UINT64_C(1) << (id))
#define OPTION(name) OPTION_BIT(OPTION_##name) /* in the tables of commands */

/* Options every command takes. */
#define OPTION_BITS_COMMON                                                                                   \
    (OPTION(CONFIG) | OPTION(DATABASE_URL) | OPTION(SCHEMA) | OPTION(OUTPUT) | OPTION(STATEMENT_TIMEOUT) |   \
     OPTION(CONNECT_TIMEOUT) | OPTION(HELP) | OPTION(VERSION))

/* What a command needs before it runs. */
enum database_need {
    DATABASE_OPEN, /* a migrated database: what nearly all of them need */
    DATABASE_MAKE, /* the same, and a missing SQLite file is made */
    DATABASE_NONE  /* the command opens what it needs */
};

/* The parser, the help and the reference in docs/cli.md are all made from these. */
struct command {
    const char *path;      /* "dead redrive" */
    const char *alias;     /* a shorter path for the same command: "dead"; NULL: none */
    const char *summary;   /* one line, no full stop */
    const char *arguments; /* "TYPE [PAYLOAD]", "ID..."; NULL: none; says also how many it takes */
    int arguments_max;     /* of "ID...", when not PAWL_ARGUMENTS_MAX */
    bool arguments_optional;
    flag_bits flags;  /* FLAG_BIT()s it takes */
    bool limit_other; /* --limit is not the number of rows of its list */
    uint64_t options; /* OPTION_BIT()s it takes besides OPTION_BITS_COMMON */
    pawl_status (*check)(struct cli *cli,
                         pawl_error *err); /* of its words, before a database is opened; NULL: none */
    enum database_need database;
    bool writes;              /* it changes the database: a lost answer is not "nothing happened" */
    const char *details;      /* paragraphs for the help; NULL: none */
    const char *example;      /* command lines, one per line */
    const char *empty;        /* what a table says that has no rows; of operations */
    operation_run *operation; /* what both fronts can do; NULL: run does it */
    pawl_status (*run)(struct cli *cli, pawl_error *err);
};

/* Each file of commands has one such table; command.c lists them. */
struct command_table {
    const struct command *rows;
    size_t count;
};

#define COMMAND(words, text) .path = (words), .summary = (text)
#define COMMAND_TABLE(array)                                                                                 \
    { (array), sizeof(array) / sizeof *(array) }

/* All commands in the order of the help: NULL after the last. */
const struct command *command_at(size_t index);

/* The command "help". */
bool command_is_help(const struct command *command);

/* How many words it takes after its path. */
struct word_range {
    int min, max;
};
struct word_range command_words(const struct command *command);

/* Whether word is the first of two words of some path. */
bool command_is_group(const char *word);

/*
 * The command that the first words name, and how many words that took. PAWL_INVALID with a suggestion when
 * there is none. No words name the command "help".
 */
PAWL_MUSTCHECK pawl_status command_find(const char *const *words, int count, const struct command **command,
                                        int *used, pawl_error *err);

#endif
