#!/usr/bin/env python3
"""A helper in Python: the role is a fact, policies follow from it.

Whatever goes wrong is an answer too: the server is left alone and asked about
again. Standard output is for the answer; what is printed elsewhere is logged.
"""
import json
import sys

BROKER = "nats://broker.example.net:4222"


def decide(request):
    identity = request["identity"]
    if not identity.endswith(".example.net"):
        return {"defer": True, "msg": f"{identity} is of no domain that we know"}
    if identity.startswith("old"):
        return {"shutdown": True, "msg": f"{identity} was decommissioned"}
    facts = json.loads(request["inventory"])["facts"]  # JSON inside JSON
    configuration = {
        "identity": identity,
        "loglevel": "warn",
        "plugin.choria.middleware_hosts": BROKER,
        "plugin.choria.server.provision": "false",
    }
    answer = {"configuration": configuration}
    if facts.get("role") == "web":
        answer["action_policies"] = {"rpcutil.policy": "policy default deny\nallow\t*\tping\t*\t*\n"}
    if request["ed25519_pubkey"]:
        directory = request["ed25519_pubkey"]["directory"]
        configuration["plugin.security.provider"] = "choria"
        configuration["plugin.security.choria.seed_file"] = f"{directory}/server.seed"
        configuration["plugin.security.choria.token_file"] = f"{directory}/server.jwt"
        answer["server_claims"] = {"permissions": {"submission": True, "streams": True}}
    return answer


try:
    reply = decide(json.load(sys.stdin))
except Exception as e:  # any: no answer must come of half an input
    print(f"deferred: {e!r}", file=sys.stderr)
    reply = {"defer": True, "msg": f"{type(e).__name__} in the helper"}
json.dump(reply, sys.stdout)
