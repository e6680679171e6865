-- pgq_put: events from arrays; the stream travels as the first extra field.
SELECT count(pgq.insert_event('bench', m.type, m.payload, m.stream, NULL, NULL, NULL))
  FROM unnest($1::text[], $2::text[], $3::text[]) AS m (type, payload, stream)
