-- lane_owner_active: the owner of a lane is an active instance whose kinds contain the lane's kind; a free lane is not
-- given up.
SELECT pg_catalog.format('kind %s lane %s is owned by %s', l.kind, l.lane, coalesce(l.owner::text, 'nobody, and given up'))
  FROM pawl.lane l
 WHERE (l.owner IS NOT NULL OR l.draining)
   AND NOT EXISTS (SELECT 1 FROM pawl.instance i WHERE i.id = l.owner AND i.state = 1 AND (i.kinds >> l.kind) & 1 = 1)
