/* The shapes of the rows that both stores read. */
#include "store/row.h"

#include <string.h>

#include "store/store.h"

void rows_give(struct row_list list, int64_t now_ms, struct rows_out out) {
    memcpy(out.rows, &list.rows, sizeof list.rows);
    *out.count = list.count;
    if (out.now_ms != NULL)
        *out.now_ms = now_ms;
}

#define M(name) MEMBER(ROW, name)

#define ROW struct task
static const struct member task_members[] = {
    M(name),     M(agent),        M(type),  M(spec),       M(params),       M(scopes),  M(queue),     M(key),
    M(priority), M(max_attempts), M(flags), M(timeout_ms), M(retention_ms), M(version), M(updated_ms)};
const struct row_shape task_shape = ROW_SHAPE(ROW, task_members);
#undef ROW

#define ROW struct job_schedule
static const struct member schedule_members[] = {
    M(name),   M(task),       M(kind),    M(expr),      M(zone),      M(params),
    M(missed), M(missed_max), M(overlap), M(jitter_ms), M(start_ms),  M(end_ms),
    M(paused), M(next_ms),    M(last_ms), M(version),   M(updated_ms)};
const struct row_shape schedule_shape = ROW_SHAPE(ROW, schedule_members);
#undef ROW

#define ROW struct agent
static const struct member agent_members[] = {M(name), M(scopes), M(disabled), M(updated_ms)};
const struct row_shape agent_shape = ROW_SHAPE(ROW, agent_members);
#undef ROW

#define ROW struct refusal
static const struct member refusal_members[] = {M(id), M(agent), M(task), M(missing), M(job_id), M(made_ms)};
const struct row_shape refusal_shape = ROW_SHAPE(ROW, refusal_members);
#undef ROW

#define ROW struct task_run
static const struct member task_run_members[] = {
    M(id),       M(job_id), M(task),       M(type),        M(queue),   M(attempt),
    M(instance), M(token),  M(started_ms), M(finished_ms), M(outcome), M(output),
    M(error),    M(steps),  M(input_hash), M(output_hash)};
const struct row_shape task_run_shape = ROW_SHAPE(ROW, task_run_members);
#undef ROW

#define ROW struct job_counts
static const struct member job_counts_members[] = {
    M(queue),  M(ready), M(running), M(later),     M(waiting),  M(dead),      M(put),   M(done),
    M(failed), M(lost),  M(died),    M(cancelled), M(redriven), M(discarded), M(stale), M(oldest_ready_ms)};
const struct row_shape job_counts_shape = ROW_SHAPE(ROW, job_counts_members);
#undef ROW

#define ROW struct job_limit
static const struct member job_limit_members[] = {M(key), M(concurrency), M(rate), M(rate_ms), M(weight)};
const struct row_shape job_limit_shape = ROW_SHAPE(ROW, job_limit_members);
#undef ROW

#define ROW struct job_step
static const struct member job_step_members[] = {M(step),       M(index),       M(state),      M(attempt),
                                                 M(started_ms), M(finished_ms), M(input_hash), M(output_hash),
                                                 M(error),      M(output)};
const struct row_shape job_step_shape = ROW_SHAPE(ROW, job_step_members);
#undef ROW

#define ROW struct job_dead_group
static const struct member job_dead_group_members[] = {M(fingerprint), M(sample_error), M(count), M(first_ms),
                                                       M(last_ms)};
const struct row_shape job_dead_group_shape = ROW_SHAPE(ROW, job_dead_group_members);
#undef ROW

#define ROW struct run_row
static const struct member run_members[] = {
    M(id),          M(parent),       M(state),         M(paused),
    M(paced),       M(consolidated), M(children_open), M(children_failed),
    M(page_size),   M(concurrency),  M(rate),          M(rate_ms),
    M(deadline_ms), M(max_attempts), M(priority),      M(flags),
    M(end),         M(policy),       M(round),         M(partitions),
    M(remaining),   M(done),         M(failed),        M(started_ms),
    M(ended_ms),    M(job),          M(key),           M(name),
    M(type),        M(queue),        M(consolidate),   M(announce),
    M(target),      M(traceparent),  M(wait_key),      M(error),
    M(params),      M(spec),         M(agent)};
