-- lanes_rebalance: see functions/lanes_rebalance.sql
SELECT h.now_ms, h.lease_until_ms, h.lanes_outbox, h.lanes_inbox, h.lanes_perspective, h.taken, h.given, h.evicted
  FROM pawl.lanes_rebalance($1, $2) h
