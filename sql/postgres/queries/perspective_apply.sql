-- perspective_apply: see functions/perspective_apply.sql
SELECT a.answer, a.version, a.events, a.more, a.outcome, a.failed_version, a.error
  FROM pawl.perspective_apply($1, $2, $3, $4) a
