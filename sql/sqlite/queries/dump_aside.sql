-- dump_aside: aside rows for the state dump.
SELECT kind, lane, id, stream, attempts, deaths, reason, error, scheduled_ms, out_of_order, losses
  FROM pawl_aside ORDER BY kind, lane, seq
