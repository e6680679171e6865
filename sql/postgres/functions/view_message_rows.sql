-- view_message_rows: the messages at the places that view_messages found; one that has moved since is left out.
-- params: p_places, p_kinds, p_lanes, p_seqs: of each
-- returns: message_row, in the order of seq; payload, headers and error only for who may see payloads; each LIMIT makes the planner look up one row instead of joining whole tables;
--          whatever is asked the plan is the same, and making it takes five times as long as running it
-- tables: those of message_all (read)
-- locks: none
CREATE OR REPLACE FUNCTION pawl.view_message_rows(p_places integer[], p_kinds smallint[], p_lanes integer[], p_seqs bigint[])
    RETURNS SETOF pawl.message_row
LANGUAGE plpgsql STABLE SECURITY DEFINER ROWS 100
SET search_path = pg_catalog, pg_temp
SET enable_seqscan = off SET jit = off SET plan_cache_mode = force_generic_plan
AS $$
#variable_conflict use_column
DECLARE
    v_shown boolean := pawl.payloads_shown();
    v_row pawl.message_row;
BEGIN
    FOR v_row IN SELECT r.* FROM (
        SELECT v.* FROM unnest(p_places, p_kinds, p_lanes, p_seqs) AS u(place, kind, lane, seq)
         CROSS JOIN LATERAL (SELECT v.* FROM pawl.message_all v WHERE v.place = 1 AND v.kind = u.kind AND v.lane = u.lane AND v.seq = u.seq LIMIT 1) v
         WHERE u.place = 1
        UNION ALL
        SELECT v.* FROM unnest(p_places, p_kinds, p_lanes, p_seqs) AS u(place, kind, lane, seq)
         CROSS JOIN LATERAL (SELECT v.* FROM pawl.message_all v WHERE v.place = 2 AND v.kind = u.kind AND v.seq = u.seq LIMIT 1) v
         WHERE u.place = 2
        UNION ALL
        SELECT v.* FROM unnest(p_places, p_kinds, p_lanes, p_seqs) AS u(place, kind, lane, seq)
         CROSS JOIN LATERAL (SELECT v.* FROM pawl.message_all v WHERE v.place = 3 AND v.kind = u.kind AND v.seq = u.seq LIMIT 1) v
         WHERE u.place = 3
        UNION ALL
        SELECT v.* FROM unnest(p_places, p_kinds, p_lanes, p_seqs) AS u(place, kind, lane, seq)
         CROSS JOIN LATERAL (SELECT v.* FROM pawl.message_all v WHERE v.place = 4 AND v.kind = u.kind AND v.seq = u.seq LIMIT 1) v
         WHERE u.place = 4) r
     ORDER BY r.seq LOOP
        IF NOT v_shown THEN
            v_row.payload := NULL;
            v_row.headers := NULL;
            v_row.error := NULL;
        END IF;
        RETURN NEXT v_row;
    END LOOP;
END
$$;
