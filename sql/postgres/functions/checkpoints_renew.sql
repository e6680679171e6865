-- checkpoints_renew: extends the leases of granted checkpoints.
-- params: p_instance: to whom they were granted; p_streams, p_keys, p_tokens: one member per checkpoint; p_lease_ms
-- returns: one answer each: 1 applied, 3 stale (also when the instance is evicted and the row was locked at that time)
-- tables: checkpoint (updated), instance (read)
-- locks: the checkpoints, in the order of their keys
CREATE OR REPLACE FUNCTION pawl.checkpoints_renew(
    p_instance uuid, p_streams text[], p_keys text[], p_tokens bigint[], p_lease_ms bigint) RETURNS smallint[]
LANGUAGE plpgsql VOLATILE SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
SET enable_seqscan = off SET jit = off
AS $$
DECLARE
    v_until bigint := pawl.now_ms() + p_lease_ms;
    v_answers smallint[];
BEGIN
    PERFORM 1 FROM pawl.checkpoint c
      JOIN (SELECT DISTINCT u.stream, u.key FROM unnest(p_streams, p_keys) AS u(stream, key)) d
        ON c.stream = d.stream AND c.perspective = d.key
     ORDER BY c.stream, c.perspective FOR UPDATE OF c;
    WITH renewed AS (
        UPDATE pawl.checkpoint c SET lease_until_ms = v_until, due_ms = v_until
          FROM (SELECT DISTINCT u.stream, u.key, u.token FROM unnest(p_streams, p_keys, p_tokens) AS u(stream, key, token)) d
         WHERE c.stream = d.stream AND c.perspective = d.key AND c.token = d.token AND c.status = 1 AND c.instance = p_instance
           AND EXISTS (SELECT 1 FROM pawl.instance i WHERE i.id = p_instance AND i.state = 1)
        RETURNING c.stream, c.perspective, c.token)
    SELECT array_agg(CASE WHEN r.stream IS NULL THEN 3 ELSE 1 END::smallint ORDER BY u.n) INTO v_answers
      FROM unnest(p_streams, p_keys, p_tokens) WITH ORDINALITY AS u(stream, key, token, n)
      LEFT JOIN renewed r ON r.stream = u.stream AND r.perspective = u.key AND r.token = u.token;
    RETURN coalesce(v_answers, '{}');
END
$$;
