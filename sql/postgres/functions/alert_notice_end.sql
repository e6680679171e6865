-- alert_notice_end: what became of a delivery, from who has it.
-- params: p_number bigint, p_token bigint, p_state smallint (1 again later, 2 delivered, 3 given up), p_delay_ms bigint, p_error text
-- returns: nothing
-- raises: PW004 somebody else has it
-- tables: alert_notice (updated)
-- locks: its row
CREATE OR REPLACE FUNCTION pawl.alert_notice_end(p_number bigint, p_token bigint, p_state smallint, p_delay_ms bigint, p_error text)
RETURNS void
LANGUAGE plpgsql VOLATILE SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    UPDATE pawl.alert_notice n SET state = p_state, due_ms = pawl.now_ms() + p_delay_ms, error = p_error, token = 0
     WHERE n.number = p_number AND n.token = p_token AND n.state = 1;
    IF NOT FOUND THEN
        RAISE EXCEPTION USING ERRCODE = 'PW004', MESSAGE = 'the delivery is no longer ours';
    END IF;
END
$$;
