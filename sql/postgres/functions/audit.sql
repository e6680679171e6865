-- audit: the audit trail: runs of jobs in blocks and chains, anchors, the spine, actions of operators.

-- name: audit_add
-- Notes what a person did.
-- params: p_actor, p_action, p_detail text
-- tables: audit (inserted)
CREATE OR REPLACE FUNCTION pawl_internal.audit_add(p_actor text, p_action text, p_detail text) RETURNS void
LANGUAGE plpgsql VOLATILE SECURITY DEFINER AS $$
BEGIN
    {{needs p_action, p_actor}}
    INSERT INTO pawl_internal.audit (at_ms, actor, action, detail) VALUES (pawl_internal.now_ms(), p_actor, p_action, p_detail);
END
$$;

-- name: audit_anchor
-- Notes the heads of the chains that moved since the last anchor under one hash.
-- params: p_older_ms bigint: only when the last anchor is that old
-- returns: the last anchor; number 0 and no hash when there is none
-- tables: audit_chain (read), audit_anchor, audit_anchor_head (inserted)
-- locks: audit_anchor against other anchors
CREATE OR REPLACE FUNCTION pawl_internal.audit_anchor(p_older_ms bigint, OUT number bigint, OUT made_ms bigint, OUT hash text)
LANGUAGE plpgsql VOLATILE SECURITY DEFINER AS $$
DECLARE
    v_now bigint := pawl_internal.now_ms();
    v_last pawl_internal.audit_anchor;
    v_heads bytea;
BEGIN
    SELECT * INTO v_last FROM pawl_internal.audit_anchor a ORDER BY a.number DESC LIMIT 1;
    IF v_last.made_ms IS NULL OR v_last.made_ms <= v_now - p_older_ms THEN
        LOCK TABLE pawl_internal.audit_anchor IN SHARE ROW EXCLUSIVE MODE;
        SELECT * INTO v_last FROM pawl_internal.audit_anchor a ORDER BY a.number DESC LIMIT 1;
        WITH head AS (
            INSERT INTO pawl_internal.audit_anchor_head (chain, number, anchor, hash)
            SELECT c.chain, c.number, coalesce(v_last.number, 0) + 1, c.hash FROM pawl_internal.audit_chain c
             WHERE c.number > 0
               AND NOT EXISTS (SELECT 1 FROM pawl_internal.audit_anchor_head h WHERE h.chain = c.chain AND h.number = c.number)
            RETURNING audit_anchor_head.chain, audit_anchor_head.number, audit_anchor_head.hash)
        SELECT string_agg(uuid_send(h.chain) || int8send(h.number) || h.hash, '' ORDER BY h.chain) INTO v_heads FROM head h;
        IF v_heads IS NOT NULL THEN
            v_last.number := coalesce(v_last.number, 0) + 1;
            v_last.made_ms := v_now;
            v_last.previous := coalesce(v_last.hash, decode(repeat('00', 32), 'hex'));
            v_last.hash := sha256(v_last.previous || int8send(v_last.number) || int8send(v_now) || v_heads);
            INSERT INTO pawl_internal.audit_anchor VALUES (v_last.*);
        END IF;
    END IF;
    number := coalesce(v_last.number, 0);
    made_ms := coalesce(v_last.made_ms, 0);
    hash := encode(v_last.hash, 'hex');
END
$$;

-- name: audit_block_hash
-- The hash of a block, the same as src/domain/authority/audit.h computes.
-- params: p_previous bytea: the hash of the block before; the fields of the block
-- returns: SHA-256
CREATE OR REPLACE FUNCTION pawl_internal.audit_block_hash(
    p_previous bytea, p_chain uuid, p_number bigint, p_id bigint, p_made bigint, p_entries bytea) RETURNS bytea
LANGUAGE plpgsql IMMUTABLE AS $$
BEGIN
    RETURN sha256(p_previous || uuid_send(p_chain) || int8send(p_number) || int8send(p_id) || int8send(p_made) || p_entries);
END
$$;

