/* A whole small file as text. */
#ifndef BASE_FILE_H
#define BASE_FILE_H

#include "base/arena.h"

/* Reads the file into the arena, with a NUL after its bytes. PAWL_NOT_FOUND, or PAWL_INVALID: it is a
 * directory, too large or cannot be read. */
pawl_status file_read(struct arena *arena, const char *path, size_t bytes_max, pawl_str *text,
                      pawl_error *err);

/*
 * The next line that is not empty, without surrounding blanks and without comments: # or ; at its beginning,
 * or after a blank and not between quotes. *number counts all lines, from 1. False when there is none.
 */
bool file_line(pawl_str *rest, int *number, pawl_str *line);

#endif
