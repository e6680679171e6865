-- advance_begin: see functions/advance_begin.sql
SELECT b.taken, b.stream, b.from_version, b.through_version, b.head, b.replay_to, b.token
  FROM pawl.advance_begin($1, $2, $3, $4, $5) b
