#!/bin/sh
# {{ title }}
# PTXAS and NVLINK name the tools of one release; the default is those in $PATH.
set -eu
: "${PTXAS:=ptxas}" "${NVLINK:=nvlink}"
cd "$(dirname "$0")"
{% for command in commands -%}
{{ command|safe }}
{% endfor -%}
readelf --wide --symbols --relocs linked.cubin
for section in .nv.constant3 .nv.global.init; do
    readelf --hex-dump="$section" linked.cubin 2>/dev/null || true
done
