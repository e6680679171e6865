-- alert_rule_put: makes or changes a rule; its state stays.
-- params: the columns; p_version: the expected one, 0 = any; p_rules_max
-- returns: the new version
-- raises: PW003 the rule has another version, or there are too many rules
-- tables: alert_rule (inserted, updated), alert_turn (locked)
-- locks: the turn, so that no evaluation sees half of it
CREATE OR REPLACE FUNCTION pawl.alert_rule_put(
    p_name text, p_metric text, p_summary text, p_targets text, p_side smallint, p_severity smallint, p_threshold bigint,
    p_clear_threshold bigint, p_for_ms bigint, p_clear_ms bigint, p_enabled boolean, p_version bigint, p_rules_max integer) RETURNS bigint
LANGUAGE plpgsql VOLATILE SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    v_version bigint;
BEGIN
    PERFORM 1 FROM pawl.alert_turn t FOR UPDATE;
    SELECT r.version INTO v_version FROM pawl.alert_rule r WHERE r.name = p_name FOR UPDATE;
    IF p_version <> 0 AND p_version IS DISTINCT FROM v_version THEN
        RAISE EXCEPTION USING ERRCODE = 'PW003', MESSAGE = 'the rule has another version; read it again';
    END IF;
    IF v_version IS NULL AND (SELECT count(*) FROM pawl.alert_rule) >= p_rules_max THEN
        RAISE EXCEPTION USING ERRCODE = 'PW003', MESSAGE = 'there are as many rules as there may be; remove one';
    END IF;
    v_version := coalesce(v_version, 0) + 1;
    INSERT INTO pawl.alert_rule AS r (name, metric, summary, targets, side, severity, threshold, clear_threshold, for_ms, clear_ms,
                                      enabled, version, updated_ms)
    VALUES (p_name, p_metric, p_summary, p_targets, p_side, p_severity, p_threshold, p_clear_threshold, p_for_ms, p_clear_ms,
            p_enabled, v_version, pawl.now_ms())
        ON CONFLICT (name) DO UPDATE SET metric = excluded.metric, summary = excluded.summary, targets = excluded.targets,
           side = excluded.side, severity = excluded.severity, threshold = excluded.threshold,
           clear_threshold = excluded.clear_threshold, for_ms = excluded.for_ms, clear_ms = excluded.clear_ms,
           enabled = excluded.enabled, version = excluded.version, updated_ms = excluded.updated_ms;
    RETURN v_version;
END
$$;
