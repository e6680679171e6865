/* Helpers for the operations on runs. */
#ifndef CONFORMANCE_HARNESS_RUNS_H
#define CONFORMANCE_HARNESS_RUNS_H

#include "conformance/harness_jobs.h"

/* A run with partitions p0, p1, …; pages are jobs of type "page", the consolidation is "consolidate". */
struct run_start run_of(struct conf *c, const char *name, int partitions);
int64_t start_run_(struct conf *c, struct run_start in);
enum store_answer try_start_(struct conf *c, struct run_start in, int64_t *id);
#define start_run(c, ...) (conf_at(c, __FILE__, __LINE__), start_run_(c, __VA_ARGS__))
#define try_start(c, ...) (conf_at(c, __FILE__, __LINE__), try_start_(c, __VA_ARGS__))

/* The page that a job is for, read from its payload. */
struct page_ref page_of(struct conf *c, int instance, const struct job *job);

/* A page with the items FIRST … FIRST + COUNT - 1 of its partition: key "PART-NUMBER", payload {"n":NUMBER}.
 */
struct page_commit page_with(struct conf *c, int instance, const struct job *job, int first, int count,
                             enum page_more more);
struct page_result commit_(struct conf *c, struct page_commit in);
#define commit(c, ...) (conf_at(c, __FILE__, __LINE__), commit_(c, __VA_ARGS__))
struct page begin_(struct conf *c, struct page_ref in);
#define begin(c, ...) (conf_at(c, __FILE__, __LINE__), begin_(c, __VA_ARGS__))

struct run_row run_row_(struct conf *c, int64_t id);
struct partition_row part_row_(struct conf *c, int64_t run, int part);
#define run_row_is(c, ...) (conf_at(c, __FILE__, __LINE__), run_row_(c, __VA_ARGS__))
#define part_row_is(c, ...) (conf_at(c, __FILE__, __LINE__), part_row_(c, __VA_ARGS__))

/* "0-0={"n":0} …": what is stored, by key. */
const char *stored_(struct conf *c, int64_t run);
#define stored(c, ...) (conf_at(c, __FILE__, __LINE__), stored_(c, __VA_ARGS__))

/* Claims one page and ends its partition with it; the partition must be the next in the queue. */
struct page_result finish_next_(struct conf *c, int instance);
#define finish_next(c, ...) (conf_at(c, __FILE__, __LINE__), finish_next_(c, __VA_ARGS__))
/* Claims the next job and lets it die. */
void kill_next_(struct conf *c, int instance);
#define kill_next(c, ...) (conf_at(c, __FILE__, __LINE__), kill_next_(c, __VA_ARGS__))

#endif
