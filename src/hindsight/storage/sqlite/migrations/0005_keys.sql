-- Keys for callers over HTTP; of a secret only its digest.
CREATE TABLE api_key (
    id         TEXT NOT NULL PRIMARY KEY,
    name       TEXT NOT NULL,
    digest     TEXT NOT NULL,
    grants     TEXT NOT NULL, -- JSON array of [namespace, role]
    created_at INTEGER NOT NULL,
    expires_at INTEGER,
    revoked_at INTEGER,
    per_minute INTEGER
) STRICT, WITHOUT ROWID;
