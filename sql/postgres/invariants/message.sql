-- message: invariants of messages, claims, holds and dead letters.

-- name: aside_has_hold
-- Every aside row has the hold of its key, in the same lane.
SELECT pg_catalog.format('kind %s seq %s is aside without a hold in lane %s', a.kind, a.seq, a.lane)
  FROM pawl_internal.aside a
 WHERE NOT EXISTS (SELECT 1 FROM pawl_internal.hold h WHERE h.kind = a.kind AND h.key = a.key AND h.lane = a.lane)

-- name: behind_cursor_claimed
-- Every item of an active claim of waiting messages has been read, as its lane's newest claim says, and no active claim has a
-- token below its low_token. Of a message that was read and is in no claim nothing tells whether it was ever granted.
SELECT pg_catalog.format('kind %s lane %s seq %s of token %s is unread', m.kind, m.lane, m.seq, c.token)
  FROM pawl_internal.claim c CROSS JOIN LATERAL pg_catalog.unnest(pawl_internal.claim_seqs(c)) AS s(seq)
  JOIN pawl_internal.message m ON m.kind = c.kind AND m.lane = c.lane AND m.seq = s.seq
 CROSS JOIN LATERAL (SELECT n AS last FROM pawl_internal.claim n WHERE n.kind = c.kind AND n.lane = c.lane ORDER BY n.token DESC, n.part LIMIT 1) n
 WHERE c.state = :CLAIM_ACTIVE AND c.source = :SOURCE_MESSAGE AND NOT pawl_internal.was_read(m.seq, m.xid, n.last)
UNION ALL
SELECT pg_catalog.format('token %s of kind %s lane %s is active below %s', c.token, c.kind, c.lane, n.low_token)
  FROM pawl_internal.claim c
 CROSS JOIN LATERAL (SELECT x.low_token FROM pawl_internal.claim x WHERE x.kind = c.kind AND x.lane = c.lane ORDER BY x.token DESC, x.part LIMIT 1) n
 WHERE c.state = :CLAIM_ACTIVE AND c.token < n.low_token

-- name: claim_item_exists
-- Every item of an active claim part has its row in the table of the part's source.
SELECT pg_catalog.format('kind %s seq %s of token %s part %s is not there', i.kind, i.seq, i.token, i.part)
  FROM (SELECT c.kind, c.lane, c.token, c.part, c.source, c.suspect, c.instance, s.seq
  FROM pawl_internal.claim c CROSS JOIN LATERAL pg_catalog.unnest(pawl_internal.claim_seqs(c)) AS s(seq) WHERE c.state = :CLAIM_ACTIVE) i
 WHERE NOT CASE i.source WHEN 1 THEN EXISTS (SELECT 1 FROM pawl_internal.message m WHERE m.kind = i.kind AND m.seq = i.seq AND m.lane = i.lane)
                         ELSE EXISTS (SELECT 1 FROM pawl_internal.aside a WHERE a.kind = i.kind AND a.seq = i.seq) END

-- name: claim_not_empty
-- An active claim part has at least one item.
SELECT pg_catalog.format('token %s part %s is active and lists nothing', c.token, c.part)
  FROM pawl_internal.claim c WHERE c.state = :CLAIM_ACTIVE AND coalesce(pg_catalog.cardinality(c.seqs), c.items) = 0

-- name: claimed_once
-- No (kind, seq) is an item of two active claim parts, or twice in one.
SELECT pg_catalog.format('kind %s seq %s is claimed %s times', i.kind, i.seq, count(*))
  FROM (SELECT c.kind, c.lane, c.token, c.part, c.source, c.suspect, c.instance, s.seq
  FROM pawl_internal.claim c CROSS JOIN LATERAL pg_catalog.unnest(pawl_internal.claim_seqs(c)) AS s(seq) WHERE c.state = :CLAIM_ACTIVE) i
 GROUP BY i.kind, i.seq HAVING count(*) > 1

