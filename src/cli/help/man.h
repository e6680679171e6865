/* The manual page, made from the tables of commands, flags and options. */
#ifndef CLI_HELP_MAN_H
#define CLI_HELP_MAN_H

#include "base/buf.h"

/* Appends the page pawl(1) in roff. */
void man_page(struct buf *buf);

#endif
