/* The shapes of runs, partitions, pages and items. */
#include "store/rows/shapes.h"

SHAPE(run, struct run_row, M(id), M(parent), M(state), M(paused), M(paced), M(consolidated), M(children_open),
      M(children_failed), M(page_size), M(concurrency), M(rate), M(rate_ms), M(deadline_ms), M(max_attempts),
      M(priority), M(flags), M(end), M(policy), M(round), M(partitions), M(remaining), M(done), M(failed),
      M(started_ms), M(ended_ms), M(job), M(key), M(name), M(type), M(queue), M(consolidate), M(announce),
      M(target), M(traceparent), M(wait_key), M(error), M(params), M(spec), M(agent));
/* What changes while it runs. */
SHAPE(run_saved, struct run_row, M(id), M(state), M(paused), M(consolidated), M(children_open),
      M(children_failed), M(concurrency), M(rate), M(rate_ms), M(round), M(remaining), M(done), M(failed),
      M(ended_ms), M(job), M(error));
SHAPE(run_sums, struct run_row, M(total), M(items), M(repeats), M(pages), M(skipped), M(fetch_ms),
      M(fetch_ms_max), M(slow));
SHAPE(runs_filter, struct runs_filter, M(id), M(key), M(name), M(state), M(open), M(parent), M(before_id),
      M(limit));
SHAPE(run_started, struct run_started, M(answer), M(id));
SHAPE(partition, struct partition_row, M(run), M(part), M(state), M(paused), M(bounded), M(low), M(high),
      M(total), M(offset), M(generation), M(page), M(job), M(items), M(repeats), M(pages), M(skipped),
      M(fetch_ms), M(fetch_ms_max), M(fetch_ms_last), M(slow), M(started_ms), M(updated_ms), M(ended_ms),
      M(name), M(cursor), M(error), M(params));
/* What changes while it runs. */
SHAPE(partition_saved, struct partition_row, M(run), M(part), M(state), M(paused), M(offset), M(generation),
      M(page), M(job), M(items), M(repeats), M(pages), M(skipped), M(fetch_ms), M(fetch_ms_max),
      M(fetch_ms_last), M(slow), M(updated_ms), M(ended_ms), M(cursor), M(error));
SHAPE(partitions_filter, struct partitions_filter, M(run), M(name), M(state), M(quiet_ms), M(after_run),
      M(after_part), M(limit));
SHAPE(page_ref, struct page_ref, M(instance), M(job.token), M(job.id), M(run), M(part), M(generation),
      M(page));
SHAPE(page, struct page, M(answer), M(outcome), M(skip), M(run_key), M(run_name), M(run_params), M(spec),
      M(partition), M(params), M(cursor), M(traceparent), M(bounded), M(low), M(high), M(total), M(offset),
      M(next_offset), M(deadline_ms), M(limit), M(end), M(agent));
SHAPE(run_item, struct run_item, M(key), JSON(payload));
SHAPE(page_result, struct page_result, M(answer), M(outcome), M(skip), M(next_offset), M(next_job), M(last),
      M(error));
SHAPE(items_filter, struct items_filter, M(run), M(part), M(after_key), M(limit));
SHAPE(stored_item, struct stored_item, M(part), M(key), M(payload));
/* As a user's statement selects it. */
SHAPE(selected_item, struct stored_item, M(key), M(payload));
SHAPE(partition_reset, struct partition_reset, M(run), M(part), M(offset), M(cursor));
SHAPE(run_retried, struct run_retried, M(answer), M(count));
SHAPE(run_pace, struct run_pace, M(run), M(concurrency), M(rate), M(rate_ms), M(hold_ms));
SHAPE(run_target, struct run_target, M(name), M(sql), M(updated_ms));
SHAPE(runs_maintain, struct runs_maintain_result, M(runs_removed), M(items_removed));
