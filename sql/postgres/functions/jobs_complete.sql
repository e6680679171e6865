-- jobs_complete: completes the jobs of a report together: their rows go, and what they leave behind is written at once.
-- params: those of jobs_report; p_gone, p_gone_tokens bigint[]: what is completed already; p_block bigint, p_now bigint. The
--         caller has locked the claims.
-- returns: places of the items that were completed, and of those and of p_gone where they are named first; ids, tokens, keys (one
--          per lease) of the completed jobs; entries of their audit rows
-- tables: job, job_unique, job_step (deleted), task_run, spine, job_tally (inserted), those of run_job_ended for jobs of runs
-- locks: the jobs by id, their unique keys, those of run_job_ended
CREATE OR REPLACE FUNCTION pawl.jobs_complete(
    p_instance uuid, p_tokens bigint[], p_ids bigint[], p_outcomes smallint[], p_durations bigint[], p_outputs json[],
    p_steps json[], p_ins text[], p_outs text[], p_gone bigint[], p_gone_tokens bigint[], p_block bigint, p_now bigint,
    OUT places integer[], OUT ids bigint[], OUT tokens bigint[], OUT keys text[], OUT entries bytea)
LANGUAGE plpgsql VOLATILE
SET search_path = pg_catalog, pg_temp
SET enable_seqscan = off SET jit = off SET plan_cache_mode = force_generic_plan
AS $$
DECLARE
    v_runs pawl.job[];
    v_job pawl.job;
BEGIN
    WITH item AS MATERIALIZED (
        SELECT DISTINCT ON (u.id, u.token) u.*
          FROM unnest(p_ids, p_tokens, p_outcomes, p_durations, p_outputs, p_steps, p_ins, p_outs)
               WITH ORDINALITY AS u(id, token, outcome, duration, output, steps, input_hash, output_hash, place)
         WHERE EXISTS (SELECT 1 FROM pawl.job_claim c WHERE c.token = u.token AND c.instance = p_instance AND c.state = 1)
         ORDER BY u.id, u.token, u.place),
    gone AS (
        DELETE FROM pawl.job j USING item i
         WHERE j.id = i.id AND j.token = i.token AND j.token > 0 AND coalesce(i.outcome, 1) = 1
        RETURNING j.id, j.token, j.queue, j.type, j.task, j.key, j.unique_key, j.flags, j.attempts, i.place,
                  coalesce(i.duration, 0) AS duration, i.output, i.steps, i.input_hash, i.output_hash,
                  CASE WHEN j.flags & 4 <> 0 THEN j END AS whole),
    run AS MATERIALIZED (
        SELECT g.*, nextval('pawl.run_seq') AS run_id
          FROM (SELECT a.*, p_now + coalesce(nullif(t.retention_ms, 0), 2592000000) AS expires
                  FROM gone a LEFT JOIN pawl.task t ON t.name = a.task WHERE a.flags & 1 <> 0 ORDER BY a.place) g),
    hashed AS MATERIALIZED (
        SELECT r.*, row_number() OVER (ORDER BY r.place) - 1 AS row,
               pawl.run_hash(r.run_id, r.id, r.task, r.type, r.queue, r.attempts, p_instance, r.token, p_now - r.duration, p_now,
                             1::smallint, r.input_hash, r.output_hash, r.output, NULL, r.steps, r.expires) AS hash
          FROM run r),
    recorded AS (
        INSERT INTO pawl.task_run (id, job, attempt, outcome, place, token, started_ms, finished_ms, expires_ms, block, instance,
                                   queue, type, task, input_hash, output_hash, output, steps, hash)
        SELECT h.run_id, h.id, h.attempts, 1, h.row, h.token, p_now - h.duration, p_now, h.expires, p_block, p_instance, h.queue,
               h.type, h.task, h.input_hash, h.output_hash, h.output, h.steps, h.hash
          FROM hashed h),
    told AS (
        INSERT INTO pawl.spine (job, event, attempt, made_ms, instance, task, type, payload)
        SELECT g.id, 1, g.attempts, p_now, p_instance, g.task, g.type, g.output FROM gone g WHERE g.flags & 2 <> 0
         ORDER BY g.place),
    freed AS (
        DELETE FROM pawl.job_unique u USING gone g WHERE u.key = g.unique_key AND u.job = g.id),
    cleared AS (
        DELETE FROM pawl.job_step s USING gone g WHERE s.job = g.id),
    counted AS (
        INSERT INTO pawl.job_tally (queue, running, done) SELECT g.queue, -count(*), count(*) FROM gone g GROUP BY g.queue)
    SELECT coalesce(array_agg(g.place::integer), '{}'), coalesce(array_agg(g.id), '{}'), coalesce(array_agg(g.token), '{}'),
           coalesce(array_agg(g.key) FILTER (WHERE g.key IS NOT NULL), '{}'),
           coalesce((SELECT string_agg(h.hash || int8send(h.expires), '' ORDER BY h.row) FROM hashed h), ''),
           array_agg(g.whole ORDER BY g.place) FILTER (WHERE g.flags & 4 <> 0)
      INTO places, ids, tokens, keys, entries, v_runs
      FROM gone g;
    IF v_runs IS NOT NULL THEN
        FOREACH v_job IN ARRAY v_runs LOOP
            PERFORM pawl.run_job_ended(v_job, 1::smallint, NULL, p_now);
        END LOOP;
    END IF;
    IF cardinality(p_gone) > 0 THEN
        places := places || ARRAY(
            SELECT DISTINCT ON (u.id, u.token) u.place::integer
              FROM unnest(p_ids, p_tokens) WITH ORDINALITY AS u(id, token, place)
              JOIN unnest(p_gone, p_gone_tokens) AS g(id, token) ON g.id = u.id AND g.token = u.token
             ORDER BY u.id, u.token, u.place);
    END IF;
END
$$;
