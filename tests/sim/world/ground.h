/* The ground that worlds stand on, one after the other: a store in memory that is emptied before each. */
#ifndef SIM_GROUND_H
#define SIM_GROUND_H

#include "store/store.h"

struct ground;

/* Ends the program when it cannot. */
struct ground *ground_new(void);
void ground_free(struct ground *ground); /* takes NULL */

/* The store as it is after its migration, with these counts and this clock; borrowed, until the next call. */
struct store *ground_fresh(struct ground *ground, int partitions, int lanes);
/* Keeps the store as it is now, in the place of what was kept before; and goes back to it, as a database does
 * that was restored, or promoted before it had heard everything. */
void ground_keep(struct ground *ground);
void ground_go_back(struct ground *ground);
/* The store's time from now on. */
void ground_clock(struct ground *ground, int64_t now_ms);

/* Runs one statement that is none of the store's, for the mutants, which have a table for themselves: doomed
 * (kind, seq), empty in a fresh store. The numbers are its first parameters and the id, when there is one,
 * the next. Returns how many rows it changed. */
struct ground_values {
    int64_t numbers[2];
    int count;
    const pawl_uuid *id;
};
/* What a perspective has made of a stream; 0 and 0 when there is nothing. */
void ground_model(struct ground *ground, const char *perspective, const char *stream, int64_t *fold,
                  int64_t *count);
int64_t ground_run(struct ground *ground, const char *sql, const struct ground_values *values);

#endif
