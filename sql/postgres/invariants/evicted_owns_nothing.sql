-- evicted_owns_nothing: an instance that is evicted or has no row owns no lane and has no active claim part, except what a
-- transaction held when it was evicted.
SELECT pg_catalog.format('%s %s of kind %s belongs to %s, which is not active', o.what, o.number, o.kind, o.instance)
  FROM (SELECT 'lane' AS what, l.lane::bigint AS number, l.kind, l.owner AS instance FROM pawl.lane l WHERE l.owner IS NOT NULL
         UNION ALL
        SELECT 'token', c.token, c.kind, c.instance FROM pawl.claim c WHERE c.state = 1) o
 WHERE NOT EXISTS (SELECT 1 FROM pawl.instance i WHERE i.id = o.instance AND (i.state = 1 OR i.leftovers))
