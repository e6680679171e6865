-- dump_aside: section 6 of the state dump.
SELECT a.kind::integer, a.lane, a.id, a.stream, a.attempts, a.deaths, a.reason::integer, a.error, a.scheduled_ms,
       a.out_of_order, a.losses::integer
  FROM pawl.aside a ORDER BY a.kind, a.lane, a.seq
