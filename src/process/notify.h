/* Telling a service manager that the process is ready, alive and stopping (systemd's sd_notify protocol). */
#ifndef PROCESS_NOTIFY_H
#define PROCESS_NOTIFY_H

#include <stdbool.h>
#include <stdint.h>

/* Zeroed, it tells nobody. */
struct notify {
    bool on; /* NOTIFY_SOCKET is set */
    bool said_ready, said_stopping;
    int64_t beat_ms; /* half of WATCHDOG_USEC; 0: no watchdog */
    int64_t next_ms;
};

/* Reads the environment. */
struct notify notify_from_environment(void);

/* Call it often from the loop whose life counts: says READY=1 once, then WATCHDOG=1 whenever it is due. */
void notify_alive(struct notify *notify, int64_t now_ms);

void notify_stopping(struct notify *notify);

#endif
