-- table_bytes: what the messages take, indexes included.
SELECT pg_total_relation_size('pawl.message');
