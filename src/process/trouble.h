/* Programs that cannot be started: the worker's trouble, remembered until they start again, and told once per
 * change. */
#ifndef PROCESS_TROUBLE_H
#define PROCESS_TROUBLE_H

#include <pthread.h>
#include <stdatomic.h>

#include "pawl.h"

enum {
    TROUBLE_ROWS_MAX = 16,
    TROUBLE_WAIT_MS_MIN = 500, /* until the next try; as long as it has lasted, between these two */
    TROUBLE_WAIT_MS_MAX = 10000
};

struct trouble_row {
    char program[256]; /* "" = any program: no descriptors, no process, no memory */
    char reason[256];
    int64_t since_ms, until_ms; /* boot time; nothing is to be tried before until */
    bool open, told;            /* there is one; whoever tells it knows that there is or was one */
};

struct trouble {
    pthread_mutex_t lock;
    struct trouble_row rows[TROUBLE_ROWS_MAX];
    atomic_int open; /* rows */
};

void trouble_init(struct trouble *trouble);
void trouble_free(struct trouble *trouble);

/* The program could not be started. Returns how long the work for it is to wait. */
int64_t trouble_begin(struct trouble *trouble, const char *program, pawl_status status, const char *reason);

/* The program was started. */
void trouble_end(struct trouble *trouble, const char *program);

/* The next change that was not told yet, as the row is now (open: it began; else it is over). */
bool trouble_news(struct trouble *trouble, struct trouble_row *row);

/* Until when nothing at all is to be started; with a program, until when that one is not; 0 = now. */
int64_t trouble_until_ms(struct trouble *trouble, const char *program);

#endif
