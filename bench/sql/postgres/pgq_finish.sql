-- pgq_finish: acknowledges a batch whole.
SELECT pgq.finish_batch($1::bigint)
