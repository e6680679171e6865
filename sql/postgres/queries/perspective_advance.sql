-- perspective_advance: see functions/perspective_advance.sql
SELECT a.stream, a.answer, a.version, a.events, a.more, a.outcome, a.failed_version, a.error
  FROM pawl.perspective_advance($1, $2, $3, $4, $5) a
