/* The jobs of runs: pages, which a tool or a statement fetches and which are stored with their progress in
 * one transaction, and those that plan and consolidate a run. */
#ifndef WORK_RUN_PAGE_JOB_H
#define WORK_RUN_PAGE_JOB_H

#include "domain/run/doc.h"
#include "work/pipeline/run.h"

/* Runs it. JOB_END_SETTLED: its end is already in the store. result->owner as in pipeline_run. */
void page_job_run(const struct pipeline_run_in *in, struct job_result_in *result);

/* Consolidates: by a tool, a pipeline, or another run, as the run's document says. result->owner as
 * pipeline_run. */
void consolidate_job_run(const struct pipeline_run_in *in, struct job_result_in *result);

/* Asks the planning tool for the partitions and starts the run. */
void plan_job_run(const struct pipeline_run_in *in, struct job_result_in *result);

/* Which page of which run the job is; instance is left nil. PAWL_INVALID: it is not a page. */
PAWL_MUSTCHECK pawl_status page_job_ref(const struct job *job, struct arena *arena, struct page_ref *ref,
                                        pawl_error *err);

/* What a page is fetched with. */
struct page_fetch {
    const struct pipeline_run_in *in;
    const struct page_ref *ref;
    const struct page *page;
    const struct run_doc *doc;
};

struct page_fetched {
    struct run_page page;
    int64_t retry_after_ms; /* -1 = nothing was said */
    bool throttled;
};

/* page_fetch.c: asks for the page and reads the answer. *out is written in every case. PAWL_OK, or as
 * tools_call; PAWL_INVALID also when the answer is wrong. */
PAWL_MUSTCHECK pawl_status page_fetch(const struct page_fetch *in, struct arena *arena,
                                      struct page_fetched *out, pawl_error *err);

#endif