-- name: audit_head
-- The last anchor of the audit.
-- returns: number 0 and no hash when there is none
-- tables: audit_anchor (read)
CREATE OR REPLACE FUNCTION pawl_internal.audit_head(OUT number bigint, OUT made_ms bigint, OUT hash text)
LANGUAGE plpgsql STABLE SECURITY DEFINER AS $$
BEGIN
    SELECT a.number, a.made_ms, encode(a.hash, 'hex') INTO number, made_ms, hash
      FROM pawl_internal.audit_anchor a ORDER BY a.number DESC LIMIT 1;
    number := coalesce(number, 0);
    made_ms := coalesce(made_ms, 0);
END
$$;

-- name: audit_seal
-- Ends the block of one call: the entries of its rows, linked to the chain of the caller.
-- params: p_block bigint, p_chain uuid (NULL: none), p_entries bytea (40 bytes per row), p_now bigint
-- tables: audit_block (inserted), audit_chain (inserted, updated)
-- locks: the head of the chain, the last lock of a call
CREATE OR REPLACE FUNCTION pawl_internal.audit_seal(p_block bigint, p_chain uuid, p_entries bytea, p_now bigint) RETURNS void
LANGUAGE plpgsql VOLATILE AS $$
DECLARE
    v_chain uuid := coalesce(p_chain, '00000000-0000-0000-0000-000000000000');
    v_number bigint;
    v_previous bytea;
    v_hash bytea;
BEGIN
    IF octet_length(p_entries) = 0 THEN
        RETURN;
    END IF;
    INSERT INTO pawl_internal.audit_chain (chain, number, hash) VALUES (v_chain, 0, decode(repeat('00', 32), 'hex'))
        ON CONFLICT (chain) DO NOTHING;
    SELECT c.number, c.hash INTO v_number, v_previous FROM pawl_internal.audit_chain c WHERE c.chain = v_chain FOR UPDATE;
    v_hash := pawl_internal.audit_block_hash(v_previous, v_chain, v_number + 1, p_block, p_now, p_entries);
    INSERT INTO pawl_internal.audit_block (id, chain, number, rows, made_ms, previous, hash, entries)
    VALUES (p_block, v_chain, v_number + 1, octet_length(p_entries) / 40, p_now, v_previous, v_hash, p_entries);
    UPDATE pawl_internal.audit_chain c SET number = v_number + 1, hash = v_hash WHERE c.chain = v_chain;
END
$$;

-- name: audit_verify
-- Recomputes every hash of the audit and names the first thing that does not fit.
-- params: p_expect text: the hash of an anchor in hex that was kept elsewhere; NULL: none
-- returns: how many chains, blocks, anchors, rows; removed: rows that retention took; fault NULL when all is sound
-- tables: audit_chain, audit_block, audit_anchor, audit_anchor_head, task_run (read)
CREATE OR REPLACE FUNCTION pawl_internal.audit_verify(
    p_expect text, OUT chains bigint, OUT blocks bigint, OUT anchors bigint, OUT rows bigint, OUT removed bigint, OUT fault text)
LANGUAGE plpgsql STABLE SECURITY DEFINER AS $$
DECLARE
    v_now bigint := pawl_internal.now_ms();
    v_zero CONSTANT bytea := decode(repeat('00', 32), 'hex');
