#!/usr/bin/env ruby
# A helper in Ruby: it reads all of its input, parses the inventory in it a second
# time, and defers on any exception with exit 0.
require "json"

BROKER = "nats://broker.example.net:4222"

def decide(request)
  identity = request.fetch("identity")
  return {"defer" => true, "msg" => "#{identity} is of no domain that we know"} unless identity.end_with?(".example.net")
  return {"shutdown" => true, "msg" => "#{identity} was decommissioned"} if identity.start_with?("old")

  facts = JSON.parse(request.fetch("inventory")).fetch("facts")
  reply = {
    "configuration" => {
      "identity" => identity,
      "loglevel" => "warn",
      "plugin.choria.middleware_hosts" => BROKER,
      "plugin.choria.server.provision" => "false"
    }
  }
  if facts["role"] == "web"
    reply["action_policies"] = {"rpcutil.policy" => "policy default deny\nallow\t*\tping\t*\t*\n"}
  end
  reply
end

begin
  reply = decide(JSON.parse($stdin.read))
rescue StandardError => e
  warn "deferred: #{e.class}: #{e.message.lines.first}"
  reply = {"defer" => true, "msg" => "#{e.class} in the helper"}
end
puts JSON.generate(reply)
