-- work_perspectives: see functions/work_perspectives.sql
SELECT true, g.stream, g.perspective, g.version, g.head, g.token, g.lease_until_ms, g.replay_to, g.attempt
  FROM pawl.work_perspectives($1, $2, $3, $4, $5) g
