-- dump_messages: section 5 of the state dump.
SELECT m.kind::integer, m.lane, m.id, m.stream, m.type, m.payload, m.consumer, m.put_ms
  FROM pawl.message m ORDER BY m.kind, m.lane, m.seq
