-- finish: ends one claimed message inside the caller's own transaction, together with what the caller writes there.
-- params: p_kind smallint, p_token bigint and p_id uuid as the message was granted
-- returns: nothing
-- raises: PW004 the grant is over (the transaction is aborted with it), PW003 an earlier message of its stream is unfinished
-- tables: those of complete
-- locks: the claim parts of the token
CREATE OR REPLACE FUNCTION pawl.finish(p_kind smallint, p_token bigint, p_id uuid) RETURNS void
LANGUAGE plpgsql VOLATILE SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    v_instance uuid;
    v_answer smallint;
BEGIN
    IF num_nulls(p_kind, p_token, p_id) > 0 THEN
        PERFORM pawl.refuse_null(ARRAY['p_kind', 'p_token', 'p_id'],
            ARRAY[p_kind IS NULL, p_token IS NULL, p_id IS NULL]);
    END IF;
    SELECT c.instance INTO v_instance FROM pawl.claim c WHERE c.token = p_token LIMIT 1;
    IF v_instance IS NOT NULL THEN
        v_answer := (pawl.complete(v_instance, p_kind, ARRAY[p_token], ARRAY[p_id],
                                   ARRAY[CASE WHEN p_kind = 1 THEN 2 ELSE 4 END], false))[1];
    END IF;
    IF v_answer = 4 THEN
        RAISE EXCEPTION USING ERRCODE = 'PW003',
            MESSAGE = 'an earlier message of the stream is not finished yet: roll back and try again later';
    ELSIF v_answer IS DISTINCT FROM 1 THEN
        RAISE EXCEPTION USING ERRCODE = 'PW004',
            MESSAGE = format('token %s no longer holds message %s: roll back and drop it', p_token, p_id);
    END IF;
END
$$;
