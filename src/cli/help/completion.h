/* What makes a shell complete the words of pawl, made from the tables of commands, flags and options. */
#ifndef CLI_HELP_COMPLETION_H
#define CLI_HELP_COMPLETION_H

#include "base/buf.h"
#include "cli/command.h"

struct completion {
    const char *shell;
    void (*append)(struct buf *buf); /* the whole script */
};

/* The row of a shell, or NULL when there is none for it. */
const struct completion *completion_find(const char *shell);

/* One flag or option as a shell sees it. */
struct completion_flag {
    char name[OPTION_FLAG_BYTES]; /* with the leading -- */
    char letter;                  /* 0: none */
    bool value;                   /* takes one */
    bool file;                    /* the value names a file */
    const char *choices;          /* "a|b"; NULL: anything */
    const char *help;
};

/* Calls each for every flag and option that a command takes besides those of all; NULL: those of all. */
void completion_flags(struct buf *buf, const struct operation *command,
                      void (*each)(struct buf *buf, const struct operation *command,
                                   const struct completion_flag *flag));

/* Calls each once for every different flag and option of the program. */
void completion_all(struct buf *buf, void (*each)(struct buf *buf, const struct operation *command,
                                                  const struct completion_flag *flag));

/* Whether command i is the first whose path begins with its first word. */
bool completion_first(size_t i);

/* Appends "a b" for "a|b". */
void completion_choices(struct buf *buf, const char *choices);

/* Words that pawl help takes besides commands. */
#define COMPLETION_TOPICS "options exit-codes man completion markdown"

void completion_bash(struct buf *buf);
void completion_zsh(struct buf *buf);
void completion_fish(struct buf *buf);

#endif
