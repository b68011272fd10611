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
cubin=$here/{{ name }}.cubin
ulimit -c 0

{% if claim == Claim::ExceedsLimits %}# What it wrote until then may be large.
trap ': > "$cubin"' EXIT
{% endif %}reproduced() { printf '%s\n' "REPRODUCED: $1"; exit 0; }
not_reproduced() { printf '%s\n' "NOT REPRODUCED: $1"; exit 1; }
not_tested() { printf '%s\n' "NOT TESTED: $1"; exit 2; }
{% if python %}show() { "${PYTHON:-python3}" "$here/show.py" "$@"; }
{% endif %}
"$ptxas" --version || not_tested "cannot run $ptxas"
{% if python %}"${PYTHON:-python3}" -c '' || not_tested "cannot run ${PYTHON:-python3}"
{% endif %}[ -r "$here/{{ name }}.ptx" ] || not_tested "cannot read $here/{{ name }}.ptx"

# Compiles a file with these options: what the compiler prints is in $said, its status in $status.
compile() {
  file=$1
  shift
  said=$(ulimit -t {{ seconds }}; ulimit -v {{ memory }}; ulimit -f 2097152; "$ptxas" -arch={{ target }}{{ options }} "$@" "$file" -o "$cubin" 2>&1)
  status=$?
  printf '%s\n' "ptxas -arch={{ target }}{{ options }} $* $file -o $cubin" "$said" "status $status"
}

# A program of the same header that is not in doubt: whether the compiler works here, and knows the header.
printf '%s\n' {{ control }} > "$here/control.ptx" || not_tested "cannot write to $here"
compile "$here/control.ptx"
[ "$status" -eq 0 ] || not_tested "the compiler does not take $here/control.ptx, a program of the same header"
{% if let Claim::Crashes(_) = claim %}
# Whether it died of a fault of its own, or noticed one; the end of its time, of memory or by hand is none.
crashed() {
  case $said in *"Memory allocation failure"* | *bad_alloc*) return 1 ;; esac
  case $status in 132 | 134 | 135 | 136 | 139) return 0 ;; esac
  case $said in *"Internal error"* | *"Internal compiler error"*) return 0 ;; esac
  return 1
}
{% endif %}
{% match claim -%}
{% when Claim::Crashes(signal) -%}
for form in {{ forms }}; do
  compile "$here/{{ name }}.ptx" $form
{% if let Some(signal) = signal %}  [ "$status" -eq $((128 + {{ signal }})) ] && reproduced "the compiler dies of signal {{ signal }}"
  crashed && reproduced "the compiler dies, but otherwise than of signal {{ signal }}, which was seen"
{% else %}  crashed && reproduced "the compiler dies"
{% endif %}done
not_reproduced "the compiler does not die"
{% when Claim::ExceedsLimits -%}
for form in {{ forms }}; do
  compile "$here/{{ name }}.ptx" $form
  case $status in 137 | 152) reproduced "no end within {{ seconds }} seconds of processor time" ;; esac
  case $said in
    *"Memory allocation failure"* | *bad_alloc* | *"out of memory"*) reproduced "4 GiB of memory are not enough" ;;
  esac
  case $status in 134 | 139 | 153) reproduced "it dies within the limits of memory (4 GiB) and of output (1 GiB)" ;; esac
done
not_reproduced "the compiler comes to an end"
{% when Claim::Accepts -%}
for form in {{ forms }}; do
  compile "$here/{{ name }}.ptx" $form
  [ "$status" -eq 0 ] && reproduced "the invalid program is accepted"
done
not_reproduced "the program is rejected, as it should be"
{% when Claim::Rejects -%}
message={{ message }}
for form in {{ forms }}; do
  compile "$here/{{ name }}.ptx" $form
  [ "$status" -eq 0 ] && not_reproduced "the program is accepted, as it should be"
done
case $said in *"$message"*) reproduced "the valid program is rejected" ;; esac
not_tested "the program is not compiled for another reason than was seen: $message"
{% when Claim::Malformed -%}
compile "$here/{{ name }}.ptx"{{ form }}
[ "$status" -eq 0 ] || not_reproduced "the compiler does not leave output"
seen=$(show broken "$cubin") || not_tested "show.py cannot read the output"
[ -n "$seen" ] && reproduced "the output is malformed: $seen"
not_reproduced "the output can be read"
{% when Claim::VariableContents -%}
expected={{ expected }}
wrong={{ wrong }}
compile "$here/{{ name }}.ptx"{{ form }}
[ "$status" -eq 0 ] || not_reproduced "the program is not accepted"
seen=$(show {{ fields }} "$cubin"{{ names }}) || not_tested "show.py cannot read the output"
printf '%s\n' "expected: $expected" "seen:     $seen"
[ "$seen" = "$wrong" ] && reproduced "$seen"
[ "$seen" = "$expected" ] && not_reproduced "the output is as expected"
not_tested "the output is neither as expected nor as it was seen, $wrong"
{% when Claim::KernelOutput -%}
# What a kernel stores is seen on a device only. The machine code is compared with that of the compilers whose code was read
# (nvdisasm): where it is wrong, it stores {{ stores }}.
compile "$here/{{ name }}.ptx"{{ form }}
[ "$status" -eq 0 ] || not_reproduced "the program is not accepted"
seen=$(show code "$cubin") || not_tested "show.py cannot read the output"
printf '%s\n' "code: $seen"
nvdisasm=${NVDISASM:-nvdisasm}
command -v "$nvdisasm" && "$nvdisasm" -c "$cubin"
case $seen in
{% for code in codes %}  {{ code.pattern }}) {% if code.right %}not_reproduced{% else %}reproduced{% endif %} {{ code.note }} ;;
{% endfor %}esac
not_tested "other machine code than was read; whether it is right, its listing says: nvdisasm -c {{ name }}.cubin"
{% when Claim::Varies -%}
not_tested "a single run does not show this: see report.md"
{% endmatch -%}
