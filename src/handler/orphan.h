/* Descendants that left their handler's session: found because the worker is their subreaper, and ended. */
#ifndef HANDLER_ORPHAN_H
#define HANDLER_ORPHAN_H

#include <sys/types.h>

#include "pawl.h"

enum { ORPHAN_RUN_BYTES = 64 };

/* The processes that are handlers themselves, and the runs (values of PAWL_RUN) that are still going on. */
struct orphan_keep {
    const pid_t *pids;
    const char (*runs)[ORPHAN_RUN_BYTES];
    size_t count;
};

/* Asks the kernel to give us the orphans of our descendants. */
bool orphan_adopt(void);

/* Ends and reaps every child of this process that no running handler accounts for. Returns how many it met.
 */
int orphan_sweep(const struct orphan_keep *keep);

#endif
