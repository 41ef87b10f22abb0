-- When each session was last active. Those of before this step have ended: no job starts for them.
CREATE TABLE session (
    namespace TEXT NOT NULL,
    id        TEXT NOT NULL,
    active_at INTEGER NOT NULL,
    ended_at  INTEGER,
    PRIMARY KEY (namespace, id)
) STRICT, WITHOUT ROWID;
CREATE INDEX session_recent ON session (namespace, active_at, id);
CREATE INDEX session_idle ON session (active_at, namespace, id) WHERE ended_at IS NULL;
INSERT INTO session (namespace, id, active_at, ended_at)
SELECT namespace, session_id, max(recorded_at), max(recorded_at) FROM episode
WHERE session_id IS NOT NULL GROUP BY namespace, session_id;

-- The variables of running tasks.
CREATE TABLE working (
    namespace  TEXT NOT NULL,
    session_id TEXT NOT NULL,
    name       TEXT NOT NULL,
    value      TEXT NOT NULL, -- JSON
    set_at     INTEGER NOT NULL,
    expires_at INTEGER,
    PRIMARY KEY (namespace, session_id, name)
) STRICT, WITHOUT ROWID;
