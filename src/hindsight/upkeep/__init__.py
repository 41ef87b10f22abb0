"""Work that is done later and by itself: the job worker now; forgetting and consolidation hang on it."""
