/* The status bits of a message or a receptor's record. */
#include "domain/workstatus.h"

#include <stdio.h>
#include <string.h>

bool work_status_ends(int status) {
    if ((status & ~WORK_STATUS_ALL) != 0 || (status & WORK_FAILED) != 0)
        return false;
    return (status & (WORK_PUBLISHED | WORK_COMPLETED)) != 0;
}

char *work_status_format(int status, char text[static WORK_STATUS_TEXT_BYTES]) {
    static const char *const names[] = {"stored", "published", "completed", "failed"};
    size_t used = 0;
    text[0] = '\0';
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        if ((status & (1 << i)) == 0)
            continue;
        snprintf(text + used, WORK_STATUS_TEXT_BYTES - used, "%s%s", used > 0 ? " " : "", names[i]);
        used = strlen(text);
    }
    if (used == 0)
        memcpy(text, "none", sizeof "none");
    return text;
}
