"""Measures what hindsight promises: `python -m bench.NAME --data DIR [--json FILE]`.

`--data` is one set in the uniform format or a folder of such sets. Every run prints a table and writes
`{"key": {"metric": number}}`; `bench.results` gathers the runs into `RESULTS.md`.
"""
