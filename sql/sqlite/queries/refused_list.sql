-- refused_list: what came in and could not be taken.
-- params: after, limit
SELECT number, reason, consumer, topic, message_id, detail, payload, received_ms
  FROM pawl_refused WHERE number > ?1 ORDER BY number LIMIT ?2
