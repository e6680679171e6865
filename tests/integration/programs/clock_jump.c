/* A wall clock that jumps back and forth, linked in front of the C library's; other clocks are left alone. */
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

enum { STEP_MS = 100 };

/* Where the wall clock is now, by the time since boot: an hour ahead, a day behind, a year ahead, … */
static time_t jump_s(void) {
    static const time_t jumps[] = {0, 3600, -86400, 31536000, -7, 2, -31536000};
    struct timespec boot = {0};
    (void)syscall(SYS_clock_gettime, CLOCK_BOOTTIME, &boot);
    long step = (long)boot.tv_sec * (1000 / STEP_MS) + boot.tv_nsec / (STEP_MS * 1000000L);
    return jumps[step % (long)(sizeof(jumps) / sizeof(*jumps))];
}

int clock_gettime(clockid_t id, struct timespec *now) {
    long code = syscall(SYS_clock_gettime, id, now);
    if (code == 0 && (id == CLOCK_REALTIME || id == CLOCK_REALTIME_COARSE))
        now->tv_sec += jump_s();
    return (int)code;
}

int gettimeofday(struct timeval *restrict now, void *restrict zone) {
    struct timespec wall;
    (void)zone;
    if (clock_gettime(CLOCK_REALTIME, &wall) != 0)
        return -1;
    *now = (struct timeval){wall.tv_sec, wall.tv_nsec / 1000};
    return 0;
}

time_t time(time_t *out) {
    struct timespec wall = {0};
    (void)clock_gettime(CLOCK_REALTIME, &wall);
    if (out != NULL)
        *out = wall.tv_sec;
    return wall.tv_sec;
}
