// Package permissions writes nats-server configuration with the least rights.
package permissions

import (
	"fmt"
	"strings"

	"github.com/settle-cm/settle/cmd/settle-fleet/internal/bus"
)

// Machine is a machine and the public nkey that it connects with.
type Machine struct{ Name, NKey string }

// User returns the entry of one machine for the list of users of the account
// MACHINES. A machine may read releases and rollouts, tell about itself, and
// answer; it may see no stream and no other machine.
func User(fleet string, m Machine) string {
	publish := []string{
		"settle." + fleet + ".runs.*." + m.Name,
		"$KV.settle_" + fleet + "_status." + m.Name,
		"$JS.API.DIRECT.GET.KV_settle_" + fleet + "_want.$KV.settle_" + fleet + "_want.>",
		"$JS.API.DIRECT.GET.OBJ_settle_" + fleet + "_bundles.>",
		"$JS.API.DIRECT.GET.OBJ_settle_" + fleet + "_bundles",
		"$JS.API.DIRECT.GET.KV_settle_" + fleet + "_status.$KV.settle_" + fleet + "_status." + m.Name,
		"$JS.API.DIRECT.GET.settle_" + fleet + "_runs.settle." + fleet + ".runs.*." + m.Name,
	}
	subscribe := []string{
		"settle." + fleet + ".do",
		"settle." + fleet + ".do." + m.Name,
		"settle." + fleet + ".want.>",
		bus.MachineInbox(m.Name) + ".>",
	}
	return fmt.Sprintf(`  # %s
  {nkey: %s, permissions: {
    publish: [%s]
    subscribe: [%s]
    allow_responses: {max: 2, expires: "2m"}
  }}
`, m.Name, m.NKey, quoted(publish), quoted(subscribe))
}

// Users returns the file of all machines, which the server's configuration includes.
func Users(fleet string, machines []Machine) string {
	var b strings.Builder
	b.WriteString("users: [\n")
	for _, m := range machines {
		b.WriteString(User(fleet, m))
	}
	b.WriteString("]\n")
	return b.String()
}

// Accounts returns the two accounts of a fleet. With one account a machine could
// have the server write its answer under another's subject.
func Accounts(fleet, operator, include string) string {
	services := []string{
		"$JS.API.DIRECT.GET.KV_settle_" + fleet + "_want.>",
		"$JS.API.DIRECT.GET.KV_settle_" + fleet + "_status.>",
		"$JS.API.DIRECT.GET.OBJ_settle_" + fleet + "_bundles",
		"$JS.API.DIRECT.GET.OBJ_settle_" + fleet + "_bundles.>",
		"$JS.API.DIRECT.GET.settle_" + fleet + "_runs.>",
		"settle." + fleet + ".runs.>",
		"$KV.settle_" + fleet + "_status.>",
	}
	var exports, imports strings.Builder
	for _, subject := range services {
		fmt.Fprintf(&exports, "      {service: %q}\n", subject)
		fmt.Fprintf(&imports, "      {service: {account: FLEET, subject: %q}}\n", subject)
	}
	return fmt.Sprintf(`accounts {
  FLEET {
    jetstream: enabled
    users: [{nkey: %[2]s}] # operators
    exports: [
%[3]s      {stream: "settle.%[1]s.want.>"}
    ]
    imports: [
      {service: {account: MACHINES, subject: "settle.%[1]s.do"}}
      {service: {account: MACHINES, subject: "settle.%[1]s.do.>"}}
    ]
  }
  MACHINES {
    include %[5]q
    exports: [
      {service: "settle.%[1]s.do", response_type: stream}
      {service: "settle.%[1]s.do.>", response_type: stream}
    ]
    imports: [
%[4]s      {stream: {account: FLEET, subject: "settle.%[1]s.want.>"}}
    ]
  }
}
`, fleet, operator, exports.String(), imports.String(), include)
}

func quoted(subjects []string) string {
	all := make([]string, len(subjects))
	for i, subject := range subjects {
		all[i] = fmt.Sprintf("%q", subject)
	}
	return strings.Join(all, ", ")
}
