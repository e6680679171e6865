/* Runs in the model: plain lists, searched from the front. */
#ifndef MODEL_RUNS_H
#define MODEL_RUNS_H

#include "base/buf.h"
#include "store/check/runs.h"
#include "store/model/jobs.h"
#include "store/run_words.h"

extern const struct store_runs_ops model_runs_ops;

struct mitem {
    int64_t run;
    int part;
    pawl_str key, payload;
};

struct model_runs {
    int64_t last_run;
    struct pile runs;       /* struct run_row, by id; its sums are computed when they are asked for */
    struct pile partitions; /* struct partition_row, by (run, part) */
    struct pile items;      /* struct mitem, by (run, key) */
    struct pile targets;    /* struct run_target, by name */
};

struct model_runs *model_runs_new(void);
void model_runs_free(struct model_runs *runs); /* takes NULL */

struct run_row *model_run_find(struct model *model, int64_t id);
struct partition_row *model_partition_find(struct model *model, int64_t run, int part);
size_t model_target_place(struct model *model, pawl_str name, bool *there);

/* A job of a run ended for good without page_commit. */
void model_run_job_ended(struct model *model, const struct job *job, enum run_job_end how, pawl_str error);

/* The page job of a partition that has none; nothing while it is paused. */
void model_page_put(struct model *model, const struct run_row *run, struct partition_row *part);
/* An active partition ends; the fan-in follows. True: none is left. */
bool model_partition_end(struct model *model, struct run_row *run, struct partition_row *part,
                         enum part_state state, pawl_str error);
/* A partition that is done or failed is worked on again, and so is its run. */
void model_partition_open(struct model *model, struct run_row *run, struct partition_row *part);
/* The run leaves state failed or in repair. */
void model_run_open(struct model *model, struct run_row *run, enum run_state state);
void model_run_end(struct model *model, struct run_row *run, enum run_state state, pawl_str error);
/* The limit of the run's key is what its row says. */
void model_run_limit(struct model *model, const struct run_row *run);
/* Another round of the consolidation. */
void model_consolidate(struct model *model, struct run_row *run);
int64_t model_run_items(struct model *model, int64_t run);

/* runs_page.c */
pawl_status model_page_begin(struct store *store, const struct page_ref *in, struct arena *arena,
                             struct page *out, pawl_error *err);
pawl_status model_page_commit(struct store *store, const struct page_commit *in, struct arena *arena,
                              struct page_result *out, pawl_error *err);

/* runs_change.c */
pawl_status model_partition_reset(struct store *store, const struct partition_reset *in,
                                  enum store_answer *out, pawl_error *err);
pawl_status model_run_retry(struct store *store, const struct run_retry *in, struct run_retried *out,
                            pawl_error *err);
pawl_status model_run_pause(struct store *store, int64_t run, bool paused, enum store_answer *out,
                            pawl_error *err);
pawl_status model_run_cancel(struct store *store, int64_t run, enum store_answer *out, pawl_error *err);
pawl_status model_run_pace(struct store *store, const struct run_pace *in, enum store_answer *out,
                           pawl_error *err);
pawl_status model_target_put(struct store *store, const struct run_target *in, pawl_error *err);
pawl_status model_target_remove(struct store *store, pawl_str name, pawl_error *err);
pawl_status model_page_select(struct store *store, pawl_str name, pawl_str json, struct arena *arena,
                              struct stored_items *out, pawl_error *err);
pawl_status model_targets(struct store *store, struct arena *arena, struct run_targets *out, pawl_error *err);
pawl_status model_runs_maintain(struct store *store, int rows_max, struct runs_maintain_result *out,
                                pawl_error *err);

/* runs_view.c */
pawl_status model_run_rows(struct store *store, const struct runs_filter *filter, struct arena *arena,
                           struct run_list *out, pawl_error *err);
pawl_status model_partition_rows(struct store *store, const struct partitions_filter *filter,
                                 struct arena *arena, struct partition_list *out, pawl_error *err);
pawl_status model_item_rows(struct store *store, const struct items_filter *filter, struct arena *arena,
                            struct stored_items *out, pawl_error *err);
/* The first invariant that does not hold, or NULL; for check.c. */
const char *model_runs_fault(struct model *model);
void model_runs_dump(struct model *model, struct buf *buf);

#endif
