/* Finding and checking programs before work depends on them, and splitting command lines into words. */
#ifndef PROCESS_PROGRAM_H
#define PROCESS_PROGRAM_H

#include "base/arena.h"
#include "pawl.h"

/* The path of a program: as it is when it has a slash, else searched in PATH. PAWL_NOT_FOUND when it is not
 * there, PAWL_INVALID when it cannot be executed. */
PAWL_MUSTCHECK pawl_status program_find(struct arena *arena, const char *name, char **path, pawl_error *err);

/* Words of a command line: blanks separate, '…' and "…" keep them, \ takes the next character as it is. */
PAWL_MUSTCHECK pawl_status command_split(struct arena *arena, pawl_str command, char ***argv,
                                         pawl_error *err);

#endif
