-- token_below_counter: no token of a lane, claim or checkpoint is above epoch << 40 | counter.
SELECT pg_catalog.format('token %s is above %s', t.token, (s.epoch << 40) | q.last_value)
  FROM (SELECT l.token FROM pawl.lane l UNION ALL SELECT c.token FROM pawl.claim c UNION ALL SELECT k.token FROM pawl.checkpoint k) t
 CROSS JOIN pawl.settings s CROSS JOIN pawl.token_seq q
 WHERE t.token > ((s.epoch << 40) | q.last_value)
