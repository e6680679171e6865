/* The operations on pooled work: jobs, tasks, schedules, agents and their audit (docs/jobs.md). Included
 * where OPERATION(name, parameters after the store) is defined. */

OPERATION(enqueue, const struct jobs_enqueue *in, struct arena *arena, struct enqueue_result *out,
          pawl_error *err)
OPERATION(claim, const struct jobs_claim *in, struct arena *arena, struct job_list *out, pawl_error *err)
OPERATION(finish, const struct jobs_finish *in, struct arena *arena, struct finish_result *out,
          pawl_error *err)
OPERATION(renew, const struct jobs_renew *in, struct arena *arena, struct renew_result *out, pawl_error *err)
/* applied (deleted, or asked to stop), not found. */
OPERATION(cancel, const int64_t *ids, size_t count, struct arena *arena, struct job_answers *out,
          pawl_error *err)
/* Redrives or discards dead jobs: applied, not found, conflict (its unique key is taken). */
OPERATION(redrive, const int64_t *ids, size_t count, bool discard, struct arena *arena,
          struct job_answers *out, pawl_error *err)
OPERATION(wake, const struct job_wake *in, struct wake_result *out, pawl_error *err)
/* applied, duplicate (it was done), stale. */
OPERATION(steps_put, const struct steps_put *in, struct arena *arena, struct job_answers *out,
          pawl_error *err)
OPERATION(steps_read, int64_t job_id, struct arena *arena, struct job_steps *out, pawl_error *err)
/* concurrency 0, rate 0 and weight 1 remove it. */
OPERATION(limit_set, const struct job_limit *in, pawl_error *err)
LISTS(limits, (struct arena * arena, struct job_limits *out, pawl_error *err), "job_limits",
      QUERY(JOB_LIMITS), PAWL_OK, job_limit_shape, ROWS_OUT(out, limits), NO_VALUES)

OPERATION(jobs, const struct job_filter *filter, struct arena *arena, struct job_rows *out, pawl_error *err)
OPERATION(why, int64_t id, struct arena *arena, struct job_why *out, pawl_error *err)
LISTS(dead_groups, (int limit, struct arena *arena, struct job_dead_groups *out, pawl_error *err),
      "job_dead_groups", QUERY(JOB_DEAD_GROUPS), check_limit("job_dead_groups", limit, err),
      job_dead_group_shape, ROWS_OUT(out, groups), VALUES(limit))
LISTS(counts, (struct arena * arena, struct job_counts_list *out, pawl_error *err), "job_counts",
      QUERY(JOB_COUNTS), PAWL_OK, job_counts_shape, ROWS_OUT_NOW(out, queues), NO_VALUES)

/* Examines at most look_max (1 … PAWL_BACKLOG_LOOK) ready jobs and as many that are later or waiting,
 * regardless of dead ones; the store chooses which. */
OPERATION(backlog, int look_max, struct arena *arena, struct job_backlog *out, pawl_error *err)

OPERATION(task_put, const struct task *in, struct arena *arena, struct put_answer *out, pawl_error *err)
/* not found, or conflict while a schedule names it. Its jobs and runs stay. */
OPERATION(task_remove, pawl_str name, pawl_error *err)
/* name absent: by name after after_name. */
LISTS(tasks,
      (pawl_str name, pawl_str after_name, int limit, struct arena *arena, struct task_list *out,
       pawl_error *err),
      "tasks", QUERY(TASKS), check_limit("tasks", limit, err), task_shape, ROWS_OUT(out, tasks),
      VALUES(name, after_name, limit))
OPERATION(schedule_put, const struct job_schedule *in, struct put_answer *out, pawl_error *err)
OPERATION(schedule_remove, pawl_str name, pawl_error *err)
OPERATION(schedules, const struct schedule_filter *filter, struct arena *arena, struct job_schedule_list *out,
          pawl_error *err)
OPERATION(schedule_fire, const struct schedule_fire *in, struct arena *arena, struct fire_result *out,
          pawl_error *err)
OPERATION(agent_put, const struct agent *in, pawl_error *err)
LISTS(agents, (struct arena * arena, struct agent_list *out, pawl_error *err), "agents", QUERY(AGENTS),
      PAWL_OK, agent_shape, ROWS_OUT(out, agents), NO_VALUES)
/* Of what an agent asked for itself: agent and missing. */
OPERATION(refusal_add, const struct refusal *in, pawl_error *err)
LISTS(refusals, (int limit, struct arena *arena, struct refusal_list *out, pawl_error *err), "refusals",
      QUERY(REFUSALS), check_limit("refusals", limit, err), refusal_shape, ROWS_OUT(out, refusals),
      VALUES(limit))

OPERATION(runs, const struct run_filter *filter, struct arena *arena, struct task_run_list *out,
          pawl_error *err)
/* Of all that finished since then, by that instance (nil = any). */
OPERATION(run_sums, int64_t since_ms, pawl_uuid instance, struct run_sums *out, pawl_error *err)
/* expect: the hash of an anchor in hex, which must exist; absent = none. */
OPERATION(audit_verify, pawl_str expect, struct arena *arena, struct audit_report *out, pawl_error *err)
/* Creates an anchor if a chain has moved and the last one is at least older_ms old; *out is the last one. */
OPERATION(audit_anchor, int64_t older_ms, struct audit_head *out, pawl_error *err)
OPERATION(audit_head, struct audit_head *out, pawl_error *err)
/* The oldest events, by id. A reader advances by removing what it passed on, so an event whose transaction
 * commits late is never skipped. */
OPERATION(spine_read, int limit, struct arena *arena, struct spine_events *out, pawl_error *err)
OPERATION(spine_remove, const int64_t *ids, size_t count, int64_t *removed, pawl_error *err)
OPERATION(maintain, int rows_max, struct jobs_maintain_result *out, pawl_error *err)
