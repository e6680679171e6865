-- receptor_list: see functions/receptor_list.sql; behind the receptors one row that says how far positions are given
SELECT r.name, r.patterns, r.position, r.fed, r.registered_ms, r.head FROM pawl.receptor_list() r
UNION ALL
SELECT NULL, NULL, 0, 0, 0, pawl.events_head(NULL)
