-- dump_instances: section 2 of the state dump.
SELECT i.id, i.service, i.kinds, i.state::integer, i.beat_ms, i.lease_until_ms FROM pawl.instance i ORDER BY i.id
