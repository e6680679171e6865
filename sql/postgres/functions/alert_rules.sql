-- alert_rules: the rules by name, or one of them.
-- params: p_name text (NULL: all)
-- returns: one row each, and the time
-- tables: alert_rule (read)
-- locks: none
CREATE OR REPLACE FUNCTION pawl.alert_rules(p_name text) RETURNS TABLE (
    name text, metric text, summary text, targets text, side smallint, severity smallint, threshold bigint, clear_threshold bigint,
    for_ms bigint, clear_ms bigint, enabled boolean, version bigint, updated_ms bigint, phase smallint, since_ms bigint, turning_ms bigint,
    told boolean, value bigint, silence_until_ms bigint, silence_reason text, silence_by text, now_ms bigint)
LANGUAGE plpgsql VOLATILE SECURITY DEFINER ROWS 20
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    v_now bigint := pawl.now_ms();
BEGIN
    RETURN QUERY SELECT r.name, r.metric, r.summary, r.targets, r.side, r.severity, r.threshold, r.clear_threshold, r.for_ms, r.clear_ms, r.enabled,
               r.version, r.updated_ms, r.phase, r.since_ms, r.turning_ms, r.told, r.value, r.silence_until_ms, r.silence_reason, r.silence_by, v_now
          FROM pawl.alert_rule r WHERE p_name IS NULL OR r.name = p_name ORDER BY r.name;
END
$$;
