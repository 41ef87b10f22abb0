-- Statements by name. `{name}` stands for a fragment of this file, never for anything from outside; values are bound.
-- Lists are bound as one JSON array, so each statement has one text however long the list is.

-- fragment: memory
m.id, m.content, m.layer, m.kind, m.occurred_at, m.timezone, m.created_at, m.updated_at, m.content_key, m.body, m.status,
m.importance, m.confidence, m.strength, m.pinned, m.verbatim, m.origin, m.valid_from, m.valid_to, m.superseded_by,
m.session_id, m.speaker, m.agent, m.tags, m.entities, m.sources, m.metadata, m.version

-- fragment: memory_entry
m.id, m.content, m.layer, m.kind, m.occurred_at, m.status, m.importance * m.strength, m.confidence, m.valid_from, m.valid_to,
m.session_id, m.position, m.speaker, m.tags, m.entities, m.pinned, m.sources, m.origin, m.body

-- fragment: episode
e.id, e.content, e.occurred_at, e.recorded_at, e.timezone, e.key, e.session_id, e.position, e.role, e.speaker, e.agent,
e.tool, e.metadata, e.state, e.state_since

-- fragment: job
id, namespace, kind, payload, state, run_at, attempts, owner, lease_until, last_error, dedup_key

-- fragment: revision
change, at, act, reason, other_ids, actor, snapshot

-- reading ------------------------------------------------------------------------------------------------------------

-- name: head
SELECT change FROM namespace WHERE name = ?1

-- name: namespaces
SELECT name FROM namespace WHERE change > 0 ORDER BY name

-- name: touched
SELECT change, entries, at FROM change_log WHERE namespace = ?1 AND change > ?2 ORDER BY change LIMIT ?3

-- name: memories
SELECT {memory} FROM json_each(?2) AS wanted CROSS JOIN memory AS m ON m.namespace = ?1 AND m.id = wanted.value

-- name: memory_entries
SELECT {memory_entry} FROM json_each(?2) AS wanted CROSS JOIN memory AS m ON m.namespace = ?1 AND m.id = wanted.value

-- name: memories_by_content_key
SELECT {memory} FROM json_each(?2) AS wanted
CROSS JOIN memory AS m ON m.namespace = ?1 AND m.content_key = wanted.value AND m.status = 'active'

-- name: memories_about
SELECT wanted.value, m.id FROM json_each(?2) AS wanted
CROSS JOIN memory AS m ON m.seq IN (
    SELECT t.memory FROM memory_topic AS t CROSS JOIN memory AS a ON a.seq = t.memory AND a.status = 'active'
    WHERE t.namespace = ?1 AND t.topic = wanted.value ORDER BY t.memory DESC LIMIT ?3
)
ORDER BY m.seq DESC

-- name: reviews
SELECT r.memory_id, r.other_ids, r.reason, r.at, r.open FROM review AS r
WHERE r.namespace = ?1 AND ?2 = (
    r.open
    AND EXISTS (SELECT 1 FROM memory AS m WHERE m.namespace = ?1 AND m.id = r.memory_id AND m.status = 'active')
    AND EXISTS (
        SELECT 1 FROM json_each(r.other_ids) AS other
        CROSS JOIN memory AS o ON o.namespace = ?1 AND o.id = other.value AND o.status = 'active'
    )
)
ORDER BY r.at, r.memory_id

-- name: whole_id
SELECT id FROM memory WHERE namespace = ?1 AND id = ?2
UNION ALL SELECT id FROM episode WHERE namespace = ?1 AND id = ?2 LIMIT 1

-- name: ids_by_short_id
-- Without a word on the index the planner walks all ids of the namespace in order: 39 ms at 200,000 of them.
SELECT id FROM memory INDEXED BY memory_short_id WHERE namespace = ?1 AND substr(id, -8) = ?2
UNION SELECT id FROM episode INDEXED BY episode_short_id WHERE namespace = ?1 AND substr(id, -8) = ?2
ORDER BY id LIMIT 5

-- name: episodes
SELECT {episode} FROM json_each(?2) AS wanted CROSS JOIN episode AS e ON e.namespace = ?1 AND e.id = wanted.value

