-- backfill_streams: the next streams of a backfill.
-- params: after stream, limit
SELECT count(*), max(stream) FROM (SELECT stream FROM pawl_stream WHERE stream > coalesce(?1, '') ORDER BY stream LIMIT ?2)
