-- run_begin: stores a run.
INSERT INTO pawl_run (id, parent, state, paused, paced, consolidated, children_open, children_failed, page_size, concurrency, rate, rate_ms, deadline_ms, max_attempts, priority, flags, end_rule, policy, round, partitions, remaining, done, failed, started_ms, ended_ms, job, key, name, type, queue, consolidate, announce, target, traceparent, wait_key, error, params, spec)
VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16, ?17, ?18, ?19, ?20, ?21, ?22, ?23, ?24, ?25, ?26, ?27, ?28, ?29, ?30, ?31, ?32, ?33, ?34, ?35, ?36, ?37, ?38)