const struct row_shape run_shape = ROW_SHAPE(ROW, run_members);
#undef ROW

#define ROW struct run_row
static const struct member run_sums_members[] = {M(total),   M(items),    M(repeats),      M(pages),
                                                 M(skipped), M(fetch_ms), M(fetch_ms_max), M(slow)};
const struct row_shape run_sums_shape = ROW_SHAPE(ROW, run_sums_members);
#undef ROW

#define ROW struct partition_row
static const struct member partition_members[] = {
    M(run),        M(part),     M(state),      M(paused),       M(bounded),       M(low),   M(high),
    M(total),      M(offset),   M(generation), M(page),         M(job),           M(items), M(repeats),
    M(pages),      M(skipped),  M(fetch_ms),   M(fetch_ms_max), M(fetch_ms_last), M(slow),  M(started_ms),
    M(updated_ms), M(ended_ms), M(name),       M(cursor),       M(error),         M(params)};
const struct row_shape partition_shape = ROW_SHAPE(ROW, partition_members);
#undef ROW

#define ROW struct stored_item
static const struct member stored_item_members[] = {M(part), M(key), M(payload)};
const struct row_shape stored_item_shape = ROW_SHAPE(ROW, stored_item_members);
#undef ROW

#define ROW struct run_target
static const struct member run_target_members[] = {M(name), M(sql), M(updated_ms)};
const struct row_shape run_target_shape = ROW_SHAPE(ROW, run_target_members);
#undef ROW

#define ROW struct duty_row
static const struct member duty_members[] = {M(name), M(instance), M(token), M(lease_until_ms)};
const struct row_shape duty_shape = ROW_SHAPE(ROW, duty_members);
#undef ROW

#define ROW struct refused_row
static const struct member refused_members[] = {M(number),     M(reason), M(consumer), M(topic),
                                                M(message_id), M(detail), M(payload),  M(received_ms)};
const struct row_shape refused_shape = ROW_SHAPE(ROW, refused_members);
#undef ROW

#define ROW struct pause_row
static const struct member pause_members[] = {M(scope), M(name), M(reason), M(actor), M(since_ms)};
const struct row_shape pause_shape = ROW_SHAPE(ROW, pause_members);
#undef ROW

#define ROW struct audit_row
static const struct member audit_members[] = {M(number), M(at_ms), M(actor), M(action), M(detail)};
const struct row_shape audit_shape = ROW_SHAPE(ROW, audit_members);
#undef ROW

#define ROW struct alert_row
static const struct member alert_members[] = {
    M(rule.name),        M(rule.metric),    M(rule.summary),         M(rule.targets),     M(rule.side),
    M(rule.severity),    M(rule.threshold), M(rule.clear_threshold), M(rule.for_ms),      M(rule.clear_ms),
    M(rule.enabled),     M(rule.version),   M(rule.updated_ms),      M(state.phase),      M(state.since_ms),
    M(state.turning_ms), M(state.told),     M(state.value),          M(silence_until_ms), M(silence_reason),
    M(silence_by)};
const struct row_shape alert_shape = ROW_SHAPE(ROW, alert_members);
/* The rule alone. */
const struct row_shape alert_rule_shape = {alert_members, 13, sizeof(ROW)};
#undef ROW

#define ROW struct alert_change
static const struct member alert_change_members[] = {M(number),    M(id),     M(rule),   M(event),
                                                     M(value),     M(at_ms),  M(detail), M(waiting),
                                                     M(delivered), M(failed), M(error)};
