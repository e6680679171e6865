-- advance_links: see functions/advance_links.sql
SELECT l.traceparent FROM pawl.advance_links($1, $2, $3, $4, $5) l