BEGIN
    SELECT count(*) INTO chains FROM pawl_internal.audit_chain;
    SELECT count(*), coalesce(sum(octet_length(b.entries) / 40), 0) INTO blocks, removed FROM pawl_internal.audit_block b;
    SELECT count(*) INTO anchors FROM pawl_internal.audit_anchor;
    SELECT count(*) INTO rows FROM pawl_internal.task_run;
    removed := removed - rows;
    SELECT coalesce(
        (SELECT format('task_run %s was changed', r.id) FROM pawl_internal.task_run r
          WHERE r.hash <> pawl_internal.run_hash(r.id, r.job, r.task, r.type, r.queue, r.attempt, r.instance, r.token, r.started_ms,
                                        r.finished_ms, r.outcome, r.input_hash, r.output_hash, r.output, r.error, r.steps,
                                        r.expires_ms)
          ORDER BY r.id LIMIT 1),
        (SELECT format('task_run %s is not in its block', r.id)
           FROM pawl_internal.task_run r LEFT JOIN pawl_internal.audit_block b ON b.id = r.block
          WHERE b.id IS NULL OR r.place < 0 OR substr(b.entries, r.place * 40 + 1, 40) <> r.hash || int8send(r.expires_ms)
          ORDER BY r.id LIMIT 1),
        (SELECT format('block %s of chain %s was changed', b.number, b.chain) FROM pawl_internal.audit_block b
          WHERE b.hash <> pawl_internal.audit_block_hash(b.previous, b.chain, b.number, b.id, b.made_ms, b.entries)
             OR octet_length(b.entries) <> b.rows * 40
          ORDER BY b.chain, b.number LIMIT 1),
        (SELECT format('block %s of chain %s does not follow the one before', b.number, b.chain)
           FROM (SELECT o.chain, o.number, o.previous, lag(o.hash) OVER w AS before, lag(o.number) OVER w AS number_before
                   FROM pawl_internal.audit_block o WINDOW w AS (PARTITION BY o.chain ORDER BY o.number)) b
          WHERE b.previous <> coalesce(b.before, v_zero) OR b.number <> coalesce(b.number_before, 0) + 1
          ORDER BY b.chain, b.number LIMIT 1),
        (SELECT format('the last block of chain %s is missing or was changed', coalesce(c.chain, b.chain))
           FROM (SELECT DISTINCT ON (o.chain) o.chain, o.number, o.hash FROM pawl_internal.audit_block o
                  ORDER BY o.chain, o.number DESC) b FULL JOIN pawl_internal.audit_chain c ON c.chain = b.chain
          WHERE (b.number, b.hash) IS DISTINCT FROM (c.number, c.hash) ORDER BY 1 LIMIT 1),
        (SELECT format('an execution was removed before its time: place %s of block %s of chain %s', m.place, m.number, m.chain)
           FROM (SELECT p.place, b.number, b.chain
                   FROM pawl_internal.audit_block b CROSS JOIN LATERAL generate_series(0, b.rows - 1) AS p(place)
                   LEFT JOIN pawl_internal.task_run r ON r.block = b.id AND r.place = p.place
                  WHERE r.id IS NULL
                    AND ('x' || encode(substr(b.entries, p.place * 40 + 33, 8), 'hex'))::bit(64)::bigint >= v_now) m
          ORDER BY m.chain, m.number, m.place LIMIT 1),
        pawl_internal.audit_verify_anchors(p_expect)) INTO fault;
END
$$;

-- name: audit_verify_anchors
-- The part of audit_verify that checks the anchors.
-- params: p_expect text: as audit_verify
-- returns: the first fault; NULL when there is none
-- tables: audit_block, audit_anchor, audit_anchor_head (read)
CREATE OR REPLACE FUNCTION pawl_internal.audit_verify_anchors(p_expect text) RETURNS text
LANGUAGE plpgsql STABLE AS $$
DECLARE
    v_zero CONSTANT bytea := decode(repeat('00', 32), 'hex');
