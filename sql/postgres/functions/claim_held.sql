-- claim_held: picks what is aside and due on one lane.
-- params: p_instance, p_kind, p_lane (locked by the caller), p_left: how many are wanted, p_first: the call has used up
--         nothing yet, p_flight_keys: streams that have something in flight, p_now
-- returns: suspect: a message that is to run alone, or NULL, and suspect_state of its claim; seqs: the others, ascending;
--          lost: how many of those had been lost before; over: the call ends with this lane
-- tables: hold, aside, claim, instance (read)
-- locks: none: the lane's lock keeps everybody away but those who hold a claim, and their streams are left out
CREATE OR REPLACE FUNCTION pawl.claim_held(
    p_instance uuid, p_kind smallint, p_lane integer, p_left integer, p_first boolean, p_flight_keys text[], p_now bigint,
    OUT suspect bigint, OUT suspect_state smallint, OUT seqs bigint[], OUT lost integer, OUT over boolean)
LANGUAGE plpgsql VOLATILE
SET search_path = pg_catalog, pg_temp
AS $$
#variable_conflict use_column
DECLARE
    c_together CONSTANT integer := 100;
    v_left integer := p_left;
    v_slots boolean; -- it says how many it works on: a suspect may come with other work
    v_any boolean; -- it has something in flight
    v_other boolean; -- of another kind
    v_alone boolean;
    v_lost_left bigint;
    v_first boolean;
    v_hold record;
    v_row record;
BEGIN
    seqs := '{}';
    lost := 0;
    over := false;
    SELECT i.slots > 0, NOT coalesce(bool_or(c.suspect > 0), false), c_together - coalesce(sum(c.lost), 0),
           count(c.token) > 0, coalesce(bool_or(c.kind <> p_kind), false)
      INTO v_slots, v_alone, v_lost_left, v_any, v_other
      FROM pawl.instance i LEFT JOIN pawl.claim c ON c.instance = i.id AND c.state = 1
     WHERE i.id = p_instance GROUP BY i.slots;
    suspect_state := CASE WHEN v_slots THEN 1 ELSE 2 END;
    FOR v_hold IN
        SELECT h.key FROM pawl.hold h
         CROSS JOIN LATERAL (SELECT a.seq FROM pawl.aside a
                              WHERE a.kind = p_kind AND a.key = h.key ORDER BY a.seq LIMIT 1) f
         WHERE h.kind = p_kind AND h.lane = p_lane AND h.state = 1 AND h.due_ms <= p_now
           AND h.key <> ALL (p_flight_keys)
         ORDER BY h.due_ms, f.seq LOOP
        EXIT WHEN v_left = 0;
        v_first := true;
        FOR v_row IN SELECT a.seq, a.losses, a.scheduled_ms FROM pawl.aside a
                      WHERE a.kind = p_kind AND a.key = v_hold.key ORDER BY a.seq LIMIT v_left LOOP
            EXIT WHEN v_row.scheduled_ms > p_now;
            IF v_row.losses >= 2 THEN
                -- It may have killed its worker: alone, and one at a time per instance. Who does not say its slots gets it
                -- as all that it has: a call that meets it beside work of this kind ends there, so that the next one begins
                -- with it; beside work of another kind, which this kind cannot make end, it is passed over.
                IF v_first AND v_alone AND (v_slots OR NOT v_other) THEN
                    IF v_slots OR (p_first AND NOT v_any AND v_left = p_left) THEN
                        suspect := v_row.seq;
                    END IF;
                    v_alone := false;
                    over := NOT v_slots;
                    v_left := CASE WHEN v_slots THEN v_left - 1 ELSE 0 END;
                END IF;
                EXIT;
            END IF;
            IF v_row.losses > 0 THEN
                EXIT WHEN v_lost_left <= 0;
                v_lost_left := v_lost_left - 1;
                lost := lost + 1;
            END IF;
            seqs := seqs || v_row.seq;
            v_left := v_left - 1;
            v_first := false;
        END LOOP;
    END LOOP;
    seqs := ARRAY(SELECT s.seq FROM unnest(seqs) AS s(seq) ORDER BY s.seq);
END
$$;
