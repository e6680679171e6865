-- peers_look: see functions/peers_look.sql
SELECT p.evicted, p.rebalance_wanted, p.believe_ms FROM pawl.peers_look($1) p
