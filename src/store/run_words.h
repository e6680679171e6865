/* Building the jobs, keys and error texts of runs, for stores written in C. */
#ifndef STORE_RUN_WORDS_H
#define STORE_RUN_WORDS_H

#include "domain/run/rule.h"
#include "store/runs.h"

/* The jobs of a run, texts in the arena. PAWL_NO_MEMORY is the only failure. */
PAWL_MUSTCHECK pawl_status run_page_job(const struct run_row *run, const struct partition_row *part,
                                        struct arena *arena, struct job *out, pawl_error *err);
/* items: the sum over its partitions. */
PAWL_MUSTCHECK pawl_status run_consolidate_job(const struct run_row *run, int64_t items, struct arena *arena,
                                               struct job *out, pawl_error *err);
PAWL_MUSTCHECK pawl_status run_announce_job(const struct run_row *run, const struct partition_row *part,
                                            struct arena *arena, struct job *out, pawl_error *err);
/* The payload of the signal to its wait key. */
PAWL_MUSTCHECK pawl_status run_end_signal(const struct run_row *run, struct arena *arena,
                                          struct job_wake *out, pawl_error *err);
/* The items of a page as the JSON array for a target's statement. */
PAWL_MUSTCHECK pawl_status run_items_json(const struct page_commit *in, const struct partition_row *part,
                                          const struct run_item *items, size_t count, struct arena *arena,
                                          pawl_str *out, pawl_error *err);

/* How a job of a run ended for good without page_commit. */
enum run_job_end { RUN_JOB_COMPLETED = 1, RUN_JOB_CANCELLED, RUN_JOB_DEAD };
/* Why its partition or run then fails. */
PAWL_MUSTCHECK pawl_status run_job_end_text(const struct job *job, enum run_job_end how, pawl_str error,
                                            struct arena *arena, pawl_str *out, pawl_error *err);

/* The partition a job belongs to, read from its unique key; part -1: the consolidation. */
struct run_job_name {
    int64_t run;
    int part;
};
bool run_job_name(pawl_str unique_key, struct run_job_name *out);

/* "run:7" */
PAWL_MUSTCHECK pawl_status run_key_text(int64_t run, struct arena *arena, pawl_str *out, pawl_error *err);
bool run_ended(enum run_state state);
/* Whether a partition of the run may be worked on or reopened. */
bool run_workable(enum run_state state);

/* Why a page is skipped; PAGE_NOT_SKIPPED if it is not. part NULL: there is none. */
enum page_skip run_guard(const struct page_ref *in, const struct run_row *run,
                         const struct partition_row *part);

/* The last item of each key, sorted by key. */
PAWL_MUSTCHECK pawl_status run_items_distinct(const struct run_item *items, size_t count, struct arena *arena,
                                              struct run_item **out, size_t *out_count, pawl_error *err);

/* What pace changes; a hold needs a rate, so a run without one gets PAWL_PACE_RATE per second. */
void run_pace_set(struct run_row *run, const struct run_pace *in);

pawl_status run_target_missing(pawl_str name, pawl_error *err);
pawl_status run_target_used(pawl_str name, pawl_error *err);

/* A new run and partition as `start` creates them; texts are borrowed. */
struct run_row run_row_of(const struct run_start *in, int64_t now_ms);
struct partition_row partition_row_of(const struct partition_new *in, int64_t run, int part, int64_t now_ms);
/* The facts that decide whether there is more, and whether it ever ends. */
struct runrule_page run_page_rule(const struct page_commit *in, const struct run_row *run,
                                  const struct partition_row *part);
/* Updates counters and timings for a stored page. */
void run_page_count(const struct page_commit *in, const struct run_row *run, struct partition_row *part,
                    size_t repeats, int64_t now_ms);

#endif
