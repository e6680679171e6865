-- alert_notices_take: deliveries to a target that are due and that nobody has; the caller has them for the time of the lease.
-- params: p_target text, p_lease_ms bigint, p_limit integer
-- returns: one row each, by number
-- tables: alert_notice (updated), alert_change (read)
-- locks: the rows it gives; rows that somebody else is taking are passed over
CREATE OR REPLACE FUNCTION pawl.alert_notices_take(p_target text, p_lease_ms bigint, p_limit integer) RETURNS TABLE (
    notice bigint, token bigint, attempts integer, number bigint, id uuid, rule text, event smallint, value bigint, at_ms bigint,
    detail text, now_ms bigint)
LANGUAGE plpgsql VOLATILE SECURITY DEFINER ROWS 8
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    v_now bigint := pawl.now_ms();
    v_token bigint := 0;
BEGIN
    IF EXISTS (SELECT 1 FROM pawl.alert_notice n WHERE n.state = 1 AND n.target = p_target AND n.due_ms <= v_now) THEN
        v_token := pawl.token_next();
        RETURN QUERY
        WITH due AS MATERIALIZED (
            SELECT n.number FROM pawl.alert_notice n WHERE n.state = 1 AND n.target = p_target AND n.due_ms <= v_now
             ORDER BY n.number LIMIT p_limit FOR UPDATE SKIP LOCKED),
        mine AS (
            UPDATE pawl.alert_notice n SET token = v_token, due_ms = v_now + p_lease_ms, attempts = n.attempts + 1
              FROM due WHERE n.number = due.number RETURNING n.number, n.attempts, n.change)
        SELECT m.number, v_token, m.attempts, c.number, c.id, c.rule, c.event, c.value, c.at_ms, c.detail, v_now
          FROM mine m JOIN pawl.alert_change c ON c.id = m.change ORDER BY m.number;
    END IF;
END
$$;
