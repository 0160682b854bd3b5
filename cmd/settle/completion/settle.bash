# Completion of settle for bash 3.2 and newer; it needs nothing of bash-completion.
# The program itself knows what may stand where: this only asks it.

_settle() {
  local program=$1 line
  if [[ $program == \~/* ]]; then
    program=$HOME/${program#\~/}
  fi
  type -P -- "$program" >/dev/null || program=settle # an alias
  COMPREPLY=()
  while IFS= read -r line; do
    COMPREPLY+=("$line")
  done < <(command "$program" __complete bash "$2" "${COMP_LINE:0:COMP_POINT}" "${COMP_LINE:COMP_POINT}" 2>/dev/null)
  if [[ ${#COMPREPLY[@]} -eq 1 && ${COMPREPLY[0]} == *[/=] ]]; then
    compopt -o nospace 2>/dev/null # something follows: a file, the value
  fi
}

complete -F _settle settle
