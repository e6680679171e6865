-- perspective_switch: makes the new version of a perspective the live one when it has applied everything.
-- params: p_name, p_version, p_wait_ms: how long appends may be held back; p_digest_old, p_digest_new: statements that give one text
-- returns: answer 1 applied, 2 it is live already, 4 behind or different; behind: streams; both digests
-- raises: PW002 there is no such version; PW005 an append stays open
-- tables: those of switch_begin and switch_end, and what the digests name
-- locks: those of switch_begin
-- The digests run with the rights and the search_path of the caller.
CREATE OR REPLACE FUNCTION pawl.perspective_switch(
    p_name text, p_version integer, p_wait_ms integer, p_digest_old text, p_digest_new text,
    OUT answer smallint, OUT behind bigint, OUT digest_old text, OUT digest_new text)
LANGUAGE plpgsql VOLATILE
AS $$
DECLARE
    v_begin record;
BEGIN
    SELECT b.answer, b.behind, b.old INTO v_begin FROM pawl.switch_begin(p_name, p_version, p_wait_ms, p_digest_old IS NOT NULL) b;
    answer := v_begin.answer;
    behind := v_begin.behind;
    IF answer <> 1 THEN
        RETURN;
    END IF;
    IF p_digest_old IS NOT NULL AND p_digest_new IS NOT NULL AND v_begin.old IS NOT NULL THEN
        EXECUTE p_digest_old INTO digest_old;
        EXECUTE p_digest_new INTO digest_new;
        IF digest_old IS DISTINCT FROM digest_new THEN
            answer := 4;
            RETURN;
        END IF;
    END IF;
    PERFORM pawl.switch_end(p_name, p_version);
END
$$;
