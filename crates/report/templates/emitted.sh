#!/bin/sh
# {{ title }}
# NVCC, CLANG, LLC, GXX or NVRTC{% if needs_python %} (a library){% endif %} names the compiler.
set -eu
cd "$(dirname "$0")"
ptx=$(mktemp)
trap 'rm -f "$ptx"' EXIT
{{ command|safe }} >"$ptx" || { cat "$ptx"; exit 1; }
grep -E 'g0([^0-9]|$)' "$ptx"
