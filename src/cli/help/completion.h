/* What makes a shell complete the words of pawl: a short script that asks the program, and its answers. */
#ifndef CLI_HELP_COMPLETION_H
#define CLI_HELP_COMPLETION_H

#include "base/buf.h"

/* The script of bash, zsh or fish; NULL for another shell. */
const char *completion_script(const char *shell);

/* What the last of the words after `pawl` may become: a line each, the word, a tab and its help; the one line
 * <file> for the name of a file. */
void completion_answer(struct buf *buf, const char *const *words, int count);

#endif
