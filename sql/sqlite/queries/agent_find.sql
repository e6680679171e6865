-- agent_find: an agent by its name.
SELECT scopes, disabled FROM agent WHERE name = ?1
