-- run_pages_put: the page jobs of active partitions that have none.
-- params: p_run pawl.run; p_parts integer[]: of these only (NULL: of all); p_now bigint
-- returns: nothing; a partition that is paused gets none
-- tables: run_partition (updated), job, job_unique, job_tally (inserted)
-- locks: the partitions are locked by the caller; unique keys
CREATE OR REPLACE FUNCTION pawl.run_pages_put(p_run pawl.run, p_parts integer[], p_now bigint) RETURNS void
LANGUAGE plpgsql VOLATILE
SET search_path = pg_catalog, pg_temp
SET jit = off
AS $$
BEGIN
    WITH src AS MATERIALIZED (
        SELECT p.part, nextval('pawl.job_seq') AS id,
               'run:' || p.run || ':' || p.part || ':' || p.page || CASE WHEN p.generation > 0 THEN ':' || p.generation ELSE '' END AS key,
               format('{"run":%s,"part":%s,"generation":%s,"page":%s,"offset":%s,"limit":%s,"partition":%s,"cursor":%s}', p.run, p.part,
                      p.generation, p.page, p.next_offset, p_run.page_size, to_json(p.name), coalesce(p.cursor, 'null'))::json AS payload
          FROM pawl.run_partition p
         WHERE p.run = p_run.id AND p.state = 1 AND NOT p.paused AND p.job = 0 AND (p_parts IS NULL OR p.part = ANY (p_parts))
         ORDER BY p.part),
    keys AS (
        INSERT INTO pawl.job_unique (key, job) SELECT s.key, s.id FROM src s ORDER BY s.part),
    jobs AS (
        INSERT INTO pawl.job (id, ord, due_ms, put_ms, priority, max_attempts, flags, state, special, queue, type, timeout_ms, key,
                              ready_key, unique_key, traceparent, agent, payload)
        SELECT s.id, p_now - p_run.priority * 60000::bigint, p_now, p_now, p_run.priority, p_run.max_attempts, p_run.flags | 4, 1, true,
               p_run.queue, p_run.type, p_run.deadline_ms, CASE WHEN p_run.paced THEN 'run:' || p_run.id END,
               CASE WHEN p_run.paced THEN 'run:' || p_run.id END, s.key, p_run.traceparent, p_run.agent, s.payload
          FROM src s ORDER BY s.part),
    counted AS (
        INSERT INTO pawl.job_tally (queue, put, ready) SELECT p_run.queue, count(*), count(*) FROM src s HAVING count(*) > 0)
    UPDATE pawl.run_partition p SET job = s.id FROM src s WHERE p.run = p_run.id AND p.part = s.part;
    PERFORM pawl.put_wake(4::smallint, p_now);
END
$$;
