#!/bin/sh
# A helper without any library: it takes the identity out of the input and knows
# which machines there are. What it cannot tell it leaves for later.
input=$(cat)
identity=
case $input in
'{"identity":"'*'}') # whole
	identity=$(printf '%s' "$input" | sed -n 's/^{"identity":"\([A-Za-z0-9.-]*\)",.*/\1/p')
	;;
esac

case $identity in
'')
	echo '{"defer": true, "msg": "the input cannot be read"}'
	;;
old*.example.net)
	printf '{"shutdown": true, "msg": "%s was decommissioned"}\n' "$identity"
	;;
*.example.net)
	cat <<END
{
  "configuration": {
    "identity": "$identity",
    "loglevel": "warn",
    "plugin.choria.middleware_hosts": "nats://broker.example.net:4222",
    "plugin.choria.server.provision": "false"
  }
}
END
	;;
*)
	printf '{"defer": true, "msg": "%s is of no domain that we know"}\n' "$identity"
	;;
esac