-- name: dead_tally_matches
-- The numbers of dead letters per cause are those of the rows; kind 4: jobs.
SELECT pg_catalog.format('kind %s, %s: counts %s, there are %s', coalesce(t.kind, r.kind), coalesce(t.fingerprint, r.fingerprint),
                         coalesce(t.n, 0), coalesce(r.n, 0))
  FROM (SELECT y.kind, y.fingerprint, sum(y.letters) AS n FROM pawl_internal.dead_tally y GROUP BY y.kind, y.fingerprint) t
  FULL JOIN (SELECT d.kind, d.fingerprint, count(*) AS n FROM pawl_internal.dead d WHERE d.fingerprint IS NOT NULL GROUP BY d.kind, d.fingerprint
             UNION ALL
             SELECT 4, a.fingerprint, count(*) FROM pawl_internal.job_aside a WHERE a.state = :JOB_DEAD GROUP BY a.fingerprint) r
    ON r.kind = t.kind AND r.fingerprint = t.fingerprint
 WHERE coalesce(t.n, 0) <> coalesce(r.n, 0)

-- name: hold_due_matches_head
-- A waiting hold is due when its first aside row is; a blocked or parked one is due at 0.
SELECT pg_catalog.format('hold of kind %s stream %s is due at %s, not at %s', h.kind, h.key, h.due_ms, f.due_ms)
  FROM pawl_internal.hold h
 CROSS JOIN LATERAL (SELECT CASE WHEN h.state <> :HOLD_WAITING THEN 0
                                 ELSE (SELECT a.scheduled_ms FROM pawl_internal.aside a
                                        WHERE a.kind = h.kind AND a.key = h.key ORDER BY a.seq LIMIT 1) END AS due_ms) f
 WHERE h.due_ms IS DISTINCT FROM f.due_ms

-- name: hold_has_aside_or_block
-- A waiting hold has an aside row of its key; a blocked or parked one has its dead letter.
SELECT pg_catalog.format('hold of kind %s stream %s, state %s, holds nothing', h.kind, h.key, h.state)
  FROM pawl_internal.hold h
 WHERE NOT CASE h.state WHEN 1 THEN EXISTS (SELECT 1 FROM pawl_internal.aside a WHERE a.kind = h.kind AND a.key = h.key)
                        ELSE EXISTS (SELECT 1 FROM pawl_internal.dead d WHERE d.kind = h.kind AND d.seq = h.by_seq) END

-- name: in_flight_prefix
-- No unread message that a claim saw precedes an item of that claim in its stream.
-- A transaction that drew its number early may commit late, and is not seen.
SELECT pg_catalog.format('kind %s seq %s waits while seq %s of stream %s is in flight', f.kind, u.seq, f.seq, f.stream)
  FROM pawl_internal.claim c CROSS JOIN LATERAL pg_catalog.unnest(pawl_internal.claim_seqs(c)) AS s(seq)
  JOIN pawl_internal.message f ON f.kind = c.kind AND f.lane = c.lane AND f.seq = s.seq
  JOIN pawl_internal.message u ON u.kind = f.kind AND u.lane = f.lane AND u.stream = f.stream AND u.seq < f.seq
                              AND pg_catalog.pg_visible_in_snapshot(u.xid, (c.cursor).seen)
 CROSS JOIN LATERAL (SELECT n AS last FROM pawl_internal.claim n WHERE n.kind = c.kind AND n.lane = c.lane ORDER BY n.token DESC, n.part LIMIT 1) n
 WHERE c.state = :CLAIM_ACTIVE AND c.source = :SOURCE_MESSAGE AND NOT pawl_internal.was_read(u.seq, u.xid, n.last)

-- name: message_once
-- A (kind, seq) is in at most one of message, aside, dead and history.
SELECT pg_catalog.format('kind %s seq %s is in %s places', p.kind, p.seq, count(*))
  FROM (SELECT m.kind, m.seq FROM pawl_internal.live_message m
         UNION ALL SELECT a.kind, a.seq FROM pawl_internal.aside a
         UNION ALL SELECT d.kind, d.seq FROM pawl_internal.dead d
         UNION ALL SELECT h.kind, h.seq FROM pawl_internal.history h) p
 GROUP BY p.kind, p.seq HAVING count(*) > 1

