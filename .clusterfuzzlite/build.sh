#!/bin/bash -eu
# Builds every target that needs no implementation, with its seeds and the dictionary. `differential` is left out: it shows
# modules to ptxas, which is not ours to put into an image. Not run by the authors: see docs/guide/fuzzing.md.
cd "$SRC/ptxsmith"
cargo fuzz build -O
for target in $(cargo fuzz list); do
  [ "$target" = differential ] && continue
  cp "target/x86_64-unknown-linux-gnu/release/$target" "$OUT/"
  (cd "fuzz/seeds/$target" && zip -q -r "$OUT/${target}_seed_corpus.zip" .)
  cp fuzz/dictionaries/ptx.dict "$OUT/$target.dict"
done
