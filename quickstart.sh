#!/usr/bin/env bash
# From a fresh checkout to generated tokens: installs what is missing, builds, fetches a real model, exports it and
# continues a prompt with the built-in interpreter.
set -euo pipefail
source "$(dirname "$0")/scripts/common.sh"

model=.cache/models/SmolLM2-135M-Instruct.Q4_1.gguf
out=out/smollm2

build() {
  cmake --preset release >/dev/null &&
    cmake --build --preset release
}

step "Debian packages" scripts/install_deps.sh
step "build (build/release)" build
step "model ($model)" scripts/get_model.sh
step "export to $out" build/release/headrace export "$model" -o "$out" --target iree,xla --seq 32 \
  --functions score,prefill,chunk,decode
step "greedy continuation by the interpreter" \
  build/release/headrace generate "$out" --prompt "The capital of France is" --max-tokens 16
step "an answer in a chat" \
  build/release/headrace generate "$out" --chat --prompt "What is the capital of France?"
printf '\nAll done in %d s. Next: build/release/headrace --help\n' "$SECONDS"
