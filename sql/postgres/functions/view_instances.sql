-- view_instances: every instance with its age, lanes and work in flight.
-- returns: one row per instance, by id
-- tables: instance, lane, claim, job_claim (read)
-- locks: none
CREATE OR REPLACE FUNCTION pawl.view_instances() RETURNS TABLE (
    id uuid, service text, host text, metadata json, pid integer, kinds integer, state integer, started_ms bigint,
    beat_ms bigint, lease_until_ms bigint, beat_age_ms bigint, lanes_outbox integer, lanes_inbox integer,
    lanes_perspective integer, claims integer, in_flight integer, processed bigint, jobs integer)
LANGUAGE sql VOLATILE SECURITY DEFINER ROWS 10
SET search_path = pg_catalog, pg_temp
SET jit = off
AS $$
    SELECT i.id, i.service, i.host, i.metadata, i.pid, i.kinds, i.state::integer, i.started_ms, i.beat_ms,
           i.lease_until_ms, k.now_ms - i.beat_ms, coalesce(l.outbox, 0)::integer, coalesce(l.inbox, 0)::integer,
           coalesce(l.perspective, 0)::integer, coalesce(c.claims, 0)::integer, coalesce(c.in_flight, 0)::integer,
           i.processed, coalesce(j.jobs, 0)::integer
      FROM pawl.instance i CROSS JOIN (SELECT pawl.now_ms() AS now_ms OFFSET 0) k
      LEFT JOIN (SELECT x.owner, count(*) FILTER (WHERE x.kind = 1) AS outbox, count(*) FILTER (WHERE x.kind = 2) AS inbox,
                        count(*) FILTER (WHERE x.kind = 3) AS perspective
                   FROM pawl.lane x GROUP BY x.owner) l ON l.owner = i.id
      LEFT JOIN (SELECT x.instance, count(*) AS claims, sum(cardinality(x.seqs)) AS in_flight
                   FROM pawl.claim x WHERE x.state = 1 GROUP BY x.instance) c ON c.instance = i.id
      LEFT JOIN (SELECT x.instance, sum(cardinality(x.ids)) AS jobs
                   FROM pawl.job_claim x WHERE x.state = 1 GROUP BY x.instance) j ON j.instance = i.id
     ORDER BY i.id
$$;
