-- zero_damaged_pages_on: damaged pages are emptied instead of reported.
SELECT 'zero_damaged_pages is on' WHERE pg_catalog.current_setting('zero_damaged_pages') = 'on'
