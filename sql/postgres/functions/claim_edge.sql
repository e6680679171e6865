-- claim_edge: up to where what an instance has in flight may have begun: handlers start in the order of the grant.
-- params: p_instance uuid
-- returns: token and seq of the last item that its slots could hold; NULLs when nothing but a suspect is in flight
-- tables: instance, claim (read)
-- locks: none
CREATE OR REPLACE FUNCTION pawl.claim_edge(p_instance uuid, OUT token bigint, OUT seq bigint)
LANGUAGE sql STABLE
SET search_path = pg_catalog, pg_temp
AS $$
    SELECT x.token, x.seq
      FROM (SELECT c.token, s.seq FROM pawl.claim c CROSS JOIN LATERAL unnest(c.seqs) AS s(seq)
             WHERE c.instance = p_instance AND c.state = 1 AND c.suspect = 0
             ORDER BY c.token, s.seq
             LIMIT greatest(1, (SELECT i.slots FROM pawl.instance i WHERE i.id = p_instance))) x
     ORDER BY x.token DESC, x.seq DESC LIMIT 1
$$;
