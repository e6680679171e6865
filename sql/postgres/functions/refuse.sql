-- refuse: arguments that a call cannot take, refused by their names and the number of their item.

-- name: jobs_check
-- Refuses jobs that jobs_enqueue cannot store, by name and number.
-- params: one array member per job, as for jobs_enqueue; p_count integer: how many jobs there are
-- returns: nothing
-- raises: PW001 the first job that is wrong
-- tables: none
-- locks: none
CREATE OR REPLACE FUNCTION pawl.jobs_check(
    p_types text[], p_queues text[], p_keys text[], p_uniques text[], p_tasks text[], p_priorities integer[], p_attempts integer[],
    p_flags integer[], p_due bigint[], p_delays bigint[], p_deadlines bigint[], p_timeouts bigint[], p_count integer) RETURNS void
LANGUAGE plpgsql IMMUTABLE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    c_far CONSTANT bigint := 2305843009213693951;
    v_wrong record;
BEGIN
    SELECT c.n, c.fault INTO v_wrong
      FROM (SELECT u.n, CASE
                WHEN u.type IS NULL AND u.task IS NULL THEN 'the type is missing; name a type, or a task that has one'
                WHEN octet_length(u.type) NOT BETWEEN 1 AND 200 THEN format('the type has %s bytes; it must have 1 … 200', octet_length(u.type))
                WHEN octet_length(u.task) NOT BETWEEN 1 AND 128 THEN format('the task has %s bytes; it must have 1 … 128', octet_length(u.task))
                WHEN octet_length(u.queue) NOT BETWEEN 1 AND 128 THEN
                    format('the queue has %s bytes; it must have 1 … 128', octet_length(u.queue))
                WHEN u.key IS NOT NULL AND pawl.key_fault('key', u.key, u.type) IS NOT NULL THEN pawl.key_fault('key', u.key, u.type)
                WHEN u.unique_key IS NOT NULL AND pawl.key_fault('unique key', u.unique_key, u.type) IS NOT NULL THEN pawl.key_fault('unique key', u.unique_key, u.type)
                WHEN u.priority NOT BETWEEN -1000 AND 1000 THEN format('the priority is %s; it must be -1000 … 1000', u.priority)
                WHEN u.attempts NOT BETWEEN 0 AND 1000 THEN format('max_attempts is %s; it must be 0 … 1000', u.attempts)
                WHEN u.flags NOT BETWEEN 0 AND 3 THEN format('the flags are %s; they must be 0 … 3', u.flags)
                WHEN u.due NOT BETWEEN 0 AND c_far THEN format('due is %s; it must be 0 … %s', u.due, c_far)
                WHEN u.delay NOT BETWEEN 0 AND 31536000000 THEN format('the delay is %s; it must be 0 … 31536000000', u.delay)
                WHEN u.deadline NOT BETWEEN 0 AND c_far THEN format('the deadline is %s; it must be 0 … %s', u.deadline, c_far)
                WHEN u.timeout NOT BETWEEN 0 AND 86400000 THEN format('the timeout is %s; it must be 0 … 86400000', u.timeout) END AS fault
              FROM unnest(p_types, p_queues, p_keys, p_uniques, p_tasks, p_priorities, p_attempts, p_flags, p_due, p_delays, p_deadlines,
                          p_timeouts) WITH ORDINALITY AS u(type, queue, key, unique_key, task, priority, attempts, flags, due, delay,
                                                           deadline, timeout, n)) c
     WHERE c.fault IS NOT NULL LIMIT 1;
    IF FOUND THEN
        RAISE EXCEPTION USING ERRCODE = 'PW001', MESSAGE = format('job %s of %s: %s', v_wrong.n, p_count, v_wrong.fault);
    END IF;
END
$$;

-- name: key_fault
-- What is wrong with a key that a user gives a job.
-- params: p_what text: "key", "unique key"; p_key text; p_type text: of the job
-- returns: the fault, or NULL; pawl's own jobs have keys that begin so, and one of a user would hold up a page or a schedule
-- tables: none
-- locks: none
CREATE OR REPLACE FUNCTION pawl.key_fault(p_what text, p_key text, p_type text) RETURNS text
LANGUAGE sql IMMUTABLE
SET search_path = pg_catalog, pg_temp
AS $$
    SELECT CASE
        WHEN octet_length(p_key) NOT BETWEEN 1 AND 128 THEN format('the %s has %s bytes; it must have 1 … 128', p_what, octet_length(p_key))
        WHEN p_key ~ '^(run|schedule):' OR p_key LIKE 'run-plan:%' AND p_type IS DISTINCT FROM 'pawl.plan' THEN
            format('the %s begins with ''%s:'', which pawl keeps for its own jobs; choose another prefix', p_what, split_part(p_key, ':', 1)) END
$$;
