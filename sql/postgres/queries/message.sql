-- message: putting and receiving messages, their lanes, and pauses.
-- calls: pause_clear, pause_set, put, receive_many, refuse_many, refused_remove, view_pauses, view_refused

-- name: put_one
-- params: id, stream, topic, type, payload, headers, correlation_id, causation_id, traceparent
SELECT pawl.send($4, $5, $2, $3, $6, $1, $7, $8, $9)
