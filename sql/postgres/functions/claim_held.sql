-- claim_held: picks what is aside and due on one lane.
-- params: p_instance, p_kind, p_lane (locked by the caller), p_left: how many are wanted, p_flight_keys: streams that have
--         something in flight, p_now
-- returns: suspect: a message that is to run alone, or NULL; seqs: the others, ascending
-- tables: hold, aside, claim (read)
-- locks: none: the lane's lock keeps everybody away but those who hold a claim, and their streams are left out
CREATE OR REPLACE FUNCTION pawl.claim_held(
    p_instance uuid, p_kind smallint, p_lane integer, p_left integer, p_flight_keys text[], p_now bigint,
    OUT suspect bigint, OUT seqs bigint[])
LANGUAGE plpgsql VOLATILE
SET search_path = pg_catalog, pg_temp
AS $$
#variable_conflict use_column
DECLARE
    v_left integer := p_left;
    v_alone boolean;
    v_first boolean;
    v_hold record;
    v_row record;
BEGIN
    seqs := '{}';
    v_alone := NOT EXISTS (SELECT 1 FROM pawl.claim c WHERE c.instance = p_instance AND c.state = 1 AND c.suspect);
    FOR v_hold IN
        SELECT h.key FROM pawl.hold h
         CROSS JOIN LATERAL (SELECT a.seq FROM pawl.aside a
                              WHERE a.kind = p_kind AND a.key = h.key ORDER BY a.seq LIMIT 1) f
         WHERE h.kind = p_kind AND h.lane = p_lane AND h.state = 1 AND h.due_ms <= p_now
           AND h.key <> ALL (p_flight_keys)
         ORDER BY h.due_ms, f.seq LOOP
        EXIT WHEN v_left = 0;
        v_first := true;
        FOR v_row IN SELECT a.seq, a.deaths, a.scheduled_ms FROM pawl.aside a
                      WHERE a.kind = p_kind AND a.key = v_hold.key ORDER BY a.seq LIMIT v_left LOOP
            EXIT WHEN v_row.scheduled_ms > p_now;
            IF v_row.deaths > 0 THEN
                -- It may have killed its worker: alone, and one at a time per instance.
                IF v_first AND v_alone THEN
                    suspect := v_row.seq;
                    v_alone := false;
                    v_left := v_left - 1;
                END IF;
                EXIT;
            END IF;
            seqs := seqs || v_row.seq;
            v_left := v_left - 1;
            v_first := false;
        END LOOP;
    END LOOP;
    seqs := ARRAY(SELECT s.seq FROM unnest(seqs) AS s(seq) ORDER BY s.seq);
END
$$;
