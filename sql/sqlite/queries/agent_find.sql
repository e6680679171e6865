-- agent_find: an agent by its name.
SELECT scopes, disabled FROM pawl_agent WHERE name = ?1
