-- heartbeat: see functions/heartbeat.sql
SELECT h.now_ms, h.lease_until_ms, h.lanes_outbox, h.lanes_inbox, h.lanes_perspective, h.taken, h.given, h.evicted,
       h.pauses
  FROM pawl.heartbeat($1, $2) h
