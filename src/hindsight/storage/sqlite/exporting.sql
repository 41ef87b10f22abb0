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

-- orphans ------------------------------------------------------------------------------------------------------------

-- fragment: no_vector_entry
NOT EXISTS (SELECT 1 FROM memory AS m WHERE m.namespace = embedding.namespace AND m.id = embedding.entry_id)
AND NOT EXISTS (SELECT 1 FROM episode AS e WHERE e.namespace = embedding.namespace AND e.id = embedding.entry_id)

-- fragment: no_use_entry
NOT EXISTS (SELECT 1 FROM memory AS m WHERE m.namespace = use_count.namespace AND m.id = use_count.id)
AND NOT EXISTS (SELECT 1 FROM episode AS e WHERE e.namespace = use_count.namespace AND e.id = use_count.id)

-- fragment: no_review_memory
NOT EXISTS (SELECT 1 FROM memory AS m WHERE m.namespace = review.namespace AND m.id = review.memory_id)

-- name: count_lost_vectors
SELECT count(*) FROM embedding WHERE {no_vector_entry}

-- name: drop_lost_vectors
DELETE FROM embedding WHERE {no_vector_entry} RETURNING 1

-- name: count_lost_uses
SELECT count(*) FROM use_count WHERE {no_use_entry}

-- name: drop_lost_uses
DELETE FROM use_count WHERE {no_use_entry} RETURNING 1

-- name: count_lost_reviews
SELECT count(*) FROM review WHERE {no_review_memory}

-- name: drop_lost_reviews
DELETE FROM review WHERE {no_review_memory} RETURNING 1

-- name: count_lost_history
SELECT count(DISTINCT r.namespace || ' ' || r.memory_id) FROM revision AS r
WHERE NOT EXISTS (SELECT 1 FROM memory AS m WHERE m.namespace = r.namespace AND m.id = r.memory_id)

-- name: count_lost_memories
SELECT count(*) FROM memory AS m WHERE EXISTS (
    SELECT 1 FROM json_each(m.sources) AS s
    WHERE NOT EXISTS (
        SELECT 1 FROM episode AS e WHERE e.namespace = m.namespace AND e.id = json_extract(s.value, '$[0]')
    )
)