-- name: seq_unique
-- A seq is used by one kind only.
SELECT pg_catalog.format('seq %s is used by %s kinds', p.seq, count(DISTINCT p.kind))
  FROM (SELECT m.kind, m.seq FROM pawl_internal.live_message m
         UNION ALL SELECT a.kind, a.seq FROM pawl_internal.aside a
         UNION ALL SELECT d.kind, d.seq FROM pawl_internal.dead d
         UNION ALL SELECT h.kind, h.seq FROM pawl_internal.history h) p
 GROUP BY p.seq HAVING count(DISTINCT p.kind) > 1

-- name: stream_in_one_token
-- The items of a stream that are in active claims are all under one token.
SELECT pg_catalog.format('stream %s of kind %s is in flight under %s tokens', f.stream, f.kind, count(DISTINCT f.token))
  FROM (SELECT i.kind, i.lane, i.token, i.seq, v.stream
  FROM (SELECT c.kind, c.lane, c.token, c.part, c.source, c.suspect, c.instance, s.seq
  FROM pawl_internal.claim c CROSS JOIN LATERAL pg_catalog.unnest(pawl_internal.claim_seqs(c)) AS s(seq) WHERE c.state = :CLAIM_ACTIVE) i
  JOIN (SELECT m.kind, m.lane, m.seq, m.stream FROM pawl_internal.live_message m UNION ALL SELECT a.kind, a.lane, a.seq, a.stream FROM pawl_internal.aside a) v
    ON v.kind = i.kind AND v.lane = i.lane AND v.seq = i.seq
 WHERE v.stream IS NOT NULL) f
 GROUP BY f.kind, f.stream HAVING count(DISTINCT f.token) > 1

-- name: suspect_alone
-- A suspect claim lists one item, from aside, after a loss; an instance has at most one.
SELECT pg_catalog.format('suspect token %s lists %s items, %s of them aside after a loss', c.token, pg_catalog.cardinality(c.seqs), x.fitting)
  FROM pawl_internal.claim c
 CROSS JOIN LATERAL (SELECT count(*) AS fitting FROM pg_catalog.unnest(c.seqs) AS s(seq)
                       JOIN pawl_internal.aside a ON a.kind = c.kind AND a.seq = s.seq AND a.losses >= 2) x
 WHERE c.state = :CLAIM_ACTIVE AND c.suspect > :SUSPECT_NO AND (c.source <> :SOURCE_ASIDE OR pg_catalog.cardinality(c.seqs) <> 1 OR x.fitting <> 1)
UNION ALL
SELECT pg_catalog.format('instance %s has %s suspect claims', c.instance, count(*))
  FROM pawl_internal.claim c WHERE c.state = :CLAIM_ACTIVE AND c.suspect > :SUSPECT_NO GROUP BY c.instance HAVING count(*) > 1

-- name: tally_matches_tables
-- The gauges of the tally are the numbers of rows, and put - done - aside - dead - discarded = messages that are unread or in flight.
SELECT pg_catalog.format('kind %s: aside %s / %s rows, dead %s / %s, waiting %s / %s', k.kind, t.aside, r.aside, t.dead, r.dead,
                         t.waiting, r.waiting)
  FROM pg_catalog.generate_series(1, 3) AS k(kind)
 CROSS JOIN LATERAL (SELECT coalesce(sum(y.aside), 0) AS aside, coalesce(sum(y.dead), 0) AS dead,
                            coalesce(sum(y.put), 0) - coalesce(sum(y.done), 0) - coalesce(sum(y.aside), 0)
                            - coalesce(sum(y.dead), 0) - coalesce(sum(y.discarded), 0) AS waiting
                       FROM pawl_internal.tally y WHERE y.kind = k.kind) t
 CROSS JOIN LATERAL (SELECT (SELECT count(*) FROM pawl_internal.aside a WHERE a.kind = k.kind) AS aside,
                            (SELECT count(*) FROM pawl_internal.dead d WHERE d.kind = k.kind) AS dead,
                            (SELECT count(*) FROM pawl_internal.live_message m WHERE m.kind = k.kind) AS waiting) r
 WHERE t.aside <> r.aside OR t.dead <> r.dead OR t.waiting <> r.waiting