const struct row_shape alert_change_shape = ROW_SHAPE(ROW, alert_change_members);
/* Without its deliveries. */
const struct row_shape alert_told_shape = {alert_change_members, 7, sizeof(ROW)};
#undef ROW

#define ROW struct instance_row
static const struct member instance_members[] = {M(id),
                                                 M(service),
                                                 M(host),
                                                 M(metadata),
                                                 M(pid),
                                                 M(kinds),
                                                 M(state),
                                                 M(started_ms),
                                                 M(beat_ms),
                                                 M(lease_until_ms),
                                                 M(lanes[KIND_OUTBOX]),
                                                 M(lanes[KIND_INBOX]),
                                                 M(lanes[KIND_PERSPECTIVE]),
                                                 M(claims),
                                                 M(in_flight),
                                                 M(processed),
                                                 M(jobs)};
const struct row_shape instance_shape = ROW_SHAPE(ROW, instance_members);
#undef ROW

#define ROW struct kind_counts
static const struct member kind_counts_members[] = {M(put),           M(done),
                                                    M(failed),        M(dead),
                                                    M(aside),         M(stale),
                                                    M(duplicate),     M(redriven),
                                                    M(discarded),     M(lanes_free),
                                                    M(claims_active), M(claims_overdue),
                                                    M(leased),        M(oldest_ready_ms),
                                                    M(next_due_ms)};
const struct row_shape kind_counts_shape = ROW_SHAPE(ROW, kind_counts_members);
#undef ROW

#define ROW struct lane_row
static const struct member lane_members[] = {M(lane),  M(owner),    M(token),  M(high),
                                             M(moves), M(draining), M(claims), M(holds)};
const struct row_shape lane_shape = ROW_SHAPE(ROW, lane_members);
#undef ROW

#define ROW struct dead_group
static const struct member dead_group_members[] = {M(fingerprint), M(count), M(first_ms), M(last_ms),
                                                   M(sample_error)};
const struct row_shape dead_group_shape = ROW_SHAPE(ROW, dead_group_members);
#undef ROW

#define ROW struct receptor_row
static const struct member receptor_members[] = {M(receptor), M(status), M(attempts), M(updated_ms),
                                                 M(error)};
const struct row_shape receptor_shape = ROW_SHAPE(ROW, receptor_members);
#undef ROW

#define ROW struct stored_event
static const struct member event_members[] = {
    M(stream),   M(version),        M(position),     M(id),          M(type),       M(payload),
    M(metadata), M(correlation_id), M(causation_id), M(traceparent), M(appended_ms)};
const struct row_shape event_shape = ROW_SHAPE(ROW, event_members);
#undef ROW

#define ROW struct checkpoint_view
static const struct member checkpoint_members[] = {
    M(stream),  M(perspective), M(error),      M(fingerprint), M(version),       M(head),
    M(token),   M(status),      M(stopped),    M(attempts),    M(instance),      M(lease_until_ms),
    M(next_ms), M(created_ms),  M(updated_ms), M(replay_to),   M(failed_version)};
const struct row_shape checkpoint_shape = ROW_SHAPE(ROW, checkpoint_members);
#undef ROW

#define ROW struct checkpoint_error
static const struct member checkpoint_error_members[] = {M(perspective), M(fingerprint), M(sample), M(count)};
const struct row_shape checkpoint_error_shape = ROW_SHAPE(ROW, checkpoint_error_members);
#undef ROW

#define ROW struct perspective_row
static const struct member perspective_members[] = {
    M(key),           M(name),        M(version), M(state),      M(paused),       M(backfilled),
    M(run),           M(target),      M(clear),   M(batch),      M(max_attempts), M(policy),
    M(registered_ms), M(checkpoints), M(pending), M(processing), M(completed),    M(failed),
    M(stopped),       M(matched),     M(applied), M(position)};
const struct row_shape perspective_shape = ROW_SHAPE(ROW, perspective_members);
#undef ROW
