-- put_dedupe: enters the ids of an inbox call for its consumer and says which of them are new.
-- params: p_ids, p_payloads, p_consumer, p_hashes (NULL: computed here), p_now
-- returns: one answer per id: 1 applied, 2 duplicate, 4 conflict (known with another payload); the first of equal ids wins
-- tables: dedupe (inserted)
-- locks: the dedupe keys, in the order of the ids: two calls cannot wait for each other in a circle
CREATE OR REPLACE FUNCTION pawl.put_dedupe(
    p_ids uuid[], p_payloads json[], p_consumer text, p_hashes bigint[], p_now bigint) RETURNS smallint[]
LANGUAGE plpgsql VOLATILE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    v_hashes bigint[] := p_hashes;
    v_new uuid[];
    v_answers smallint[];
BEGIN
    IF v_hashes IS NULL THEN
        v_hashes := ARRAY(SELECT pawl.payload_hash(p.payload)
                            FROM unnest(p_payloads) WITH ORDINALITY AS p(payload, n) ORDER BY p.n);
    END IF;
    WITH entered AS (
        INSERT INTO pawl.dedupe (consumer, message_id, payload_hash, seen_ms)
        SELECT p_consumer, f.id, f.hash, p_now
          FROM (SELECT DISTINCT ON (u.id) u.id, u.hash
                  FROM unnest(p_ids, v_hashes) WITH ORDINALITY AS u(id, hash, n) ORDER BY u.id, u.n) f
         ORDER BY f.id
        ON CONFLICT (consumer, message_id) DO NOTHING
        RETURNING message_id)
    SELECT coalesce(array_agg(e.message_id), '{}') INTO v_new FROM entered e;

    SELECT array_agg((CASE WHEN w.id IS NOT NULL AND u.nth = 1 THEN 1
                           WHEN d.payload_hash = u.hash THEN 2 ELSE 4 END)::smallint ORDER BY u.n)
      INTO v_answers
      FROM (SELECT i.id, i.hash, i.n, row_number() OVER (PARTITION BY i.id ORDER BY i.n) AS nth
              FROM unnest(p_ids, v_hashes) WITH ORDINALITY AS i(id, hash, n)) u
      JOIN pawl.dedupe d ON d.consumer = p_consumer AND d.message_id = u.id
      LEFT JOIN unnest(v_new) AS w(id) ON w.id = u.id;
    IF coalesce(cardinality(v_answers), 0) <> cardinality(p_ids) THEN
        RAISE EXCEPTION USING ERRCODE = '40001', MESSAGE = 'a known message id was forgotten meanwhile; try again';
    END IF;
    RETURN v_answers;
END
$$;
