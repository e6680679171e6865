-- free_pages: most of the file is empty, and it is not small.
SELECT f.freelist_count || ' of ' || p.page_count || ' pages are free' FROM pragma_freelist_count f, pragma_page_count p
 WHERE f.freelist_count > 5000 AND f.freelist_count * 2 > p.page_count
