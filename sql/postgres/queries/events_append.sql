-- events_append: see functions/events_append.sql
SELECT a.answer, a.version, a.first_version, a.id_known
  FROM pawl.events_append($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12) a
