-- audit_verify: recomputes every hash of the audit and names the first thing that does not fit.
-- returns: how many chains, blocks, rows; removed: rows that retention took; fault NULL when all is sound
-- tables: audit_chain, audit_block, task_run (read)
-- locks: none
CREATE OR REPLACE FUNCTION pawl.audit_verify(
    OUT chains bigint, OUT blocks bigint, OUT rows bigint, OUT removed bigint, OUT fault text)
LANGUAGE plpgsql STABLE SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    SELECT count(*) INTO chains FROM pawl.audit_chain;
    SELECT count(*), coalesce(sum(b.rows), 0) INTO blocks, removed FROM pawl.audit_block b;
    SELECT count(*) INTO rows FROM pawl.task_run;
    removed := removed - rows;
    SELECT coalesce(
        (SELECT format('task_run %s was changed', r.id) FROM pawl.task_run r
          WHERE r.hash <> pawl.run_hash(r.id, r.job, r.task, r.type, r.queue, r.attempt, r.instance, r.token, r.started_ms,
                                        r.finished_ms, r.outcome, r.input_hash, r.output_hash, r.output, r.error, r.steps)
          ORDER BY r.id LIMIT 1),
        (SELECT format('task_run %s is not in its block', r.id)
           FROM pawl.task_run r LEFT JOIN pawl.audit_block b ON b.id = r.block
          WHERE b.id IS NULL OR substr(b.hashes, r.place * 32 + 1, 32) <> r.hash ORDER BY r.id LIMIT 1),
        (SELECT format('block %s of chain %s was changed', b.number, b.chain) FROM pawl.audit_block b
          WHERE b.hash <> sha256(b.previous || b.hashes) OR octet_length(b.hashes) <> b.rows * 32
          ORDER BY b.chain, b.number LIMIT 1),
        (SELECT format('block %s of chain %s does not follow the one before', b.number, b.chain)
           FROM (SELECT o.chain, o.number, o.previous, lag(o.hash) OVER w AS before, lag(o.number) OVER w AS number_before
                   FROM pawl.audit_block o WINDOW w AS (PARTITION BY o.chain ORDER BY o.number)) b
          WHERE b.previous <> coalesce(b.before, decode(repeat('00', 32), 'hex')) OR b.number <> coalesce(b.number_before, 0) + 1
          ORDER BY b.chain, b.number LIMIT 1),
        (SELECT format('the last block of chain %s is missing or was changed', c.chain)
           FROM pawl.audit_chain c LEFT JOIN pawl.audit_block b ON b.chain = c.chain AND b.number = c.number
          WHERE b.hash IS DISTINCT FROM c.hash ORDER BY c.chain LIMIT 1)) INTO fault;
END
$$;
