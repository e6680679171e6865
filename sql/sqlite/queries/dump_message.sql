-- dump_message: messages for the state dump.
SELECT kind, lane, id, stream, type, payload, consumer, put_ms FROM message ORDER BY kind, lane, seq
