-- duty_take: takes or renews a duty that exactly one live instance has at a time.
-- params: p_name text, p_instance uuid, p_lease_ms bigint
-- returns: held (by the caller), token (0 when not held), instance (who has it), now_ms, lease_until_ms
-- raises: PW004 the instance is not active
-- tables: duty (inserted, updated), instance (read)
-- locks: the duty's row
CREATE OR REPLACE FUNCTION pawl.duty_take(
    p_name text, p_instance uuid, p_lease_ms bigint, OUT held boolean, OUT token bigint, OUT instance uuid,
    OUT now_ms bigint, OUT lease_until_ms bigint)
LANGUAGE plpgsql VOLATILE SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    v_duty pawl.duty%ROWTYPE;
BEGIN
    now_ms := pawl.now_ms();
    IF NOT EXISTS (SELECT 1 FROM pawl.instance i WHERE i.id = p_instance AND i.state = 1) THEN
        RAISE EXCEPTION USING ERRCODE = 'PW004', MESSAGE = 'the instance is not active';
    END IF;
    INSERT INTO pawl.duty (name) VALUES (p_name) ON CONFLICT (name) DO NOTHING;
    SELECT d.* INTO v_duty FROM pawl.duty d WHERE d.name = p_name FOR UPDATE;
    held := v_duty.instance = p_instance AND v_duty.lease_until_ms > now_ms;
    IF held IS NOT TRUE THEN
        held := v_duty.lease_until_ms <= now_ms
            OR NOT EXISTS (SELECT 1 FROM pawl.instance i WHERE i.id = v_duty.instance AND i.state = 1);
        IF held THEN
            v_duty.token := pawl.token_next();
            v_duty.instance := p_instance;
        END IF;
    END IF;
    IF held THEN
        v_duty.lease_until_ms := now_ms + p_lease_ms;
        UPDATE pawl.duty d SET instance = v_duty.instance, token = v_duty.token, lease_until_ms = v_duty.lease_until_ms
         WHERE d.name = p_name;
    END IF;
    token := CASE WHEN held THEN v_duty.token ELSE 0 END;
    instance := v_duty.instance;
    lease_until_ms := v_duty.lease_until_ms;
END
$$;
