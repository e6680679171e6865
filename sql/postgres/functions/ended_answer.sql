-- ended_answer: what to answer for an item that no active part of its token lists.
-- params: p_instance, p_kind, p_token, p_id
-- returns: 2 duplicate: it was reported before; 3 stale: the grant is over
-- tables: claim (read)
-- locks: none
CREATE OR REPLACE FUNCTION pawl.ended_answer(p_instance uuid, p_kind smallint, p_token bigint, p_id uuid) RETURNS smallint
LANGUAGE sql VOLATILE
SET search_path = pg_catalog, pg_temp
AS $$
    -- done_ids NULL: the part ended whole and forgot its lists.
    SELECT CASE WHEN coalesce(bool_or(c.done_ids IS NULL OR p_id = ANY (c.done_ids)), false) THEN 2 ELSE 3 END::smallint
      FROM pawl.claim c WHERE c.token = p_token AND c.instance = p_instance AND c.kind = p_kind
$$;
