#!/bin/sh
# {{ title }}
#
#   sh reproduce.sh
#
# Runs the implementation by the command that it was tested with; python3, or $PYTHON, reads its answer.
# Prints REPRODUCED (status 0), NOT REPRODUCED (status 1), or NOT TESTED and why (status 2).

here=.
case $0 in */*) here=${0%/*} ;; esac
file=$here/{{ name }}.ptx

"${PYTHON:-python3}" -c '' || { echo "NOT TESTED: cannot run ${PYTHON:-python3}"; exit 2; }
expected={{ expected }}
wrong={{ wrong }}
answer=$(ulimit -t {{ seconds }}; {{ command }})
status=$?
seen=$(printf '%s\n' "$answer" | "${PYTHON:-python3}" "$here/show.py" answer {{ fields }}{{ names }})
printf '%s\n' "status:   $status" "expected: $expected" "seen:     $seen"
if [ "$seen" = "$wrong" ]; then echo "REPRODUCED"; exit 0; fi
echo "NOT REPRODUCED"
exit 1
