-- dump_holds: section 7 of the state dump.
SELECT h.kind::integer, CASE WHEN pg_catalog.starts_with(h.key, pg_catalog.chr(1)) THEN NULL ELSE h.key END, h.lane,
       h.state::integer, h.due_ms, d.id
  FROM pawl.hold h
  LEFT JOIN pawl.dead d ON d.kind = h.kind AND d.seq = h.by_seq
 ORDER BY h.kind, (SELECT min(a.seq) FROM pawl.aside a WHERE a.kind = h.kind AND a.key = h.key) NULLS LAST, h.key
