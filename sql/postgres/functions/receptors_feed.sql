-- receptors_feed: puts a message for each event behind the positions of receptors that matches them, and moves the positions.
-- params: p_names text[]: those that the caller runs; p_limit: events per receptor
-- returns: how many of the names are registered, events looked at, messages put, whether there is more
-- tables: event_receptor (updated), pattern, position, event, stamper (read); those of put
-- locks: the receptors' rows: one caller at a time feeds a receptor, who finds one taken passes it over
-- Positions have no gaps and none is given behind the last (docs/decisions/0004-positions.md), so nothing is skipped; the
-- messages and the position are one transaction, so nothing is put twice.
CREATE OR REPLACE FUNCTION pawl.receptors_feed(
    p_names text[], p_limit integer, OUT known integer, OUT events bigint, OUT fed bigint, OUT more boolean)
LANGUAGE plpgsql VOLATILE SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
SET enable_seqscan = off SET jit = off
AS $$
DECLARE
    v_head bigint;
    v_receptor record;
    v_read record;
    v_put bigint;
BEGIN
    events := 0;
    fed := 0;
    more := false;
    SELECT s.position INTO v_head FROM pawl.stamper s;
    SELECT count(*) INTO known FROM pawl.event_receptor r WHERE r.name = ANY (p_names);
    FOR v_receptor IN SELECT r.name, r.position FROM pawl.event_receptor r
                       WHERE r.name = ANY (p_names) AND r.position < v_head
                       ORDER BY array_position(p_names, r.name) FOR UPDATE SKIP LOCKED LOOP
        SELECT count(*) AS events,
               array_agg(pawl.receptor_message_id(e.id, v_receptor.name) ORDER BY e.position) FILTER (WHERE e.wanted) AS ids,
               array_agg('event:' || v_receptor.name) FILTER (WHERE e.wanted) AS topics,
               array_agg(e.type ORDER BY e.position) FILTER (WHERE e.wanted) AS types,
               array_agg(e.payload ORDER BY e.position) FILTER (WHERE e.wanted) AS payloads,
               array_agg(('{"stream":' || to_json(e.stream) || ',"version":' || e.version
                          || CASE WHEN octet_length(e.metadata::text) <= 60000 THEN ',"metadata":' || e.metadata ELSE '' END
                          || '}')::json ORDER BY e.position) FILTER (WHERE e.wanted) AS headers,
               array_agg(e.correlation_id ORDER BY e.position) FILTER (WHERE e.wanted) AS correlation_ids,
               array_agg(e.id ORDER BY e.position) FILTER (WHERE e.wanted) AS causation_ids,
               array_agg(e.traceparent ORDER BY e.position) FILTER (WHERE e.wanted) AS traceparents
          INTO v_read
          FROM (SELECT a.*, EXISTS (SELECT 1 FROM pawl.pattern t WHERE t.key = 'event:' || v_receptor.name
                                       AND pawl.pattern_matches(t.regex, a.type)) AS wanted
                  FROM pawl.events_all(v_receptor.position + 1, false, 0, p_limit) a) e;
        v_put := 0;
        IF v_read.ids IS NOT NULL THEN
            SELECT count(*) FILTER (WHERE p.answer = 1) INTO v_put
              FROM unnest(pawl.put(2::smallint, v_read.ids, NULL, v_read.topics, v_read.types, v_read.payloads, v_read.headers,
                                   v_read.correlation_ids, v_read.causation_ids, v_read.traceparents,
                                   'event:' || v_receptor.name, NULL, NULL)) AS p(answer);
        END IF;
        UPDATE pawl.event_receptor r SET position = r.position + v_read.events, fed = r.fed + v_put WHERE r.name = v_receptor.name;
        events := events + v_read.events;
        fed := fed + v_put;
        more := more OR v_receptor.position + v_read.events < v_head;
    END LOOP;
END
$$;
