-- alert_rule_remove: removes a rule; its history stays.
-- params: p_name text
-- returns: nothing
-- raises: PW002 there is none
-- tables: alert_rule (deleted)
-- locks: the rule's row
CREATE OR REPLACE FUNCTION pawl.alert_rule_remove(p_name text) RETURNS void
LANGUAGE plpgsql VOLATILE SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    DELETE FROM pawl.alert_rule r WHERE r.name = p_name;
    IF NOT FOUND THEN
        RAISE EXCEPTION USING ERRCODE = 'PW002', MESSAGE = 'there is no rule ' || p_name;
    END IF;
END
$$;
