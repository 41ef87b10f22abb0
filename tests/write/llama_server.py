"""Serves a GGUF model on loopback, as a program of its own: prints the address, and ends when its input does."""

from __future__ import annotations

import sys

import xllamacpp


def main(model: str) -> None:
    parameters = xllamacpp.CommonParams()
    parameters.model.path = model
    parameters.n_ctx = 4096
    parameters.n_parallel = 1
    # One thread is quicker than two on a busy machine of two cores.
    parameters.cpuparams.n_threads = 1
    parameters.cpuparams_batch.n_threads = 1
    parameters.warmup = False
    parameters.port = 0
    server = xllamacpp.Server(parameters)
    sys.stdout.write(f"{server.listening_address}\n")
    sys.stdout.flush()
    sys.stdin.read()


if __name__ == "__main__":
    main(sys.argv[1])
