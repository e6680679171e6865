-- dump_tally: section 13 of the state dump.
SELECT k.kind, coalesce(sum(t.put), 0)::bigint, coalesce(sum(t.done), 0)::bigint, coalesce(sum(t.failed), 0)::bigint,
       coalesce(sum(t.dead), 0)::bigint, coalesce(sum(t.aside), 0)::bigint, coalesce(sum(t.stale), 0)::bigint,
       coalesce(sum(t.duplicate), 0)::bigint, coalesce(sum(t.redriven), 0)::bigint, coalesce(sum(t.discarded), 0)::bigint
  FROM pg_catalog.generate_series(1, 3) AS k(kind) LEFT JOIN pawl.tally t ON t.kind = k.kind GROUP BY k.kind ORDER BY k.kind
