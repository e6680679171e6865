/* Orphans: descendants that left their handler's session. The worker finds them because it is their
 * subreaper, and kills them. */
#ifndef PROCESS_ORPHAN_H
#define PROCESS_ORPHAN_H

#include "process/launcher.h"

enum { ORPHAN_OTHERS_MAX = 64 };

/* The children that this process had before it ran any handler; they are not ours to kill. */
struct orphan_others {
    pid_t pids[ORPHAN_OTHERS_MAX];
    size_t count; /* above the maximum: too many to tell orphans from them, so nothing is swept */
};

/* Records the existing children, and asks the kernel to make us the subreaper of our descendants. */
bool orphan_adopt(struct orphan_others *others);

/* Ends and reaps every child of this process that neither a launcher nor others account for. Returns how many
 * it met. */
int orphan_sweep(struct launcher *const *launchers, size_t count, const struct orphan_others *others);

#endif
