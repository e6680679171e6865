/* Datagrams to the socket of a service manager. One that is lost costs nothing but a restart: no errors. */
#include "process/notify.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/str.h"

struct notify notify_from_environment(void) {
    struct notify notify = {.on = secure_getenv("NOTIFY_SOCKET") != NULL};
    const char *limit = secure_getenv("WATCHDOG_USEC"), *pid = secure_getenv("WATCHDOG_PID");
    int64_t limit_us = 0, wanted = getpid();
    if (pid != NULL && !str_to_i64(str_from(pid), 0, INT64_MAX, &wanted))
        wanted = 0;
    if (limit != NULL && wanted == getpid() && str_to_i64(str_from(limit), 1, INT64_MAX, &limit_us))
        notify.beat_ms = limit_us / 2000 > 0 ? limit_us / 2000 : 1;
    return notify;
}

static void tell(const char *state) {
    const char *path = secure_getenv("NOTIFY_SOCKET");
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    size_t len = path != NULL ? strlen(path) : 0;
    if (len == 0 || len >= sizeof(address.sun_path))
        return;
    memcpy(address.sun_path, path, len);
    if (path[0] == '@') /* a name without a file */
        address.sun_path[0] = '\0';
    int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (fd < 0)
        return;
    socklen_t size = (socklen_t)(offsetof(struct sockaddr_un, sun_path) + len);
    ssize_t sent = sendto(fd, state, strlen(state), MSG_NOSIGNAL, (const struct sockaddr *)&address, size);
    (void)sent;
    close(fd);
}

void notify_alive(struct notify *notify, int64_t now_ms) {
    if (!notify->on)
        return;
    if (!notify->said_ready)
        tell("READY=1");
    notify->said_ready = true;
    if (notify->beat_ms > 0 && now_ms >= notify->next_ms) {
        tell("WATCHDOG=1");
        notify->next_ms = now_ms + notify->beat_ms;
    }
}

void notify_stopping(struct notify *notify) {
    if (notify->on && !notify->said_stopping)
        tell("STOPPING=1");
    notify->said_stopping = true;
}
