/* Programs that cannot be started: remembered until they start again, and reported once per change. It is
 * never the fault of the work. */
#ifndef PROCESS_START_FAILURE_H
#define PROCESS_START_FAILURE_H

#include <pthread.h>
#include <stdatomic.h>

#include "pawl.h"

enum {
    START_FAILURES_MAX = 16,
    START_FAILURE_WAIT_MS_MIN =
        500, /* until the next try: as long as the trouble has lasted, between these two */
    START_FAILURE_WAIT_MS_MAX = 10000
};

struct start_failure {
    char program[256]; /* "" = any program: no descriptors, no process, no memory */
    char reason[256];
    int64_t since_ms, until_ms; /* boot time; nothing is tried before `until` */
    bool open;                  /* it still cannot be started */
    bool reported;              /* the last change reported was that it is open */
};

struct start_failures {
    pthread_mutex_t lock;
    struct start_failure rows[START_FAILURES_MAX];
    atomic_int open; /* rows */
};

void start_failures_init(struct start_failures *failures);
void start_failures_free(struct start_failures *failures);

/* The program could not be started. Returns how long its work should wait. */
int64_t start_failed(struct start_failures *failures, const char *program, pawl_status status,
                     const char *reason);

/* The program was started. */
void start_succeeded(struct start_failures *failures, const char *program);

/* The next change that was not reported yet, as the row is now (open: it began; else it is over). */
bool start_failures_changed(struct start_failures *failures, struct start_failure *row);

/* Until when nothing should be started, or, with a program, until when that one should not; 0 = it may start
 * now. */
int64_t start_failures_until_ms(struct start_failures *failures, const char *program);

/* How long the work of a program that could not be started has to wait. */
int64_t start_failures_wait_ms(struct start_failures *failures, const char *program);

#endif
