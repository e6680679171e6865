-- claim_not_empty: an active claim part has at least one item.
SELECT pg_catalog.format('token %s part %s is active and lists nothing', c.token, c.part)
  FROM pawl.claim c WHERE c.state = 1 AND coalesce(pg_catalog.cardinality(c.seqs), 0) = 0
