/* The shapes of runs, partitions, pages and items. */
#include "store/rows/shapes.h"

#define ROW struct run_row
SHAPE(run, M(id), M(parent), M(state), M(paused), M(paced), M(consolidated), M(children_open),
      M(children_failed), M(page_size), M(concurrency), M(rate), M(rate_ms), M(deadline_ms), M(max_attempts),
      M(priority), M(flags), M(end), M(policy), M(round), M(partitions), M(remaining), M(done), M(failed),
      M(started_ms), M(ended_ms), M(job), M(key), M(name), M(type), M(queue), M(consolidate), M(announce),
      M(target), M(traceparent), M(wait_key), M(error), M(params), M(spec), M(agent));
/* What changes while it runs. */
SHAPE(run_saved, M(id), M(state), M(paused), M(consolidated), M(children_open), M(children_failed),
      M(concurrency), M(rate), M(rate_ms), M(round), M(remaining), M(done), M(failed), M(ended_ms), M(job),
      M(error));
SHAPE(run_sums, M(total), M(items), M(repeats), M(pages), M(skipped), M(fetch_ms), M(fetch_ms_max), M(slow));
#undef ROW

#define ROW struct runs_filter
SHAPE(runs_filter, M(id), M(key), M(name), M(state), M(open), M(parent), M(before_id), M(limit));
#undef ROW

#define ROW struct run_started
SHAPE(run_started, M(answer), M(id));
#undef ROW

#define ROW struct partition_row
SHAPE(partition, M(run), M(part), M(state), M(paused), M(bounded), M(low), M(high), M(total), M(offset),
      M(generation), M(page), M(job), M(items), M(repeats), M(pages), M(skipped), M(fetch_ms),
      M(fetch_ms_max), M(fetch_ms_last), M(slow), M(started_ms), M(updated_ms), M(ended_ms), M(name),
      M(cursor), M(error), M(params));
/* What changes while it runs. */
SHAPE(partition_saved, M(run), M(part), M(state), M(paused), M(offset), M(generation), M(page), M(job),
      M(items), M(repeats), M(pages), M(skipped), M(fetch_ms), M(fetch_ms_max), M(fetch_ms_last), M(slow),
      M(updated_ms), M(ended_ms), M(cursor), M(error));
#undef ROW

#define ROW struct partitions_filter
SHAPE(partitions_filter, M(run), M(name), M(state), M(quiet_ms), M(after_run), M(after_part), M(limit));
#undef ROW

#define ROW struct page_ref
SHAPE(page_ref, M(instance), M(job.token), M(job.id), M(run), M(part), M(generation), M(page));
#undef ROW

#define ROW struct page
SHAPE(page, M(answer), M(outcome), M(skip), M(run_key), M(run_name), M(run_params), M(spec), M(partition),
      M(params), M(cursor), M(traceparent), M(bounded), M(low), M(high), M(total), M(offset), M(next_offset),
      M(deadline_ms), M(limit), M(end), M(agent));
#undef ROW

#define ROW struct run_item
SHAPE(run_item, M(key), JSON(payload));
#undef ROW

#define ROW struct page_result
SHAPE(page_result, M(answer), M(outcome), M(skip), M(next_offset), M(next_job), M(last), M(error));
#undef ROW

#define ROW struct items_filter
SHAPE(items_filter, M(run), M(part), M(after_key), M(limit));
#undef ROW

#define ROW struct stored_item
SHAPE(stored_item, M(part), M(key), M(payload));
/* As a user's statement selects it. */
SHAPE(selected_item, M(key), M(payload));
#undef ROW

#define ROW struct partition_reset
SHAPE(partition_reset, M(run), M(part), M(offset), M(cursor));
#undef ROW

#define ROW struct run_retried
SHAPE(run_retried, M(answer), M(count));
#undef ROW

#define ROW struct run_pace
SHAPE(run_pace, M(run), M(concurrency), M(rate), M(rate_ms), M(hold_ms));
#undef ROW

#define ROW struct run_target
SHAPE(run_target, M(name), M(sql), M(updated_ms));
#undef ROW

#define ROW struct runs_maintain_result
SHAPE(runs_maintain, M(runs_removed), M(items_removed));
#undef ROW
