package system

import "os"

// ServiceManager names the service manager that runs on this machine: "systemd",
// "openrc", "offline" where systemctl is installed and systemd does not run, or
// "" where neither is there. The directories are those that sd_booted(3) and
// openrc itself look at.
func ServiceManager() string {
	for name, dir := range map[string]string{"systemd": "/run/systemd/system", "openrc": "/run/openrc"} {
		if info, err := os.Stat(dir); err == nil && info.IsDir() {
			return name
		}
	}
	if isInstalled("systemctl") {
		return "offline"
	}
	return ""
}