-- name: visible_episodes
SELECT {episode} FROM json_each(?2) AS wanted
CROSS JOIN episode AS e ON e.namespace = ?1 AND e.id = wanted.value AND e.state <> 'covered'

-- name: episode_ids_by_key
SELECT e.key, e.id FROM json_each(?2) AS wanted CROSS JOIN episode AS e ON e.namespace = ?1 AND e.key = wanted.value

-- name: session
SELECT {episode} FROM episode AS e
WHERE e.namespace = ?1 AND e.session_id = ?2 AND e.position > ?3 ORDER BY e.position LIMIT ?4

-- name: memories_of
SELECT e.id, m.id FROM json_each(?2) AS wanted
CROSS JOIN episode AS e ON e.namespace = ?1 AND e.id = wanted.value
CROSS JOIN memory_source AS s ON s.episode = e.seq
CROSS JOIN memory AS m ON m.seq = s.memory
ORDER BY m.created_at, m.id

-- name: vectors
SELECT v.entry_id, v.vector FROM json_each(?2) AS wanted
CROSS JOIN embedding AS v
ON v.namespace = ?1 AND v.entry_id = wanted.value AND v.model = (SELECT number FROM model WHERE name = ?3)

-- name: unembedded
SELECT m.id AS id, m.created_at AS born FROM memory AS m
WHERE m.namespace = ?1 AND m.status = 'active' AND NOT EXISTS (
    SELECT 1 FROM embedding AS v
    WHERE v.namespace = ?1 AND v.entry_id = m.id AND v.model = (SELECT number FROM model WHERE name = ?2)
)
UNION ALL
SELECT e.id, e.recorded_at FROM episode AS e
WHERE e.namespace = ?1 AND e.state = 'open' AND NOT EXISTS (
    SELECT 1 FROM embedding AS v
    WHERE v.namespace = ?1 AND v.entry_id = e.id AND v.model = (SELECT number FROM model WHERE name = ?2)
)
ORDER BY born, id LIMIT ?3

-- name: history
SELECT {revision} FROM revision WHERE namespace = ?1 AND memory_id = ?2 ORDER BY seq

-- name: revisions_of_change
SELECT {revision} FROM revision WHERE namespace = ?1 AND change = ?2 ORDER BY seq

-- name: changed_by_key
SELECT l.change, l.episodes, l.entries FROM applied_batch AS b
CROSS JOIN change_log AS l ON l.namespace = b.namespace AND l.change = b.change
WHERE b.namespace = ?1 AND b.key = ?2

-- name: count_episodes
SELECT count(*), count(DISTINCT session_id) FROM episode WHERE namespace = ?1

-- name: count_memories
SELECT status, kind, layer, count(*) FROM memory WHERE namespace = ?1 GROUP BY status, kind, layer

-- name: setting
SELECT value FROM setting WHERE name = ?1

-- applying -----------------------------------------------------------------------------------------------------------

-- name: applied
SELECT change, receipt FROM applied_batch WHERE namespace = ?1 AND key = ?2

-- name: next_change
INSERT INTO namespace (name, change) VALUES (?1, 1)
ON CONFLICT (name) DO UPDATE SET change = change + 1
RETURNING change

-- name: last_position
SELECT max(position) FROM episode WHERE namespace = ?1 AND session_id = ?2

-- name: last_loose_position
SELECT max(position) FROM episode WHERE namespace = ?1 AND session_id IS NULL

-- name: episode_places
SELECT e.id, e.seq, e.position, e.state FROM json_each(?2) AS wanted
CROSS JOIN episode AS e ON e.namespace = ?1 AND e.id = wanted.value

-- name: insert_episode
INSERT INTO episode (
    namespace, id, content, occurred_at, recorded_at, timezone, key, session_id, position, role, speaker, agent, tool,
    metadata, state, state_since
) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)

-- name: position_taken
SELECT 1 FROM episode WHERE namespace = ?1 AND session_id IS ?2 AND position = ?3

-- name: move_episode
UPDATE episode SET state = ?3, state_since = coalesce(
    (
        SELECT max(m.valid_to) FROM memory_source AS s CROSS JOIN memory AS m ON m.seq = s.memory
        WHERE ?3 = 'closed' AND s.episode = episode.seq AND m.status = 'superseded'
    ),
    ?4
)
WHERE namespace = ?1 AND id = ?2 AND state <> ?3

