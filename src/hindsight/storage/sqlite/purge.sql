-- Taking memories out for good, and knowing them again.

-- name: resting
SELECT {memory} FROM memory AS m WHERE m.namespace = ?1 AND m.seq IN (
    SELECT s.memory FROM json_each(?2) AS wanted
    CROSS JOIN episode AS e ON e.namespace = ?1 AND e.id = wanted.value
    CROSS JOIN memory_source AS s ON s.episode = e.seq
)
ORDER BY m.id

-- name: states
SELECT r.snapshot FROM json_each(?2) AS wanted
CROSS JOIN revision AS r ON r.namespace = ?1 AND r.memory_id = wanted.value
ORDER BY r.seq

-- name: telling
SELECT {memory} FROM memory AS m
WHERE m.namespace = ?1 AND m.kind IN ('summary', 'experience')
AND EXISTS (SELECT 1 FROM json_each(?2) AS wanted WHERE instr(m.metadata, wanted.value) OR instr(m.body, wanted.value))
ORDER BY m.id

-- name: count_links
SELECT
    (SELECT count(*) FROM memory_tag WHERE memory IN (SELECT value FROM json_each(?1)))
    + (SELECT count(*) FROM memory_entity WHERE memory IN (SELECT value FROM json_each(?1)))
    + (SELECT count(*) FROM memory_topic WHERE memory IN (SELECT value FROM json_each(?1)))
    + (SELECT count(*) FROM memory_source WHERE memory IN (SELECT value FROM json_each(?1)))

-- name: memory_numbers
SELECT m.seq FROM json_each(?2) AS wanted CROSS JOIN memory AS m ON m.namespace = ?1 AND m.id = wanted.value

-- name: delete_memories
-- What hangs on the rows goes with them (ON DELETE CASCADE).
DELETE FROM memory WHERE seq IN (SELECT value FROM json_each(?1))

-- name: delete_revisions
DELETE FROM revision WHERE namespace = ?1 AND memory_id IN (SELECT value FROM json_each(?2)) RETURNING seq

-- name: revisions_of
SELECT r.seq, r.snapshot FROM json_each(?2) AS wanted
CROSS JOIN revision AS r ON r.namespace = ?1 AND r.memory_id = wanted.value

-- name: rewrite_revision
UPDATE revision SET snapshot = ?2 WHERE seq = ?1

-- name: delete_revision
DELETE FROM revision WHERE seq = ?1

-- name: delete_vectors
DELETE FROM embedding WHERE namespace = ?1 AND entry_id IN (SELECT value FROM json_each(?2)) RETURNING seq

-- name: blank_episode
UPDATE episode SET content = ?3, metadata = ?4, key = ?5 WHERE namespace = ?1 AND id = ?2

-- name: all_reviews
SELECT memory_id, other_ids FROM review WHERE namespace = ?1

-- name: delete_review
DELETE FROM review WHERE namespace = ?1 AND memory_id = ?2

-- name: shorten_review
UPDATE review SET other_ids = ?3, reason = '' WHERE namespace = ?1 AND memory_id = ?2

-- name: delete_uses
DELETE FROM use_count WHERE namespace = ?1 AND id IN (SELECT value FROM json_each(?2)) RETURNING id

-- name: receipts
-- Looked through in Python, which finds hundreds of words in a text ten times as fast as `instr` does.
SELECT key, receipt FROM applied_batch WHERE namespace = ?1

-- name: rewrite_receipt
UPDATE applied_batch SET receipt = ?3 WHERE namespace = ?1 AND key = ?2

-- name: trace_bodies
SELECT seq, body FROM trace WHERE namespace = ?1

-- name: delete_trace
DELETE FROM trace WHERE seq = ?1

-- name: delete_jobs_with
DELETE FROM job
WHERE namespace = ?1 AND EXISTS (SELECT 1 FROM json_each(?2) AS needle WHERE instr(payload, needle.value))
RETURNING seq

-- name: quiet_jobs_with
UPDATE job SET last_error = NULL
WHERE namespace = ?1 AND EXISTS (SELECT 1 FROM json_each(?2) AS needle WHERE instr(last_error, needle.value))
RETURNING seq

-- name: delete_variables_with
DELETE FROM working
WHERE namespace = ?1 AND EXISTS (SELECT 1 FROM json_each(?2) AS needle WHERE instr(working.value, needle.value))
RETURNING name

-- name: lay_stone
INSERT OR IGNORE INTO purged (namespace, id, at, removed) VALUES (?, ?, ?, ?)

-- name: lay_mark
INSERT OR IGNORE INTO purged_key (namespace, mark) VALUES (?, ?)

-- name: stones
SELECT p.id, p.at, p.removed FROM json_each(?2) AS wanted
CROSS JOIN purged AS p ON p.namespace = ?1 AND p.id = wanted.value

-- name: all_stones
SELECT id, at, removed FROM purged WHERE namespace = ?1 ORDER BY at, id

-- name: stones_since
SELECT id FROM purged WHERE namespace = ?1 AND at >= ?2

-- name: marked
SELECT wanted.value FROM json_each(?2) AS wanted
WHERE EXISTS (SELECT 1 FROM purged_key WHERE namespace = ?1 AND mark = wanted.value)
OR EXISTS (SELECT 1 FROM episode WHERE namespace = ?1 AND key = wanted.value)

-- name: hidden
SELECT namespace, id, NULL FROM memory WHERE status = 'forgotten' AND updated_at <= ?1
UNION ALL
SELECT namespace, id, json_extract(metadata, '$.purge_after') FROM memory
WHERE status = 'archived' AND instr(metadata, '"purge_after"')
UNION ALL
SELECT e.namespace, e.id, NULL FROM episode AS e
WHERE e.state = 'forgotten' AND e.state_since <= ?1 AND e.content <> '' AND NOT EXISTS (
    SELECT 1 FROM memory_source AS s CROSS JOIN memory AS m ON m.seq = s.memory
    WHERE s.episode = e.seq AND (m.status <> 'forgotten' OR m.updated_at > ?1)
)

-- name: drop_setting
DELETE FROM setting WHERE name = ?1 AND value = ?2
