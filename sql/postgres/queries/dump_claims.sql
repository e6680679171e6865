-- dump_claims: section 8 of the state dump.
SELECT c.kind::integer, c.lane, c.instance, c.source::integer, c.suspect::integer, c.lease_until_ms,
       ARRAY(SELECT v.id FROM pg_catalog.unnest(c.seqs) AS s(seq)
               JOIN (SELECT m.kind, m.seq, m.id FROM pawl.message m UNION ALL SELECT a.kind, a.seq, a.id FROM pawl.aside a) v
                 ON v.kind = c.kind AND v.seq = s.seq ORDER BY s.seq),
       ARRAY(SELECT d.id FROM pg_catalog.unnest(c.done_ids) AS d(id) ORDER BY d.id)
  FROM pawl.claim c WHERE c.state = 1 ORDER BY c.kind, c.lane, c.seqs[1]