-- name: stored_memories
SELECT m.seq, {memory} FROM json_each(?2) AS wanted CROSS JOIN memory AS m ON m.namespace = ?1 AND m.id = wanted.value

-- name: vacate_content_key
UPDATE memory SET content_key = 'moving ' || id WHERE seq = ?1

-- name: put_memory
INSERT INTO memory (
    seq, namespace, id, content, layer, kind, occurred_at, timezone, created_at, updated_at, content_key, body, status,
    importance, confidence, strength, pinned, verbatim, origin, valid_from, valid_to, superseded_by, session_id,
    speaker, agent, tags, entities, sources, metadata, version, position, trust
) VALUES (
    ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?
)
ON CONFLICT (seq) DO UPDATE SET
    content = excluded.content, layer = excluded.layer, kind = excluded.kind, occurred_at = excluded.occurred_at,
    timezone = excluded.timezone, created_at = excluded.created_at, updated_at = excluded.updated_at,
    content_key = excluded.content_key, body = excluded.body, status = excluded.status,
    importance = excluded.importance, confidence = excluded.confidence, strength = excluded.strength,
    pinned = excluded.pinned, verbatim = excluded.verbatim, origin = excluded.origin,
    valid_from = excluded.valid_from, valid_to = excluded.valid_to, superseded_by = excluded.superseded_by,
    session_id = excluded.session_id, speaker = excluded.speaker, agent = excluded.agent, tags = excluded.tags,
    entities = excluded.entities, sources = excluded.sources, metadata = excluded.metadata,
    version = excluded.version, position = excluded.position, trust = excluded.trust

-- name: last_memory_seq
SELECT max(seq) FROM memory

-- name: put_review
INSERT INTO review (namespace, memory_id, other_ids, reason, at, open) VALUES (?, ?, ?, ?, ?, ?)
ON CONFLICT (namespace, memory_id) DO UPDATE SET
    other_ids = excluded.other_ids, reason = excluded.reason, at = excluded.at, open = excluded.open

-- name: drop_topics
DELETE FROM memory_topic WHERE memory = ?1

-- name: insert_topic
INSERT OR IGNORE INTO memory_topic (namespace, topic, memory) VALUES (?, ?, ?)

-- name: drop_tags
DELETE FROM memory_tag WHERE memory = ?1

-- name: drop_entities
DELETE FROM memory_entity WHERE memory = ?1

-- name: drop_sources
DELETE FROM memory_source WHERE memory = ?1

-- name: insert_tag
INSERT OR IGNORE INTO memory_tag (namespace, tag, memory) VALUES (?, ?, ?)

-- name: insert_entity
INSERT OR IGNORE INTO memory_entity (namespace, entity, memory) VALUES (?, ?, ?)

-- name: insert_source
INSERT OR IGNORE INTO memory_source (episode, memory) VALUES (?, ?)

-- name: insert_revision
INSERT INTO revision (namespace, change, memory_id, at, act, reason, other_ids, actor, snapshot)
VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)

-- name: absent_entries
SELECT wanted.value FROM json_each(?2) AS wanted
WHERE NOT EXISTS (SELECT 1 FROM memory WHERE namespace = ?1 AND id = wanted.value)
AND NOT EXISTS (SELECT 1 FROM episode WHERE namespace = ?1 AND id = wanted.value)

-- name: drop_vectors
DELETE FROM embedding WHERE namespace = ?1 AND entry_id = ?2

-- name: add_model
INSERT OR IGNORE INTO model (name) VALUES (?1)

-- name: model_number
SELECT number FROM model WHERE name = ?1

-- name: put_vector
INSERT INTO embedding (namespace, entry_id, model, vector) VALUES (?, ?, ?, ?)
ON CONFLICT (namespace, entry_id, model) DO UPDATE SET vector = excluded.vector

-- name: insert_change
INSERT INTO change_log (namespace, change, at, entries, episodes) VALUES (?, ?, ?, ?, ?)

-- name: insert_applied
INSERT INTO applied_batch (namespace, key, change, receipt) VALUES (?, ?, ?, ?)

