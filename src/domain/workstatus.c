/* The status bits of a message or a receptor's record. */
#include "domain/workstatus.h"

bool work_status_ends(int status) {
    if ((status & ~WORK_STATUS_ALL) != 0 || (status & WORK_FAILED) != 0)
        return false;
    return (status & (WORK_PUBLISHED | WORK_COMPLETED)) != 0;
}
