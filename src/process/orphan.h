/* Descendants that left their handler's session: found because the worker is their subreaper, and ended. */
#ifndef PROCESS_ORPHAN_H
#define PROCESS_ORPHAN_H

#include "process/launcher.h"

enum { ORPHAN_OTHERS_MAX = 64 };

/* The children that this process had before it ran any handler: others look after them. */
struct orphan_others {
    pid_t pids[ORPHAN_OTHERS_MAX];
    size_t count; /* above the maximum: too many to tell orphans from them, so nothing is swept */
};

/* Notes the children there are, and asks the kernel to give us the orphans of our descendants. */
bool orphan_adopt(struct orphan_others *others);

/* Ends and reaps every child of this process that neither a launcher nor others account for. Returns how many
 * it met. */
int orphan_sweep(struct launcher *const *launchers, size_t count, const struct orphan_others *others);

#endif
