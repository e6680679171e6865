-- dead_end: dead letters are driven again or thrown away, and what waited for them goes on.
-- params: p_kinds smallint[], p_seqs bigint[], p_again boolean
-- returns: one answer per reference, in the order of the call
-- tables: dead, aside, hold, tally
-- locks: the lanes concerned in the order (kind, lane), then the holds
CREATE OR REPLACE FUNCTION pawl.dead_end(p_kinds smallint[], p_seqs bigint[], p_again boolean) RETURNS smallint[]
LANGUAGE plpgsql VOLATILE
SET search_path = pg_catalog, pg_temp
SET enable_seqscan = off SET jit = off
AS $$
DECLARE
    v_answers smallint[] := array_fill(6::smallint, ARRAY[coalesce(cardinality(p_seqs), 0)]);
    v_now bigint := pawl.now_ms();
    v_ref record;
    v_dead record;
    v_waited boolean;
    v_parked bigint[];
    v_moved integer;
BEGIN
    -- The lane's lock keeps claims away from the streams that change.
    PERFORM 1 FROM pawl.lane l
      WHERE EXISTS (SELECT 1 FROM unnest(p_kinds, p_seqs) AS u(kind, seq)
                      JOIN pawl.dead d ON d.kind = u.kind AND d.seq = u.seq
                     WHERE d.kind = l.kind AND d.lane = l.lane)
      ORDER BY l.kind, l.lane FOR UPDATE;
    FOR v_ref IN SELECT u.kind, u.seq, u.n FROM unnest(p_kinds, p_seqs) WITH ORDINALITY AS u(kind, seq, n)
                  ORDER BY u.kind, u.seq, u.n LOOP
        SELECT d.lane, d.stream, d.reason, coalesce(d.stream, chr(1) || d.seq::text) AS key INTO v_dead
          FROM pawl.dead d WHERE d.kind = v_ref.kind AND d.seq = v_ref.seq;
        CONTINUE WHEN NOT FOUND;
        IF v_dead.reason = 4 THEN
            v_answers[v_ref.n] := 4;
            CONTINUE;
        END IF;
        SELECT h.state <> 1 AND h.by_seq = v_ref.seq INTO v_waited
          FROM pawl.hold h WHERE h.kind = v_ref.kind AND h.key = v_dead.key FOR UPDATE;
        v_waited := coalesce(v_waited, false);
        v_parked := CASE WHEN v_waited THEN ARRAY(SELECT d.seq FROM pawl.dead d
                                                   WHERE d.kind = v_ref.kind AND d.stream = v_dead.stream AND d.reason = 4
                                                   ORDER BY d.seq)
                         ELSE '{}' END;
        v_moved := pawl.dead_to_aside(v_ref.kind, v_parked, false, v_now);
        IF p_again THEN
            v_moved := v_moved + pawl.dead_to_aside(v_ref.kind, ARRAY[v_ref.seq],
                                                    NOT v_waited AND v_dead.stream IS NOT NULL, v_now);
        ELSE
            DELETE FROM pawl.dead d WHERE d.kind = v_ref.kind AND d.seq = v_ref.seq;
        END IF;
        IF v_waited THEN
            UPDATE pawl.hold h SET state = 1, by_seq = NULL WHERE h.kind = v_ref.kind AND h.key = v_dead.key;
        END IF;
        PERFORM pawl.hold_settle(v_ref.kind, v_dead.lane, ARRAY[v_dead.key]);
        INSERT INTO pawl.tally (kind, aside, dead, redriven, discarded)
        VALUES (v_ref.kind, v_moved, -v_moved - (NOT p_again)::integer, v_moved, (NOT p_again)::integer);
        v_answers[v_ref.n] := 1;
    END LOOP;
    RETURN v_answers;
END
$$;
