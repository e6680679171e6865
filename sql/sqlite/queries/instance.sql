-- instance: the instances of a fleet: registration, heartbeat, liveness, grants, eviction, duties.

-- name: deploy_note
-- Notes a deploy: no other active instance of the service runs this, and its last deploy was of something else. So a
-- restart is none, however many instances there are, and going back to an older version is one.
-- params: id: an instance that has just registered; now_ms
WITH said AS MATERIALIZED (
    SELECT id, service, ltrim(coalesce(', version ' || (metadata ->> 'version'), '') || coalesce(', pawl ' || (metadata ->> 'pawl_version'), ''), ', ') AS label
      FROM pawl_instance WHERE state = :INSTANCE_ACTIVE)
INSERT INTO pawl_audit (at_ms, actor, action, detail)
SELECT ?2, s.service, 'deploy', substr(s.label, 1, 200) FROM said s
 WHERE s.id = ?1 AND s.label <> ''
   AND NOT EXISTS (SELECT 1 FROM said o WHERE o.service = s.service AND o.id <> s.id AND o.label = s.label)
   AND substr(s.label, 1, 200) IS NOT (SELECT a.detail FROM pawl_audit a WHERE a.action = 'deploy' AND a.actor = s.service
                                        ORDER BY a.number DESC LIMIT 1)

-- name: duty_find
-- The holder of a duty.
-- params: name
SELECT name, instance, token, lease_until_ms FROM pawl_duty WHERE name = ?1

-- name: duty_list
-- The duties that are held.
-- params: now_ms
SELECT name, instance, token, lease_until_ms FROM pawl_duty WHERE lease_until_ms > ?1 ORDER BY name

-- name: duty_put
-- Sets the holder of a duty and the end of its lease.
-- params: name, instance, token, lease_until_ms
INSERT INTO pawl_duty (name, instance, token, lease_until_ms) VALUES (?1, ?2, ?3, ?4)
    ON CONFLICT (name) DO UPDATE SET instance = ?2, token = ?3, lease_until_ms = ?4

-- name: instance_absent
-- Since when its liveness lock is gone; NULL: it is there.
-- params: id, absent_since_ms
UPDATE pawl_instance SET absent_since_ms = ?2 WHERE id = ?1

-- name: instance_active
-- Every active instance, by id.
SELECT id FROM pawl_instance WHERE state = :INSTANCE_ACTIVE ORDER BY id

-- name: instance_beat
-- A sign of life.
-- params: id, now_ms
UPDATE pawl_instance SET beat_ms = ?2, lease_until_ms = ?2 + lease_ms WHERE id = ?1

-- name: instance_delete
-- The row goes, the tombstone stays.
-- params: id
DELETE FROM pawl_instance WHERE id = ?1

-- name: instance_find
-- What operations need to know of an instance.
-- params: id
SELECT id, state, kinds, beat_ms, lease_ms, lease_until_ms, max_partitions, slots FROM pawl_instance WHERE id = ?1

-- name: instance_insert
-- A new active instance.
-- params: id, service, host, pid, metadata, kinds, max_partitions, now_ms, lease_ms, slots
INSERT INTO pawl_instance (id, service, host, pid, metadata, kinds, state, max_partitions, slots, started_ms, beat_ms, lease_ms,
                      lease_until_ms)
VALUES (?1, ?2, ?3, ?4, ?5, ?6, 1, ?7, ?10, ?8, ?8, ?9, ?8 + ?9)

-- name: instance_is_active
-- Whether an instance may hold something.
-- params: id
SELECT 1 FROM pawl_instance WHERE id = ?1 AND state = :INSTANCE_ACTIVE

-- name: instance_full
-- Whether all slots of an instance are busy.
-- params: id, full
UPDATE pawl_instance SET is_full = ?2 WHERE id = ?1

-- name: instance_live
-- The live instances of a kind with the lanes they own that are not draining, and whether they are full.
-- params: kind, kind_bit, now_ms
SELECT id, (SELECT count(*) FROM pawl_lane INDEXED BY pawl_lane_owner
            WHERE kind = ?1 AND owner = pawl_instance.id AND draining = 0), is_full
  FROM pawl_instance
 WHERE state = :INSTANCE_ACTIVE AND lease_until_ms > ?3 AND kinds & ?2 <> 0

-- name: instance_lock_held
-- It holds its liveness lock.
-- params: id
UPDATE pawl_instance SET lock_no = 1, absent_since_ms = NULL WHERE id = ?1

-- name: instance_others
-- How many active instances there are besides the caller.
-- params: caller
SELECT count(*) FROM pawl_instance WHERE state = :INSTANCE_ACTIVE AND id <> ?1

-- name: instance_peers_locked
-- Active peers that hold a liveness lock.
-- params: caller
SELECT id, coalesce(absent_since_ms, -1) FROM pawl_instance WHERE state = :INSTANCE_ACTIVE AND lock_no > 0 AND id <> ?1 ORDER BY id

-- name: instance_processed
-- How much an instance has done so far.
-- params: id, processed
UPDATE pawl_instance SET processed = ?2 WHERE id = ?1

-- name: instance_set_evicted
-- An instance that is taken for dead.
-- params: id, now_ms
UPDATE pawl_instance SET state = :INSTANCE_EVICTED, evicted_ms = ?2 WHERE id = ?1

-- name: instance_silent
-- Active instances whose lease has expired, other than the caller, by id.
-- params: caller, now_ms
SELECT id FROM pawl_instance WHERE state = :INSTANCE_ACTIVE AND id <> ?1 AND lease_until_ms <= ?2 ORDER BY id

-- name: instance_stale
-- Evicted instances that were silent for long enough, other than the caller.
-- params: caller, before_ms, limit
SELECT id FROM pawl_instance WHERE state = :INSTANCE_EVICTED AND beat_ms < ?2 AND id <> ?1 ORDER BY id LIMIT ?3

-- name: tombstone_find
-- Whether an id has a tombstone.
-- params: id
SELECT 1 FROM pawl_tombstone WHERE id = ?1

-- name: tombstone_insert
-- An id that is never accepted again.
-- params: id, now_ms
INSERT OR IGNORE INTO pawl_tombstone (id, removed_ms) VALUES (?1, ?2)

-- name: view_instances
-- Every instance, by id.
-- params: now_ms
SELECT id, service, host, metadata, pid, kinds, state, started_ms, beat_ms, lease_until_ms,
       (SELECT count(*) FROM pawl_lane WHERE kind = :KIND_OUTBOX AND owner = pawl_instance.id),
       (SELECT count(*) FROM pawl_lane WHERE kind = :KIND_INBOX AND owner = pawl_instance.id),
       (SELECT count(*) FROM pawl_lane WHERE kind = :KIND_PERSPECTIVE AND owner = pawl_instance.id),
       (SELECT count(*) FROM pawl_claim WHERE pawl_claim.instance = pawl_instance.id AND pawl_claim.state = :CLAIM_ACTIVE),
       (SELECT coalesce(sum(in_flight), 0) FROM pawl_claim WHERE pawl_claim.instance = pawl_instance.id AND pawl_claim.state = :CLAIM_ACTIVE),
       processed,
       (SELECT count(*) FROM pawl_job_claim c JOIN pawl_job j ON j.token = c.token AND j.state = :JOB_RUNNING
         WHERE c.instance = pawl_instance.id AND c.active = 1),
       ?1 - beat_ms
  FROM pawl_instance ORDER BY id
