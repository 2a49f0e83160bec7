#!/bin/bash
# Searches every state of the chunk model: no promise is broken, and each planted mistake is found.
# Ends with 77 (skipped) when spin or a C compiler is missing.
set -eu
model="$(cd "$(dirname "$0")" && pwd)/chunk_lifecycle.pml"
compiler=""
for name in cc gcc clang clang-19; do
  if command -v "$name" >/dev/null; then compiler=$name; break; fi
done
if ! command -v spin >/dev/null; then echo "SKIPPED: spin is not installed (apt-get install spin)"; exit 77; fi
if [ -z "$compiler" ]; then echo "SKIPPED: no C compiler for spin's verifier"; exit 77; fi

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"

# search MISTAKE: prints the verifier's summary
search() {
  spin -a ${1:+-D$1} "$model" >spin.log || { cat spin.log; return 1; }
  "$compiler" -O1 -w -DSAFETY -DMEMLIM=2000 -o pan pan.c
  timeout 50 ./pan -m200000 -n >pan.log || true
  cat pan.log
}

search "" >out.log
if ! grep -q "errors: 0" out.log || grep -qi "max search depth too small\|out of memory\|search not completed" out.log; then
  cat out.log
  echo "FAILED: the model breaks a promise, or was not searched to its end"
  exit 1
fi
echo "sound: $(grep -o '[0-9.e+]* states, stored' out.log)"

for mistake in REUSE_DYING UNLINK_EARLY SWEEP_UNLINKS NO_OWN_LOOK EARLY_PROOF NO_DIR_SYNC; do
  search "$mistake" >out.log
  if ! grep -q "assertion violated" out.log; then
    cat out.log
    echo "FAILED: $mistake was not refuted"
    exit 1
  fi
  echo "refuted: $mistake"
done
