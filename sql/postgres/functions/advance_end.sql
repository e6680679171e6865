-- advance_end: moves the checkpoints of a batch that was taken and applied in this transaction.
-- params: p_key, p_token; per stream: p_froms: applied before, p_versions: applied through, p_heads, p_errors (NULL: none),
--         p_failed: the version that failed; p_given: events given in all
-- returns: per stream, in the order of the call: whether there is more (then it is due at once), and 0, or for a failure 1 another
--          attempt, 2 stopped
-- tables: checkpoint (updated), skip, event, mapping (read), perspective_tally (inserted), those of checkpoint_end
-- locks: held by advance_take
CREATE OR REPLACE FUNCTION pawl.advance_end(
    p_key text, p_token bigint, p_streams text[], p_froms bigint[], p_versions bigint[], p_heads bigint[], p_errors text[],
    p_failed bigint[], p_given bigint) RETURNS TABLE (more boolean, outcome smallint)
LANGUAGE plpgsql VOLATILE SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
SET enable_seqscan = off SET enable_bitmapscan = off SET enable_hashjoin = off SET enable_mergejoin = off SET enable_material = off
SET plan_cache_mode = force_generic_plan SET jit = off
AS $$
DECLARE
    v_now bigint := pawl.now_ms();
    v_applied bigint := p_given;
    v_row record;
BEGIN
    IF num_nonnulls(VARIADIC p_errors) > 0 THEN
        FOR v_row IN SELECT u.* FROM unnest(p_streams, p_versions, p_heads, p_errors, p_failed) WITH ORDINALITY
                                     AS u(stream, version, head, error, failed, n) ORDER BY u.n LOOP
            more := v_row.error IS NULL AND v_row.version < v_row.head;
            outcome := pawl.checkpoint_end(v_row.stream, p_key, v_row.version, p_token,
                                           CASE WHEN v_row.error IS NOT NULL THEN 3 WHEN more THEN 0 ELSE 2 END::smallint,
                                           v_row.error, v_row.failed, 0, v_now);
            RETURN NEXT;
        END LOOP;
        RETURN;
    END IF;
    IF EXISTS (SELECT 1 FROM pawl.skip k WHERE k.key = p_key) THEN -- what is left out counts as applied
        SELECT sum(x.count) INTO v_applied
          FROM unnest(p_streams, p_froms, p_versions) AS u(stream, from_version, version)
         CROSS JOIN LATERAL (SELECT count(*) AS count FROM pawl.event e
                              WHERE e.stream = u.stream AND e.version > u.from_version AND e.version <= u.version
                                AND EXISTS (SELECT 1 FROM pawl.mapping m WHERE m.type = e.type AND m.key = p_key)) x;
    END IF;
    IF v_applied > 0 THEN
        INSERT INTO pawl.perspective_tally (key, applied) VALUES (p_key, v_applied);
    END IF;
    UPDATE pawl.checkpoint c
       SET version = u.version, token = p_token, updated_ms = v_now, stopped = false, error = NULL, fingerprint = NULL, failed_version = 0,
           instance = NULL, lease_until_ms = 0,
           status = CASE WHEN u.version < u.head THEN 0 ELSE 2 END,
           due_ms = CASE WHEN u.version < u.head THEN v_now END,
           attempts = CASE WHEN u.version < u.head THEN c.attempts ELSE 0 END
      FROM unnest(p_streams, p_versions, p_heads) AS u(stream, version, head)
     WHERE c.stream = u.stream AND c.perspective = p_key;
    RETURN QUERY SELECT u.version < u.head, 0::smallint FROM unnest(p_versions, p_heads) WITH ORDINALITY AS u(version, head, n) ORDER BY u.n;
END
$$;
