-- instance: the instances of a fleet: registration, heartbeat, liveness, grants, eviction, duties.
-- calls: duty_leave, duty_take, grants_settle, heartbeat, instance_deregister, instance_evict, instance_full,
--   instance_register, liveness_hold, peers_look, view_duties

-- name: liveness_release
-- Gives the liveness lock of this session back, so that peers see at once that it is gone.
SELECT pg_catalog.pg_advisory_unlock_all()

-- name: view_instances
SELECT i.id, i.service, i.host, i.metadata, i.pid, i.kinds, i.state, i.started_ms, i.beat_ms, i.lease_until_ms,
       i.lanes_outbox, i.lanes_inbox, i.lanes_perspective, i.claims, i.in_flight, i.processed, i.jobs, i.beat_age_ms
  FROM pawl_internal.view_instances() i
