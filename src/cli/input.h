/* Text from files and standard input, never more than asked for. */
#ifndef CLI_INPUT_H
#define CLI_INPUT_H

#include <stdio.h>

#include "base/arena.h"
#include "base/buf.h"
#include "pawl.h"

/* Opens path for reading; "-" is standard input. Close with input_close. */
PAWL_MUSTCHECK pawl_status input_open(const char *path, FILE **file, pawl_error *err);
void input_close(FILE *file);

/* Everything in path, in the arena. PAWL_INVALID when it has more than bytes_max. */
PAWL_MUSTCHECK pawl_status input_read(struct arena *arena, const char *path, size_t bytes_max, pawl_str *text,
                                      pawl_error *err);

/* The next line without its end, in *line; *more is false at the end of the file. line fails when it is too
 * long. */
PAWL_MUSTCHECK pawl_status input_line(FILE *file, struct buf *line, bool *more, pawl_error *err);

#endif
