-- Times are whole microseconds since 1970 in UTC. Columns that hold JSON say so.
-- `seq` is the order of arrival; ids are what the outside knows, and are unique within their namespace only.

CREATE TABLE setting (
    name  TEXT NOT NULL PRIMARY KEY,
    value TEXT NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE namespace (
    name   TEXT NOT NULL PRIMARY KEY,
    change INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE episode (
    seq         INTEGER PRIMARY KEY,
    namespace   TEXT NOT NULL,
    id          TEXT NOT NULL,
    content     TEXT NOT NULL,
    occurred_at INTEGER NOT NULL,
    recorded_at INTEGER NOT NULL,
    timezone    TEXT NOT NULL,
    key         TEXT NOT NULL,
    session_id  TEXT,
    position    INTEGER NOT NULL,
    role        TEXT NOT NULL,
    speaker     TEXT,
    agent       TEXT,
    tool        TEXT,
    metadata    TEXT NOT NULL, -- JSON object
    state       TEXT NOT NULL,
    state_since INTEGER NOT NULL
) STRICT;
CREATE UNIQUE INDEX episode_id ON episode (namespace, id);
CREATE UNIQUE INDEX episode_key ON episode (namespace, key);
CREATE UNIQUE INDEX episode_position ON episode (namespace, session_id, position);
-- NULLs are all different to a unique index, so the episodes without a session have their own.
CREATE UNIQUE INDEX episode_loose_position ON episode (namespace, position) WHERE session_id IS NULL;
CREATE INDEX episode_age ON episode (namespace, recorded_at, id);

CREATE TABLE memory (
    seq           INTEGER PRIMARY KEY,
    namespace     TEXT NOT NULL,
    id            TEXT NOT NULL,
    content       TEXT NOT NULL,
    layer         TEXT NOT NULL,
    kind          TEXT NOT NULL,
    occurred_at   INTEGER NOT NULL,
    timezone      TEXT NOT NULL,
    created_at    INTEGER NOT NULL,
    updated_at    INTEGER NOT NULL,
    content_key   TEXT NOT NULL,
    body          TEXT NOT NULL, -- JSON object: a statement, or an experience (has `trigger`)
    status        TEXT NOT NULL,
    importance    REAL NOT NULL,
    confidence    REAL NOT NULL,
    strength      REAL NOT NULL,
    pinned        INTEGER NOT NULL,
    verbatim      INTEGER NOT NULL,
    origin        TEXT NOT NULL,
    valid_from    INTEGER,
    valid_to      INTEGER,
    superseded_by TEXT,
    session_id    TEXT,
    speaker       TEXT,
    agent         TEXT,
    tags          TEXT NOT NULL, -- JSON array, in order
    entities      TEXT NOT NULL, -- JSON array, in order
    sources       TEXT NOT NULL, -- JSON array of [episode id, start, end], in order
    metadata      TEXT NOT NULL, -- JSON object
    version       INTEGER NOT NULL,
    position      INTEGER NOT NULL, -- of the first source in its session; -1: none
    trust         REAL NOT NULL -- confidence, or an experience's record; what filters ask about
) STRICT;
CREATE UNIQUE INDEX memory_id ON memory (namespace, id);
CREATE UNIQUE INDEX memory_content_key ON memory (namespace, content_key) WHERE status = 'active';
CREATE INDEX memory_short_id ON memory (namespace, substr(id, -8));
CREATE INDEX memory_age ON memory (namespace, created_at, id);

-- Look-up tables beside the JSON columns of `memory`, written with them.
CREATE TABLE memory_tag (
    namespace TEXT NOT NULL,
    tag       TEXT NOT NULL,
    memory    INTEGER NOT NULL REFERENCES memory (seq) ON DELETE CASCADE,
    PRIMARY KEY (namespace, tag, memory)
) STRICT, WITHOUT ROWID;
CREATE INDEX memory_tag_memory ON memory_tag (memory);

CREATE TABLE memory_entity (
    namespace TEXT NOT NULL,
    entity    TEXT NOT NULL,
    memory    INTEGER NOT NULL REFERENCES memory (seq) ON DELETE CASCADE,
    PRIMARY KEY (namespace, entity, memory)
) STRICT, WITHOUT ROWID;
CREATE INDEX memory_entity_memory ON memory_entity (memory);

-- What statements are about; superseded ones too, since a change of status does not touch it.
CREATE TABLE memory_topic (
    namespace TEXT NOT NULL,
    topic     TEXT NOT NULL,
    memory    INTEGER NOT NULL REFERENCES memory (seq) ON DELETE CASCADE,
    PRIMARY KEY (namespace, topic, memory)
) STRICT, WITHOUT ROWID;
CREATE INDEX memory_topic_memory ON memory_topic (memory);

CREATE TABLE memory_source (
    episode INTEGER NOT NULL REFERENCES episode (seq),
    memory  INTEGER NOT NULL REFERENCES memory (seq) ON DELETE CASCADE,
    PRIMARY KEY (episode, memory)
) STRICT, WITHOUT ROWID;
CREATE INDEX memory_source_memory ON memory_source (memory);

-- Contradictions that only the user can decide.
CREATE TABLE review (
    namespace TEXT NOT NULL,
    memory_id TEXT NOT NULL,
    other_ids TEXT NOT NULL, -- JSON array
    reason    TEXT NOT NULL,
    at        INTEGER NOT NULL,
    open      INTEGER NOT NULL,
    PRIMARY KEY (namespace, memory_id)
) STRICT, WITHOUT ROWID;

CREATE TABLE model (
    number INTEGER PRIMARY KEY,
    name   TEXT NOT NULL UNIQUE
) STRICT;

CREATE TABLE embedding (
    seq       INTEGER PRIMARY KEY,
    namespace TEXT NOT NULL,
    entry_id  TEXT NOT NULL,
    model     INTEGER NOT NULL REFERENCES model (number),
    vector    BLOB NOT NULL -- float16, little-endian
) STRICT;
CREATE UNIQUE INDEX embedding_entry ON embedding (namespace, entry_id, model);

-- Every state each memory ever had.
CREATE TABLE revision (
    seq       INTEGER PRIMARY KEY,
    namespace TEXT NOT NULL,
    change    INTEGER NOT NULL,
    memory_id TEXT NOT NULL,
    at        INTEGER NOT NULL,
    act       TEXT NOT NULL,
    reason    TEXT NOT NULL,
    other_ids TEXT NOT NULL, -- JSON array
    actor     TEXT NOT NULL,
    snapshot  TEXT NOT NULL -- JSON object: the whole memory by column
) STRICT;
CREATE INDEX revision_memory ON revision (namespace, memory_id, seq);
CREATE INDEX revision_change ON revision (namespace, change, seq);

-- One row a batch: which index entries it touched, and the state of its episodes before. Ids only, no text.
CREATE TABLE change_log (
    namespace TEXT NOT NULL,
    change    INTEGER NOT NULL,
    at        INTEGER NOT NULL,
    entries   TEXT NOT NULL, -- JSON array of ids
    episodes  TEXT NOT NULL, -- JSON array of [id, state before or null]
    PRIMARY KEY (namespace, change)
) STRICT, WITHOUT ROWID;

CREATE TABLE applied_batch (
    namespace TEXT NOT NULL,
    key       TEXT NOT NULL,
    change    INTEGER NOT NULL,
    receipt   TEXT NOT NULL, -- JSON object
    PRIMARY KEY (namespace, key)
) STRICT, WITHOUT ROWID;

CREATE TABLE job (
    seq         INTEGER PRIMARY KEY,
    namespace   TEXT NOT NULL,
    id          TEXT NOT NULL UNIQUE,
    kind        TEXT NOT NULL,
    payload     TEXT NOT NULL, -- JSON object
    state       TEXT NOT NULL,
    run_at      INTEGER NOT NULL,
    attempts    INTEGER NOT NULL,
    owner       TEXT,
    lease_until INTEGER,
    last_error  TEXT,
    dedup_key   TEXT
) STRICT;
CREATE INDEX job_namespace ON job (namespace, seq);
CREATE UNIQUE INDEX job_dedup ON job (namespace, dedup_key) WHERE state IN ('ready', 'leased');

-- Beside the truth: may be lost in a crash, no change number.
CREATE TABLE use_count (
    namespace TEXT NOT NULL,
    id        TEXT NOT NULL,
    count     INTEGER NOT NULL,
    last_used INTEGER NOT NULL,
    PRIMARY KEY (namespace, id)
) STRICT, WITHOUT ROWID;

CREATE TABLE trace (
    seq       INTEGER PRIMARY KEY,
    namespace TEXT NOT NULL,
    id        TEXT NOT NULL,
    at        INTEGER NOT NULL,
    body      TEXT NOT NULL -- JSON object
) STRICT;
CREATE UNIQUE INDEX trace_id ON trace (namespace, id);
CREATE INDEX trace_age ON trace (namespace, seq);

-- For people: `sqlite3 memory.db 'SELECT * FROM memories'`. Needs nothing newer than SQLite 3.38.
CREATE VIEW memories AS
SELECT
    m.id,
    m.content,
    m.kind,
    m.layer,
    m.importance,
    m.trust AS confidence,
    coalesce(
        json_extract(m.body, '$.outcome.successes') + json_extract(m.body, '$.outcome.failures'), u.count, 0
    ) AS call_count,
    strftime('%Y-%m-%dT%H:%M:%S', m.created_at / 1000000 - (m.created_at % 1000000 < 0), 'unixepoch')
        || printf('.%06dZ', (m.created_at % 1000000 + 1000000) % 1000000) AS created_at,
    strftime('%Y-%m-%dT%H:%M:%S', m.updated_at / 1000000 - (m.updated_at % 1000000 < 0), 'unixepoch')
        || printf('.%06dZ', (m.updated_at % 1000000 + 1000000) % 1000000) AS updated_at,
    m.session_id,
    m.tags,
    m.status,
    m.namespace
FROM memory AS m LEFT JOIN use_count AS u ON u.namespace = m.namespace AND u.id = m.id;
