/* The operations on runs (docs/runs.md). Included where OPERATION(name,
 * parameters after the store) is defined. */

OPERATION(start, const struct run_start *in, struct run_started *out, pawl_error *err)
/* Before a page is fetched: what to fetch, or that there is nothing to do (then its job is completed). */
OPERATION(page_begin, const struct page_ref *in, struct arena *arena, struct page *out, pawl_error *err)
OPERATION(page_commit, const struct page_commit *in, struct arena *arena, struct page_result *out,
          pawl_error *err)

OPERATION(runs, const struct runs_filter *filter, struct arena *arena, struct run_list *out, pawl_error *err)
OPERATION(partitions, const struct partitions_filter *filter, struct arena *arena, struct partition_list *out,
          pawl_error *err)
LISTS(items,
      (const struct items_filter *filter, struct arena *arena, struct stored_items *out, pawl_error *err),
      "items", QUERY(VIEW_ITEMS), check_limit("items", filter->limit, err), stored_item_shape,
      ROWS_OUT(out, items), VALUES(ROW_OF(items_filter_shape, filter)))

/* applied; not found; conflict: the run is consolidating, completed or cancelled. */
OPERATION(reset, const struct partition_reset *in, enum store_answer *out, pawl_error *err)
/* A named partition that is active gets a new page job: an operator's re-enqueue. */
OPERATION(retry, const struct run_retry *in, struct run_retried *out, pawl_error *err)
/* applied; duplicate (already in that state); not found; conflict (it has ended). */
OPERATION(pause, int64_t run, bool paused, enum store_answer *out, pawl_error *err)
OPERATION(cancel, int64_t run, enum store_answer *out, pawl_error *err)
/* applied; not found; conflict: its pages have no key (start it paced, or with a limit). */
OPERATION(pace, const struct run_pace *in, enum store_answer *out, pawl_error *err)

OPERATION(target_put, const struct run_target *in, pawl_error *err)
/* PAWL_NOT_FOUND, or PAWL_CONFLICT while a run that has not ended names it. */
OPERATION(target_remove, pawl_str name, pawl_error *err)
LISTS(targets, (struct arena * arena, struct run_targets *out, pawl_error *err), "targets",
      QUERY(RUN_TARGETS), PAWL_OK, run_target_shape, ROWS_OUT(out, targets), NO_VALUES)
/* The items of a page, selected by the statement of that name: it gets JSON, returns (key, payload) and
 * writes nothing. PAWL_NOT_FOUND; PAWL_INVALID: the database's error; PAWL_CONFLICT: a store without SQL. */
OPERATION(page_select, pawl_str name, pawl_str json, struct arena *arena, struct stored_items *out,
          pawl_error *err)
OPERATION(maintain, int rows_max, struct runs_maintain_result *out, pawl_error *err)
