-- Sessions and the variables of running tasks.

-- name: wake_session
INSERT INTO session (namespace, id, active_at) VALUES (?, ?, ?)
ON CONFLICT (namespace, id) DO UPDATE SET active_at = max(active_at, excluded.active_at), ended_at = NULL

-- name: session_row
SELECT id, active_at, ended_at FROM session WHERE namespace = ?1 AND id = ?2

-- name: sessions
SELECT id, active_at, ended_at FROM session WHERE namespace = ?1 ORDER BY active_at DESC, id DESC LIMIT ?2

-- name: idle_sessions
SELECT namespace, id, active_at, ended_at FROM session
WHERE ended_at IS NULL AND active_at < ?1 ORDER BY active_at, namespace, id LIMIT ?2

-- name: end_session
UPDATE session SET ended_at = ?3 WHERE namespace = ?1 AND id = ?2

-- name: put_variable
INSERT INTO working (namespace, session_id, name, value, set_at, expires_at) VALUES (?, ?, ?, ?, ?, ?)
ON CONFLICT (namespace, session_id, name) DO UPDATE SET
    value = excluded.value, set_at = excluded.set_at, expires_at = excluded.expires_at

-- name: drop_variable
DELETE FROM working WHERE namespace = ?1 AND session_id = ?2 AND name = ?3

-- name: drop_variables
DELETE FROM working WHERE namespace = ?1 AND session_id = ?2

-- name: variables
SELECT name, value, set_at, expires_at FROM working
WHERE namespace = ?1 AND session_id = ?2 AND (expires_at IS NULL OR expires_at > ?3) ORDER BY name

-- name: last_turns
SELECT {episode} FROM episode AS e
WHERE e.namespace = ?1 AND e.session_id = ?2 AND e.state <> 'forgotten' ORDER BY e.position DESC LIMIT ?3

-- purging ------------------------------------------------------------------------------------------------------------
