-- apply_begin: see functions/apply_begin.sql
SELECT b.stream, b.held, b.from_version, b.through_version, b.head, b.replay_to
  FROM pawl.apply_begin($1, $2, $3, $4) b
