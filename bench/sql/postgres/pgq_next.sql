-- pgq_next: the number of the consumer's next batch, NULL when there is none.
SELECT pgq.next_batch('bench', 'consumer')
