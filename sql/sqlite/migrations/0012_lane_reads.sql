-- lane_reads: ids of waiting messages are indexed lane by lane. A claim ends a stretch of one lane: in an index over all
-- lanes its ids lie on as many pages as it has messages, and every commit wrote them all.
DROP INDEX pawl_message_id;
CREATE INDEX pawl_message_id ON pawl_message (lane, id);
