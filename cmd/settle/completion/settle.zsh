#compdef settle
# Completion of settle for zsh. The program itself knows what may stand where:
# this only asks it.

_settle() {
  local program=${(Q)words[1]}
  [[ $program == '~/'* ]] && program=$HOME/${program#'~/'}
  (( $+commands[$program] )) || [[ $program == */* && -x $program ]] || program=settle # an alias
  local -a lines offers more
  lines=("${(@f)$(command "$program" __complete zsh $((CURRENT - 1)) "${(Q)PREFIX}" "${(@Q)words}" 2>/dev/null)}")
  local kind=${lines[1]%%$'\t'*} done=${lines[1]#*$'\t'} line value

  # what the word begins with before any offer does
  while [[ $done == *[=,]* ]]; do
    if [[ $done == *=* ]]; then
      compset -P 1 '*='
      done=${done#*=}
    else
      compset -P '*,'
      done=
    fi
  done

  case $kind in
    (files) _files ;;
    (directories) _path_files -/ ;;
    (manifests) _files -g '*.(yaml|yml)(-.)' ;;
    (words)
      for line in "${(@)lines[2,-1]}"; do
        value=${line%%$'\t'*}
        value=${${value//\\/\\\\}//:/\\:}:${line#*$'\t'}
        if [[ $value == *=: ]]; then
          more+=("$value")
        else
          offers+=("$value")
        fi
      done
      local ret=1
      (( $#offers )) && _describe -t values value offers && ret=0
      (( $#more )) && _describe -t values value more -S '' && ret=0
      return ret
      ;;
    (*) return 1 ;;
  esac
}

if [[ $funcstack[1] == _settle ]]; then
  _settle "$@" # autoloaded from $fpath
else
  compdef _settle settle
fi
