"""Pure text, Chinese and English alike: shared by writing, searching and the indexes. No I/O."""
