-- dump_message: messages for the state dump.
SELECT kind, lane, id, stream, type, payload, consumer, put_ms FROM pawl_message ORDER BY kind, lane, seq
