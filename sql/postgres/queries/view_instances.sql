-- view_instances: see functions/view_instances.sql
SELECT i.id, i.service, i.host, i.metadata, i.pid, i.kinds, i.state, i.started_ms, i.beat_ms, i.lease_until_ms,
       i.beat_age_ms, i.lanes_outbox, i.lanes_inbox, i.lanes_perspective, i.claims, i.in_flight, i.processed, i.jobs
  FROM pawl.view_instances() i