BEGIN
    RETURN coalesce(
        (SELECT format('anchor %s was changed', a.number)
           FROM pawl_internal.audit_anchor a
           LEFT JOIN (SELECT o.anchor, string_agg(uuid_send(o.chain) || int8send(o.number) || o.hash, '' ORDER BY o.chain) AS heads
                        FROM pawl_internal.audit_anchor_head o GROUP BY o.anchor) h ON h.anchor = a.number
          WHERE a.hash <> sha256(a.previous || int8send(a.number) || int8send(a.made_ms) || coalesce(h.heads, ''))
          ORDER BY a.number LIMIT 1),
        (SELECT format('anchor %s does not follow the one before', a.number)
           FROM (SELECT o.number, o.previous, lag(o.hash) OVER w AS before, lag(o.number) OVER w AS number_before
                   FROM pawl_internal.audit_anchor o WINDOW w AS (ORDER BY o.number)) a
          WHERE a.previous <> coalesce(a.before, v_zero) OR a.number <> coalesce(a.number_before, 0) + 1
          ORDER BY a.number LIMIT 1),
        (SELECT format('anchor %s is missing', h.anchor)
           FROM pawl_internal.audit_anchor_head h LEFT JOIN pawl_internal.audit_anchor a ON a.number = h.anchor
          WHERE a.number IS NULL ORDER BY h.anchor LIMIT 1),
        (SELECT format('block %s of chain %s, which anchor %s names, is missing or another one', h.number, h.chain, h.anchor)
           FROM pawl_internal.audit_anchor_head h LEFT JOIN pawl_internal.audit_block b ON b.chain = h.chain AND b.number = h.number
          WHERE b.hash IS DISTINCT FROM h.hash ORDER BY h.anchor, h.chain LIMIT 1),
        CASE WHEN p_expect IS NOT NULL AND NOT EXISTS (SELECT 1 FROM pawl_internal.audit_anchor a WHERE encode(a.hash, 'hex') = lower(p_expect))
             THEN format('no anchor has the hash %s: what it named was removed or rewritten', p_expect) END);
END
$$;

-- name: run_hash
-- The hash of a task_run row, the same as src/domain/authority/audit.h computes.
-- params: the fields of the row
-- returns: SHA-256
CREATE OR REPLACE FUNCTION pawl_internal.run_hash(
    p_id bigint, p_job bigint, p_task text, p_type text, p_queue text, p_attempt integer, p_instance uuid, p_token bigint,
    p_started bigint, p_finished bigint, p_outcome smallint, p_in text, p_out text, p_output json, p_error text,
    p_steps json, p_expires bigint) RETURNS bytea
LANGUAGE plpgsql IMMUTABLE AS $$
BEGIN
    RETURN sha256(convert_to(concat_ws('|', p_id, p_job, coalesce(p_task, ''), p_type, p_queue, p_attempt,
        coalesce(p_instance::text, ''), p_token, p_started, p_finished, p_outcome, coalesce(p_in, ''), coalesce(p_out, ''),
        coalesce(encode(sha256(convert_to(p_output::text, 'UTF8')), 'hex'), ''),
        coalesce(encode(sha256(convert_to(p_error, 'UTF8')), 'hex'), ''),
        coalesce(encode(sha256(convert_to(p_steps::text, 'UTF8')), 'hex'), ''), p_expires), 'UTF8'));
END
$$;

-- name: spine_read
-- The oldest events that were not passed on yet.
-- params: p_limit integer
-- returns: rows of spine by id
-- tables: spine (read)
CREATE OR REPLACE FUNCTION pawl_internal.spine_read(p_limit integer) RETURNS SETOF pawl_internal.spine
LANGUAGE sql STABLE SECURITY DEFINER AS $$
    SELECT s.* FROM pawl_internal.spine s ORDER BY s.id LIMIT pawl_internal.refuse_range('limit', p_limit, 0, 1000000)
$$;

-- name: spine_remove
-- Events that were passed on.
-- params: p_ids bigint[]
-- returns: how many were there
-- tables: spine (deleted)
-- locks: the rows
CREATE OR REPLACE FUNCTION pawl_internal.spine_remove(p_ids bigint[]) RETURNS bigint
LANGUAGE plpgsql VOLATILE SECURITY DEFINER AS $$
DECLARE
    v_count bigint;
BEGIN
    DELETE FROM pawl_internal.spine s WHERE s.id = ANY (p_ids);
    GET DIAGNOSTICS v_count = ROW_COUNT;
    RETURN v_count;
END
$$;

