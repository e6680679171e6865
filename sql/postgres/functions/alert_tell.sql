-- alert_tell: notes what happened to rules, and what has to be delivered.
-- params: one array each of the changes, then of the deliveries
-- returns: nothing
-- tables: alert_change, alert_notice (inserted)
-- locks: none
CREATE OR REPLACE FUNCTION pawl.alert_tell(
    p_ids uuid[], p_rules text[], p_events smallint[], p_values bigint[], p_details text[], p_changes uuid[], p_targets text[]) RETURNS void
LANGUAGE plpgsql VOLATILE SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    v_now bigint := pawl.now_ms();
BEGIN
    INSERT INTO pawl.alert_change (id, rule, event, value, at_ms, detail)
    SELECT c.id, c.rule, c.event, c.value, v_now, c.detail
      FROM unnest(p_ids, p_rules, p_events, p_values, p_details) WITH ORDINALITY AS c (id, rule, event, value, detail, n) ORDER BY c.n;
    INSERT INTO pawl.alert_notice (change, target, due_ms)
    SELECT d.change, d.target, v_now FROM unnest(p_changes, p_targets) WITH ORDINALITY AS d (change, target, n) ORDER BY d.n;
END
$$;
