-- pgq_tick: closes a batch.
SELECT pgq.ticker('bench')
