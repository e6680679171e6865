-- floor_project_checkpoint: how far the read model is, stream by stream, in the transaction that writes it.
UPDATE bench.checkpoint AS c SET version = e.version, status = 2
  FROM (SELECT u.stream, max(u.version) AS version FROM unnest($1::text[], $2::bigint[]) AS u (stream, version) GROUP BY 1) AS e
 WHERE c.stream = e.stream AND c.perspective = 'total'
