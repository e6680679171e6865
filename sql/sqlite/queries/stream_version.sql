-- stream_version: the version of a stream.
-- params: stream
SELECT version FROM pawl_stream WHERE stream = ?1
