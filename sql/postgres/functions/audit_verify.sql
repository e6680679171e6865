-- audit_verify: recomputes every hash of the audit and names the first thing that does not fit.
-- params: p_expect text: the hash of an anchor in hex that was kept elsewhere; NULL: none
-- returns: how many chains, blocks, anchors, rows; removed: rows that retention took; fault NULL when all is sound
-- tables: audit_chain, audit_block, audit_anchor, audit_anchor_head, task_run (read)
-- locks: none
CREATE OR REPLACE FUNCTION pawl.audit_verify(
    p_expect text, OUT chains bigint, OUT blocks bigint, OUT anchors bigint, OUT rows bigint, OUT removed bigint, OUT fault text)
LANGUAGE plpgsql STABLE SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    v_now bigint := pawl.now_ms();
    v_zero CONSTANT bytea := decode(repeat('00', 32), 'hex');
BEGIN
    SELECT count(*) INTO chains FROM pawl.audit_chain;
    SELECT count(*), coalesce(sum(octet_length(b.entries) / 40), 0) INTO blocks, removed FROM pawl.audit_block b;
    SELECT count(*) INTO anchors FROM pawl.audit_anchor;
    SELECT count(*) INTO rows FROM pawl.task_run;
    removed := removed - rows;
    SELECT coalesce(
        (SELECT format('task_run %s was changed', r.id) FROM pawl.task_run r
          WHERE r.hash <> pawl.run_hash(r.id, r.job, r.task, r.type, r.queue, r.attempt, r.instance, r.token, r.started_ms,
                                        r.finished_ms, r.outcome, r.input_hash, r.output_hash, r.output, r.error, r.steps,
                                        r.expires_ms)
          ORDER BY r.id LIMIT 1),
        (SELECT format('task_run %s is not in its block', r.id)
           FROM pawl.task_run r LEFT JOIN pawl.audit_block b ON b.id = r.block
          WHERE b.id IS NULL OR r.place < 0 OR substr(b.entries, r.place * 40 + 1, 40) <> r.hash || int8send(r.expires_ms)
          ORDER BY r.id LIMIT 1),
        (SELECT format('block %s of chain %s was changed', b.number, b.chain) FROM pawl.audit_block b
          WHERE b.hash <> pawl.audit_block_hash(b.previous, b.chain, b.number, b.id, b.made_ms, b.entries)
             OR octet_length(b.entries) <> b.rows * 40
          ORDER BY b.chain, b.number LIMIT 1),
        (SELECT format('block %s of chain %s does not follow the one before', b.number, b.chain)
           FROM (SELECT o.chain, o.number, o.previous, lag(o.hash) OVER w AS before, lag(o.number) OVER w AS number_before
                   FROM pawl.audit_block o WINDOW w AS (PARTITION BY o.chain ORDER BY o.number)) b
          WHERE b.previous <> coalesce(b.before, v_zero) OR b.number <> coalesce(b.number_before, 0) + 1
          ORDER BY b.chain, b.number LIMIT 1),
        (SELECT format('the last block of chain %s is missing or was changed', coalesce(c.chain, b.chain))
           FROM (SELECT DISTINCT ON (o.chain) o.chain, o.number, o.hash FROM pawl.audit_block o
                  ORDER BY o.chain, o.number DESC) b FULL JOIN pawl.audit_chain c ON c.chain = b.chain
          WHERE (b.number, b.hash) IS DISTINCT FROM (c.number, c.hash) ORDER BY 1 LIMIT 1),
        (SELECT format('an execution was removed before its time: place %s of block %s of chain %s', m.place, m.number, m.chain)
           FROM (SELECT p.place, b.number, b.chain
                   FROM pawl.audit_block b CROSS JOIN LATERAL generate_series(0, b.rows - 1) AS p(place)
                   LEFT JOIN pawl.task_run r ON r.block = b.id AND r.place = p.place
                  WHERE r.id IS NULL
                    AND ('x' || encode(substr(b.entries, p.place * 40 + 33, 8), 'hex'))::bit(64)::bigint >= v_now) m
          ORDER BY m.chain, m.number, m.place LIMIT 1),
        pawl.audit_verify_anchors(p_expect)) INTO fault;
END
$$;
