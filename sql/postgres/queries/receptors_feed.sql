-- receptors_feed: see functions/receptors_feed.sql
SELECT f.known, f.events, f.fed, f.more FROM pawl.receptors_feed($1, $2) f
