-- lane: lanes and partitions: their owners, and rebalancing.

-- name: lanes_owned
SELECT l.outbox, l.inbox, l.perspective FROM pawl.lanes_owned($1) l

-- name: lanes_rebalance
SELECT h.now_ms, h.lease_until_ms, h.lanes_outbox, h.lanes_inbox, h.lanes_perspective, h.taken, h.given, h.evicted
  FROM pawl.lanes_rebalance($1, $2) h

-- name: view_lanes
SELECT l.lane, l.owner, l.token, l.high, l.moves, l.draining, l.claims, l.holds FROM pawl.view_lanes($1) l
