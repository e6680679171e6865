-- stream_version: the version of a stream.
-- params: stream
SELECT version FROM stream WHERE stream = ?1
