-- A turn is named by its short id too, as a memory is.
CREATE INDEX episode_short_id ON episode (namespace, substr(id, -8));