-- name: task_runs
-- A page of executions, newest first. At most p_scan rows of the task or the job are examined.
-- params: p_task text (NULL: any), p_job bigint (0: any), p_outcome integer (0: any), p_since_ms bigint, p_before bigint (0: from
--   the newest), p_limit integer, p_scan integer
-- returns: one row each, hash in hex, and where the next page begins (0: there is none) in every row; an empty page is a row of
--   nulls with the latter; output, error and steps only for callers that may see payloads
-- tables: task_run (read)
CREATE OR REPLACE FUNCTION pawl_internal.task_runs(
    p_task text, p_job bigint, p_outcome integer, p_since_ms bigint, p_before bigint, p_limit integer, p_scan integer)
    RETURNS TABLE (id bigint, job bigint, task text, type text, queue text, attempt integer, instance uuid, token bigint,
                   started_ms bigint, finished_ms bigint, outcome smallint, output json, error text, steps json, input_hash text,
                   output_hash text, hash text, next bigint)
LANGUAGE plpgsql STABLE SECURITY DEFINER AS $$
#variable_conflict use_column
DECLARE
    v_before bigint := CASE WHEN p_before = 0 THEN 9223372036854775807 ELSE p_before END;
    v_ids bigint[];
    v_shown boolean := pawl_internal.payloads_shown();
BEGIN
    PERFORM pawl_internal.refuse_range('limit', p_limit, 0, 1000000);
    PERFORM pawl_internal.refuse_range('scan', p_scan, 0, 1000000);
    -- Each of these reads one index, from its end; a condition that may be absent would make it read another.
    IF p_job <> 0 THEN
        v_ids := ARRAY(SELECT r.id FROM pawl_internal.task_run r WHERE r.job = p_job AND (p_task IS NULL OR r.task = p_task) AND r.id < v_before
                        ORDER BY r.id DESC LIMIT p_scan);
    ELSIF p_task IS NOT NULL THEN
        v_ids := ARRAY(SELECT r.id FROM pawl_internal.task_run r WHERE r.task = p_task AND r.id < v_before ORDER BY r.id DESC LIMIT p_scan);
    ELSE
        v_ids := ARRAY(SELECT r.id FROM pawl_internal.task_run r WHERE r.id < v_before ORDER BY r.id DESC LIMIT p_scan);
    END IF;
    RETURN QUERY
    WITH fits AS (
        SELECT r.* FROM pawl_internal.task_run r
         WHERE r.id = ANY (v_ids) AND (p_outcome = 0 OR r.outcome = p_outcome) AND r.finished_ms >= p_since_ms
         ORDER BY r.id DESC LIMIT p_limit),
    ends AS (SELECT count(*) AS shown, min(f.id) AS last FROM fits f)
    SELECT f.id, f.job, f.task, f.type, f.queue, f.attempt, f.instance, f.token, f.started_ms, f.finished_ms, f.outcome,
           CASE WHEN v_shown THEN f.output END, CASE WHEN v_shown THEN f.error END, CASE WHEN v_shown THEN f.steps END,
           f.input_hash, f.output_hash, encode(f.hash, 'hex'),
           CASE WHEN e.shown = p_limit THEN e.last WHEN cardinality(v_ids) = p_scan THEN v_ids[p_scan] ELSE 0 END
      FROM ends e LEFT JOIN fits f ON true
     ORDER BY f.id DESC;
END
$$;

-- name: view_audits
-- What people did, the latest first.
-- params: p_before bigint (0: all), p_limit integer
-- returns: one row each
-- tables: audit (read)
CREATE OR REPLACE FUNCTION pawl_internal.view_audits(p_before bigint, p_limit integer) RETURNS TABLE (
    number bigint, at_ms bigint, actor text, action text, detail text)
LANGUAGE plpgsql VOLATILE SECURITY DEFINER AS $$
BEGIN
    PERFORM pawl_internal.refuse_range('limit', p_limit, 0, 1000000);
    RETURN QUERY SELECT a.number, a.at_ms, a.actor, a.action, a.detail
      FROM pawl_internal.audit a WHERE p_before = 0 OR a.number < p_before ORDER BY a.number DESC LIMIT p_limit;
END
$$;
