-- pgq_events: what is in a batch.
SELECT * FROM pgq.get_batch_events($1::bigint)
