-- Keys of callers.

-- name: put_key
INSERT INTO api_key (id, name, digest, grants, created_at, expires_at, revoked_at, per_minute)
VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)
ON CONFLICT (id) DO UPDATE SET revoked_at = coalesce(revoked_at, excluded.revoked_at)

-- name: keys
SELECT id, name, digest, grants, created_at, expires_at, revoked_at, per_minute FROM api_key ORDER BY created_at, id

-- name: key
SELECT id, name, digest, grants, created_at, expires_at, revoked_at, per_minute FROM api_key WHERE id = ?1

-- schedule -----------------------------------------------------------------------------------------------------------
