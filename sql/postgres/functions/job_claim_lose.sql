-- job_claim_lose: jobs of a claim that was not reported in time.
-- params: p_claim pawl.job_claim (locked), p_all boolean: all of them, else those whose lease is over; p_give_back boolean: their
--         holder said goodbye, so no attempt is burnt and nothing is recorded; p_caller uuid: whose audit chain; p_now bigint
-- returns: how many
-- tables: job, job_claim, those of job_lost, job_tally
-- locks: the jobs, job_fair and the keys, the head of the caller's audit chain
CREATE OR REPLACE FUNCTION pawl.job_claim_lose(
    p_claim pawl.job_claim, p_all boolean, p_give_back boolean, p_caller uuid, p_now bigint) RETURNS integer
LANGUAGE plpgsql VOLATILE
SET search_path = pg_catalog, pg_temp
SET enable_seqscan = off SET jit = off
AS $$
DECLARE
    v_job pawl.job;
    v_sums bigint[] := '{0,0,0,0,0,0,0,0,0,0}';
    v_keys text[] := '{}';
    v_ids bigint[] := '{}';
    v_entries bytea := '';
    v_block bigint := nextval('pawl.run_seq');
    v_end record;
    v_check bigint;
BEGIN
    FOR v_job IN SELECT j.* FROM pawl.job j
                  WHERE j.id = ANY (p_claim.ids) AND j.token = p_claim.token
                    AND (p_all OR coalesce(j.lease_until_ms, p_claim.lease_until_ms) <= p_now)
                  ORDER BY j.id FOR UPDATE LOOP
        v_ids := v_ids || v_job.id;
        IF v_job.key IS NOT NULL THEN
            v_keys := v_keys || v_job.key;
        END IF;
        IF p_give_back AND v_job.cancel_ms IS NULL THEN
            UPDATE pawl.job j SET token = 0, lease_until_ms = NULL, ready_key = j.key, attempts = j.attempts - 1,
                                  due_ms = p_now, ord = p_now - j.priority * 60000::bigint
             WHERE j.id = v_job.id;
            v_sums[1] := v_sums[1] + 1;
            CONTINUE;
        END IF;
        SELECT e.slot, e.counter, e.entry INTO v_end
          FROM pawl.job_lost(v_job, p_claim.instance, v_block, octet_length(v_entries) / 40, p_now) e;
        v_sums[v_end.slot] := v_sums[v_end.slot] + 1;
        IF v_end.counter > 0 THEN
            v_sums[v_end.counter] := v_sums[v_end.counter] + 1;
        END IF;
        v_sums[7] := v_sums[7] + 1;
        v_entries := v_entries || coalesce(v_end.entry, '');
    END LOOP;
    IF cardinality(v_ids) > 0 THEN
        PERFORM pawl.job_claim_leave(p_claim, v_ids, false);
        PERFORM pawl.job_tally_add(p_claim.queue, v_sums);
        PERFORM pawl.job_keys_free(v_keys);
        PERFORM pawl.audit_seal(v_block, p_caller, v_entries, p_now);
    END IF;
    IF cardinality(v_ids) < cardinality(p_claim.ids) THEN
        SELECT min(coalesce(j.lease_until_ms, p_claim.lease_until_ms)) INTO v_check FROM pawl.job j
         WHERE j.id = ANY (p_claim.ids) AND j.token = p_claim.token;
        UPDATE pawl.job_claim c SET check_ms = v_check WHERE c.token = p_claim.token;
    END IF;
    RETURN cardinality(v_ids);
END
$$;
