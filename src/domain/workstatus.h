/* The status bits of a message or a receptor's record: how far the work has come. */
#ifndef DOMAIN_WORKSTATUS_H
#define DOMAIN_WORKSTATUS_H

#include "pawl.h"

enum work_status {
    WORK_STORED = 1,
    WORK_PUBLISHED = 2,
    WORK_COMPLETED = 4,
    WORK_FAILED = 8,
    WORK_STATUS_ALL = 15
};

/* Whether these bits may end a message: Published or Completed, not Failed, no unknown bits. 0 never ends
 * anything. */
static inline bool work_status_ends(int status) {
    return (status & ~WORK_STATUS_ALL) == 0 && (status & WORK_FAILED) == 0 &&
           (status & (WORK_PUBLISHED | WORK_COMPLETED)) != 0;
}

#endif
