-- alert_turn_end: writes what an evaluation found, unless a later turn was given or a rule was changed.
-- params: p_token bigint, p_window text, then one array each of the verdicts
-- returns: nothing
-- raises: PW004 a later turn was given; PW003 a rule was changed meanwhile
-- tables: alert_turn, alert_rule (updated), alert_change, alert_notice (old rows deleted)
-- locks: the turn, the rules' rows
CREATE OR REPLACE FUNCTION pawl.alert_turn_end(
    p_token bigint, p_window text, p_rules text[], p_versions bigint[], p_phases smallint[], p_since_ms bigint[], p_turning_ms bigint[],
    p_told smallint[], p_values bigint[], p_keep_ms bigint) RETURNS void
LANGUAGE plpgsql VOLATILE SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    v_count bigint;
BEGIN
    UPDATE pawl.alert_turn t SET window_text = p_window WHERE t.token = p_token;
    IF NOT FOUND THEN
        RAISE EXCEPTION USING ERRCODE = 'PW004', MESSAGE = 'another turn was given meanwhile';
    END IF;
    UPDATE pawl.alert_rule r
       SET phase = v.phase, since_ms = v.since_ms, turning_ms = v.turning_ms, told = v.told = 1, value = v.value
      FROM unnest(p_rules, p_versions, p_phases, p_since_ms, p_turning_ms, p_told, p_values)
           AS v (name, version, phase, since_ms, turning_ms, told, value)
     WHERE r.name = v.name AND r.version = v.version;
    GET DIAGNOSTICS v_count = ROW_COUNT;
    IF v_count <> coalesce(cardinality(p_rules), 0) THEN
        RAISE EXCEPTION USING ERRCODE = 'PW003', MESSAGE = 'a rule was changed while it was evaluated';
    END IF;
    WITH old AS (
        DELETE FROM pawl.alert_change c
         WHERE c.number IN (SELECT o.number FROM pawl.alert_change o WHERE o.at_ms < pawl.now_ms() - p_keep_ms ORDER BY o.number LIMIT 1000)
     RETURNING c.id)
    DELETE FROM pawl.alert_notice n USING old WHERE n.change = old.id;
END
$$;
