-- partition_here: the partition of a stream in this schema; partition_of with its number of partitions as a constant.
-- params: p_key text: the stream, or the text form of the id of a message without one
-- returns: 0 … partition_count - 1
-- tables: none
-- locks: none
-- No search_path of its own, or the planner could not write it out where it is called; so every operator says whose it is.
CREATE OR REPLACE FUNCTION pawl.partition_here(p_key text) RETURNS integer
LANGUAGE sql IMMUTABLE PARALLEL SAFE
AS $$
    SELECT ((pg_catalog.hashtextextended(p_key, 0) OPERATOR(pg_catalog.%) pawl.partition_count()
             OPERATOR(pg_catalog.+) pawl.partition_count()
             OPERATOR(pg_catalog.+) CASE WHEN pg_catalog.hashtextextended(p_key, 0) OPERATOR(pg_catalog.<) 0
                                         THEN pawl.partition_wrap() ELSE 0 END)
            OPERATOR(pg_catalog.%) pawl.partition_count())::integer
$$;
