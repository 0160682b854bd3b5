# Completion of settle for fish. The program itself knows what may stand where:
# this only asks it.

function __settle_offers
    set -l before (commandline -opc) # what is behind the cursor fish does not tell
    set -l token (commandline -ct)
    set -l program settle
    for word in $before
        string match -qr '^[A-Za-z_][A-Za-z0-9_]*=' -- $word; and continue
        type -q -- $word; and set program $word
        break
    end
    set -l word (string unescape -- $token; or string unescape -- $token\'; or string unescape -- $token\"; or echo -- $token)
    set -l lines (command $program __complete fish (count $before) "$word" $before "$word" 2>/dev/null)
    set -l head (string split \t -- $lines[1])
    switch "$head[1]"
        case words
            string join \n -- $lines[2..-1]
        case files manifests directories
            __settle_files $head[1] "$head[2]" $token
    end
end

# fish's own completion of files, the ones that are wanted first
function __settle_files -a kind front token
    set -l typed (string sub -s (math (string length -- "$front") + 1) -- "$token")
    set -l found (complete -C "__settle_no_such_command $typed")
    set -l directories (string match -r '.*/$' -- $found)
    set -l manifests (string match -r '.*\.ya?ml$' -- $found)
    switch $kind
        case directories
            set found $directories
        case manifests
            set found $manifests $directories (string match -rv '(/|\.ya?ml)$' -- $found)
    end
    for file in $found
        echo $front$file
    end
end

complete -c settle -f -k -a '(__settle_offers)'
