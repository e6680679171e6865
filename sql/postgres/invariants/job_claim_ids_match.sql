-- job_claim_ids_match: what an active claim lists runs under its token.
SELECT pg_catalog.format('claim %s lists job %s, which does not run under it', c.token, u.id)
  FROM pawl.job_claim c CROSS JOIN LATERAL pg_catalog.unnest(c.ids) AS u(id)
 WHERE NOT EXISTS (SELECT 1 FROM pawl.job j WHERE j.id = u.id AND j.token = c.token)
