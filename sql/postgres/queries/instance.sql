-- instance: the instances of a fleet: registration, heartbeat, liveness, grants, eviction, duties.

-- name: duty_leave
SELECT pawl.duty_leave($1, $2)

-- name: duty_take
SELECT d.held, d.token, d.instance, d.now_ms, d.lease_until_ms FROM pawl.duty_take($1, $2, $3) d

-- name: grants_settle
SELECT g.released, g.newest, g.epoch FROM pawl.grants_settle($1, $2, $3, $4, $5, $6) g

-- name: heartbeat
SELECT h.now_ms, h.lease_until_ms, h.lanes_outbox, h.lanes_inbox, h.lanes_perspective, h.taken, h.given, h.evicted,
       h.pauses
  FROM pawl.heartbeat($1, $2) h

-- name: instance_deregister
SELECT pawl.instance_deregister($1)

-- name: instance_evict
SELECT pawl.instance_evict($1)

-- name: instance_register
SELECT r.now_ms, r.lease_until_ms, r.epoch, r.lanes_owned
  FROM pawl.instance_register($1, $2, $3, $4, $5, $6, $7, $8, $9, $10) r

-- name: liveness_hold
SELECT pawl.liveness_hold($1)

-- name: liveness_release
-- Gives the liveness lock of this session back, so that peers see at once that it is gone.
SELECT pg_catalog.pg_advisory_unlock_all()

-- name: peers_look
SELECT p.evicted, p.rebalance_wanted, p.believe_ms FROM pawl.peers_look($1) p

-- name: view_duties
SELECT v.* FROM pawl.view_duties() v

-- name: view_instances
SELECT i.id, i.service, i.host, i.metadata, i.pid, i.kinds, i.state, i.started_ms, i.beat_ms, i.lease_until_ms,
       i.lanes_outbox, i.lanes_inbox, i.lanes_perspective, i.claims, i.in_flight, i.processed, i.jobs, i.beat_age_ms
  FROM pawl.view_instances() i
