-- agent_put: makes or changes an agent.
INSERT OR REPLACE INTO pawl_agent (name, scopes, disabled, updated_ms) VALUES (?1, ?2, ?3, ?4)
