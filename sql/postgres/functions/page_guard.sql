-- page_guard: why a page is not let through.
-- params: p_run pawl.run, p_part pawl.run_partition: NULL when there is none; p_generation integer, p_page bigint: of the page
-- returns: 0 it is, 1 behind, 2 ahead, 3 of an old generation, 4 its partition is done, 5 its run is over, 7 there is no such page
-- tables: none
-- locks: none
CREATE OR REPLACE FUNCTION pawl.page_guard(p_run pawl.run, p_part pawl.run_partition, p_generation integer, p_page bigint)
    RETURNS smallint
LANGUAGE plpgsql IMMUTABLE
SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    RETURN CASE WHEN p_run.id IS NULL OR p_part.run IS NULL THEN 7
                WHEN p_part.state = 2 THEN 4
                WHEN p_part.state = 4 OR p_run.state NOT IN (1, 4, 6) THEN 5
                WHEN p_generation <> p_part.generation THEN 3
                WHEN p_page < p_part.page THEN 1
                WHEN p_page > p_part.page THEN 2
                ELSE 0 END;
END
$$;
