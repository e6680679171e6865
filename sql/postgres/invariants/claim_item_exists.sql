-- claim_item_exists: every item of an active claim part has its row in the table of the part's source.
SELECT pg_catalog.format('kind %s seq %s of token %s part %s is not there', i.kind, i.seq, i.token, i.part)
  FROM (SELECT c.kind, c.lane, c.token, c.part, c.source, c.suspect, c.instance, s.seq
  FROM pawl.claim c CROSS JOIN LATERAL pg_catalog.unnest(c.seqs) AS s(seq) WHERE c.state = 1) i
 WHERE NOT CASE i.source WHEN 1 THEN EXISTS (SELECT 1 FROM pawl.message m WHERE m.kind = i.kind AND m.seq = i.seq AND m.lane = i.lane)
                         ELSE EXISTS (SELECT 1 FROM pawl.aside a WHERE a.kind = i.kind AND a.seq = i.seq) END
