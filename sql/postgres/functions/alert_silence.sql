-- alert_silence: a rule is silent until then; 0 takes it back.
-- params: p_name text, p_until_ms bigint, p_reason text, p_actor text
-- returns: nothing
-- raises: PW002 there is no such rule
-- tables: alert_rule (updated)
-- locks: the rule's row
CREATE OR REPLACE FUNCTION pawl.alert_silence(p_name text, p_until_ms bigint, p_reason text, p_actor text) RETURNS void
LANGUAGE plpgsql VOLATILE SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    UPDATE pawl.alert_rule r SET silence_until_ms = p_until_ms, silence_reason = p_reason, silence_by = p_actor WHERE r.name = p_name;
    IF NOT FOUND THEN
        RAISE EXCEPTION USING ERRCODE = 'PW002', MESSAGE = 'there is no rule ' || p_name;
    END IF;
END
$$;
