-- What an export reads, in order of arrival; fragments are those of queries.sql.

-- name: kept_episodes
SELECT e.namespace, u.count, u.last_used, {episode}
FROM episode AS e LEFT JOIN use_count AS u ON u.namespace = e.namespace AND u.id = e.id
WHERE ?1 IS NULL OR e.namespace = ?1 ORDER BY e.seq

-- name: kept_memories
SELECT m.namespace, u.count, u.last_used, {memory}
FROM memory AS m LEFT JOIN use_count AS u ON u.namespace = m.namespace AND u.id = m.id
WHERE ?1 IS NULL OR m.namespace = ?1 ORDER BY m.seq

-- name: kept_sessions
SELECT namespace, id, active_at, ended_at FROM session WHERE ?1 IS NULL OR namespace = ?1 ORDER BY namespace, id

-- name: kept_variables
SELECT name, value, set_at, expires_at FROM working WHERE namespace = ?1 AND session_id = ?2 ORDER BY name

-- name: kept_reviews
SELECT namespace, memory_id, other_ids, reason, at, open FROM review
WHERE ?1 IS NULL OR namespace = ?1 ORDER BY namespace, at, memory_id

-- name: kept_jobs
SELECT {job} FROM job WHERE ?1 IS NULL OR namespace = ?1 ORDER BY seq

-- name: kept_vectors
SELECT v.namespace, v.entry_id, m.name, v.vector FROM embedding AS v CROSS JOIN model AS m ON m.number = v.model
WHERE ?1 IS NULL OR v.namespace = ?1 ORDER BY v.seq
