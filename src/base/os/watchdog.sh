: "Bosun's watchdog: cleans up when Bosun is killed."
# Plain POSIX sh. Descriptor 3 brings lines about what there is to clean up; its end without the
# line `bye` means that Bosun was killed. One of 0 to 2 is the terminal, if there is one.
# $1: Bosun's process group. $2: its session, whose leader tells who has the terminal.

trap '' HUP INT QUIT TERM TSTP TTIN TTOU PIPE
if [ -t 2 ]; then exec <&2; elif [ -t 1 ]; then exec <&1; fi
exec >/dev/null 2>&1
agent_group=$1
agent_session=$2
newline='
'
sessions=' '
mark=
directory=
is_armed=
offer=
modes=
[ -t 0 ] && modes=$(stty -g 3<&-)

while read -r word value <&3; do
  case $word in
    # 0 is the session of the kernel's own, 1 that of the system.
    begun) [ "$value" -gt 1 ] && sessions="$sessions$value " ;;
    ended)
      case $sessions in
        *" $value "*) sessions="${sessions%%" $value "*} ${sessions#*" $value "}" ;;
      esac ;;
    mark) mark=$value ;;
    directory) directory=$value ;;
    armed) is_armed=yes offer=$value ;;
    bye) exit 0 ;;
  esac
done
exec 3<&-
[ -n "$is_armed" ] || exit 0

# Lines of `pid state parent group session`. Without /proc the group stands for the session.
list_processes() {
  if [ -r /proc/self/stat ]; then
    cat /proc/[0-9]*/stat
  else
    ps -A -o pid= -o state= -o ppid= -o pgid= -o pgid=
  fi
}

# Sets `ours`: what is in a session of ours or carries the mark, and all that descends from it.
find_ours() {
  marked=
  [ -n "$mark" ] && marked=$(grep -slF -e "$mark" /proc/[0-9]*/environ)
  listed=$(list_processes)
  ours=' '
  others=
  set -f
  IFS=$newline
  for line in $listed; do
    IFS=' '
    # The name may hold blanks and parentheses: the fields begin behind the last one.
    case $line in
      *') '*) set -- "${line%% *}" ${line##*') '} ;;
      *) set -- $line ;;
    esac
    case "$1 $2" in "$$ "* | *' Z'* | *' X'*) continue ;; esac
    case $sessions in *" $5 "*) ours="$ours$1 " && continue ;; esac
    case "$marked$newline" in
      *"/proc/$1/environ$newline"*) ours="$ours$1 " ;;
      *) others="$others$1 $3$newline" ;;
    esac
  done
  before=
  while [ "$before" != "$ours" ]; do
    before=$ours
    IFS=$newline
    for line in $others; do
      case $ours in *" ${line%% *} "*) continue ;; esac
      case $ours in *" ${line##* } "*) ours="$ours${line%% *} " ;; esac
    done
  done
  IFS=' '
  set +f
}

signal_ours() {
  for pid in $ours; do kill -s "$1" "$pid"; done
}

nap() {
  sleep "$1" || sleep 1
}

# Who has the terminal by now: the number of a process group.
group_in_front() {
  if [ -r /proc/self/stat ]; then
    read -r line <"/proc/$agent_session/stat" || return
    set -f
    set -- ${line##*') '}
    set +f
    echo "$6"
  else
    ps -o tpgid= -p "$agent_session" | tr -d ' '
  fi
}

# An interactive shell that waited for Bosun has put back its modes by now, and those of its line
# editor over them. Only where nobody has taken over is it for us.
restore_terminal() {
  [ -t 0 ] || return
  front=$(group_in_front)
  is_taken_over=
  case $front in '' | "$agent_group") ;; *) is_taken_over=yes ;; esac
  [ -z "$is_taken_over" ] && [ -n "$modes" ] && stty "$modes"
  case $TERM in
    '' | dumb) ;;
    *)
      # No mouse, focus or key reports, no held-back drawing. To leave the alternate screen moves
      # the cursor to where it was saved last: so it is saved first.
      printf '\0337\033[?1049l\033[?1000l\033[?1002l\033[?1003l\033[?1006l\033[?1004l\033[?2026l'
      printf '\033[<u\033[>4m'
      # A line editor that is at work already wants its pastes marked.
      [ -z "$is_taken_over" ] && printf '\033[?2004l'
      printf '\033[?25h\033[0m' ;;
  esac >&0
  printf '\r\nbosun: ended unexpectedly.' >&0
  [ -n "$offer" ] && printf ' Nothing is lost: %s goes on.' "$offer" >&0
  printf '\r\n' >&0
}

find_ours
signal_ours TERM
signal_ours CONT
nap 0.1
restore_terminal
for round in 1 2 3; do
  find_ours
  [ "$ours" = ' ' ] && break
  nap 0.1
done
# Something may fork while it is killed, or become another program: look again, but not for ever.
calm=0
for round in 1 2 3 4 5 6 7 8 9 10 11 12; do
  find_ours
  if [ "$ours" = ' ' ]; then calm=$((calm + 1)); else calm=0; fi
  [ "$calm" -ge 2 ] && break
  signal_ours KILL
  nap 0.02
done
case $directory in */bosun-*) rm -rf -- "$directory" ;; esac
exit 0