-- name: put_setting
INSERT INTO setting (name, value) VALUES (?1, ?2) ON CONFLICT (name) DO UPDATE SET value = excluded.value

-- jobs ---------------------------------------------------------------------------------------------------------------

-- name: insert_job
INSERT INTO job (namespace, id, kind, payload, state, run_at, attempts, owner, lease_until, dedup_key)
VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
ON CONFLICT (namespace, dedup_key) WHERE state IN ('ready', 'leased') DO NOTHING

-- name: finish_job
DELETE FROM job WHERE namespace = ?1 AND id = ?2 AND owner = ?3 AND state = 'leased' RETURNING id

-- name: due_job
SELECT seq FROM job
WHERE kind IN (SELECT value FROM json_each(?1))
AND ((state = 'ready' AND run_at <= ?2) OR (state = 'leased' AND lease_until <= ?2))
ORDER BY seq LIMIT 1

-- name: lease_job
UPDATE job SET state = 'leased', attempts = attempts + 1, owner = ?3, lease_until = ?4
WHERE seq = (
    SELECT seq FROM job
    WHERE kind IN (SELECT value FROM json_each(?1))
    AND ((state = 'ready' AND run_at <= ?2) OR (state = 'leased' AND lease_until <= ?2))
    ORDER BY seq LIMIT 1
)
RETURNING {job}

-- name: renew_job
UPDATE job SET lease_until = ?3 WHERE id = ?1 AND owner = ?2 AND state = 'leased' RETURNING id

-- name: fail_job
UPDATE job
SET state = iif(?4 IS NULL, 'dead', 'ready'), run_at = coalesce(?4, run_at), last_error = ?3, owner = NULL,
    lease_until = NULL
WHERE id = ?1 AND owner = ?2 AND state = 'leased' RETURNING id

-- name: jobs
SELECT {job} FROM job WHERE namespace = ?1 ORDER BY seq

-- beside the truth ---------------------------------------------------------------------------------------------------

-- name: uses
SELECT u.id, u.count, u.last_used FROM json_each(?2) AS wanted
CROSS JOIN use_count AS u ON u.namespace = ?1 AND u.id = wanted.value

-- name: add_use
INSERT INTO use_count (namespace, id, count, last_used) VALUES (?, ?, ?, ?)
ON CONFLICT (namespace, id) DO UPDATE
SET count = count + excluded.count, last_used = max(last_used, excluded.last_used)

-- name: keep_use
INSERT INTO use_count (namespace, id, count, last_used) VALUES (?, ?, ?, ?) ON CONFLICT (namespace, id) DO NOTHING

-- name: keep_session
INSERT INTO session (namespace, id, active_at, ended_at) VALUES (?, ?, ?, ?)
ON CONFLICT (namespace, id) DO NOTHING RETURNING id

-- name: put_trace
INSERT OR REPLACE INTO trace (namespace, id, at, body) VALUES (?, ?, ?, ?)

-- name: trim_traces
DELETE FROM trace WHERE namespace = ?1
AND seq <= (SELECT seq FROM trace WHERE namespace = ?1 ORDER BY seq DESC LIMIT 1 OFFSET ?2)

-- name: drop_traces_before
DELETE FROM trace WHERE at < ?1

-- name: trace
SELECT body FROM trace WHERE namespace = ?1 AND id = ?2

-- name: traces
SELECT id, body FROM trace WHERE namespace = ?1 ORDER BY seq DESC LIMIT ?2

-- sessions -----------------------------------------------------------------------------------------------------------

-- name: scheduled
SELECT name, cron, due, last FROM schedule ORDER BY name

-- name: put_scheduled
INSERT INTO schedule (name, cron, due, last) SELECT ?1, ?2, ?3, ?4
WHERE ?5 IS (SELECT due FROM schedule WHERE name = ?1)
ON CONFLICT (name) DO UPDATE SET cron = excluded.cron, due = excluded.due, last = excluded.last
RETURNING name

-- name: close_job
DELETE FROM job WHERE id = ?1 AND owner = ?2 AND state = 'leased' RETURNING id

-- name: cancel_job
DELETE FROM job WHERE namespace = ?1 AND id = ?2 RETURNING {job}
