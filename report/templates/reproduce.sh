#!/bin/sh
# {{ title }}
#
#   sh reproduce.sh [PTXAS]
#
# PTXAS is the path of the compiler; without it $PTXAS, or ptxas in PATH.{% if python %} python3, or $PYTHON, reads its output.{% endif %}
# Prints REPRODUCED (status 0), NOT REPRODUCED (status 1), or NOT TESTED and why (status 2).

here=.
case $0 in */*) here=${0%/*} ;; esac
ptxas=${1:-${PTXAS:-ptxas}}
ulimit -c 0

{% if claim == Claim::Exhausts %}# What it wrote until then may be large.
trap ': > "$here/{{ name }}.cubin"' EXIT
{% endif %}reproduced() { printf '%s\n' "REPRODUCED: $1"; exit 0; }
not_reproduced() { printf '%s\n' "NOT REPRODUCED: $1"; exit 1; }
not_tested() { printf '%s\n' "NOT TESTED: $1"; exit 2; }
{% if python %}show() { "${PYTHON:-python3}" "$here/show.py" "$@"; }
{% endif %}
"$ptxas" --version || not_tested "cannot run $ptxas"
{% if python %}"${PYTHON:-python3}" -c '' || not_tested "cannot run ${PYTHON:-python3}"
{% endif %}
# Compiles with these options: what it prints is in $said, its status in $status.
compile() {
  said=$(ulimit -t {{ seconds }}; ulimit -v 4194304; ulimit -f 2097152; "$ptxas" -arch={{ target }}{{ options }} "$@" "$here/{{ name }}.ptx" -o "$here/{{ name }}.cubin" 2>&1)
  status=$?
  printf '%s\n' "ptxas -arch={{ target }}{{ options }} $* {{ name }}.ptx -o {{ name }}.cubin" "$said" "status $status"
  case $said in
    *"Unsupported .version"* | *"is not defined for option 'gpu"* | *"SM version specified by .target is higher"*)
      not_tested "this release does not know the program's .version or .target" ;;
  esac
}
# Whether it died of a signal, or noticed that something of its own is wrong.
died() {
  [ "$status" -gt 128 ] && [ "$status" -lt 193 ] && return 0
  case $said in *"Internal error"* | *"Internal compiler error"* | *"Memory allocation failure"* | *bad_alloc*) return 0 ;; esac
  return 1
}

{% match claim -%}
{% when Claim::Dies(signal) -%}
for form in {{ forms }}; do
  compile $form
  died && reproduced "the compiler dies with status $status{% if let Some(signal) = signal %}; 128 + signal {{ signal }} was seen{% endif %}"
done
not_reproduced "the compiler does not die"
{% when Claim::Exhausts -%}
for form in {{ forms }}; do
  compile $form
  died && reproduced "no end within {{ seconds }} seconds of processor time and 4 GiB (status $status)"
done
not_reproduced "the compiler comes to an end"
{% when Claim::Accepts -%}
for form in {{ forms }}; do
  compile $form
  [ "$status" -eq 0 ] && reproduced "the invalid program is accepted"
done
not_reproduced "the program is rejected, as it should be"
{% when Claim::Rejects -%}
for form in {{ forms }}; do
  compile $form
  [ "$status" -eq 0 ] && not_reproduced "the program is accepted, as it should be"
  died && not_reproduced "the compiler dies instead"
done
reproduced "the valid program is rejected"
{% when Claim::Malformed -%}
compile{{ form }}
[ "$status" -eq 0 ] || not_reproduced "the compiler does not leave output"
seen=$(show broken "$here/{{ name }}.cubin" 2>&1)
[ -n "$seen" ] && reproduced "the output is malformed: $seen"
not_reproduced "the output can be read"
{% when Claim::Holds -%}
expected={{ expected }}
wrong={{ wrong }}
compile{{ form }}
[ "$status" -eq 0 ] || not_reproduced "the program is not accepted"
seen=$(show {{ fields }} "$here/{{ name }}.cubin"{{ names }})
printf '%s\n' "expected: $expected" "seen:     $seen"
[ "$seen" = "$wrong" ] && reproduced "$seen"
[ "$seen" = "$expected" ] && not_reproduced "the output is as expected"
not_reproduced "the output is neither as expected nor as it was seen, $wrong"
{% when Claim::Leaves -%}
# What a kernel stores is seen on a device only. The machine code is compared with that of the compilers that were seen to be
# wrong: read with nvdisasm, it stores {{ stores }}.
compile{{ form }}
[ "$status" -eq 0 ] || not_reproduced "the program is not accepted"
seen=$(show code "$here/{{ name }}.cubin")
printf '%s\n' "code: $seen"
nvdisasm=${NVDISASM:-nvdisasm}
command -v "$nvdisasm" && "$nvdisasm" -c "$here/{{ name }}.cubin"
case $seen in
{% for code in codes %}  {{ code.pattern }}) reproduced {{ code.note }} ;;
{% endfor %}esac
{% if codes.is_empty() %}not_tested "no machine code was recorded; read the listing: nvdisasm -c {{ name }}.cubin"
{% else %}not_reproduced "other machine code; whether it is right, only its listing says: nvdisasm -c {{ name }}.cubin"
{% endif -%}
{% when Claim::Varies -%}
not_tested "a single run does not show this: see report.md"
{% endmatch -%}
