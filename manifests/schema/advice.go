package schema

import "strings"

// typeAdvice says what to write instead of types that other tools have and settle
// lacks.
var typeAdvice = map[string]string{
	"user":           "use exec, such as command: useradd --system deploy, unless: id deploy",
	"group":          "use exec, such as command: groupadd deploy, unless: getent group deploy",
	"cron":           "use file with a path below /etc/cron.d, or file and service for a systemd timer",
	"git":            "use exec, such as command: git clone URL /opt/app, creates: /opt/app",
	"mount":          "use exec, such as command: mount /data, unless: mountpoint -q /data",
	"host":           "use file with path: /etc/hosts and the whole content",
	"sysctl":         "use file below /etc/sysctl.d, and exec with command: sysctl --system, refreshonly: true",
	"line":           "use file with the whole content, or exec with a command that edits it and unless: grep -q",
	"hostname":       "use exec, such as command: hostnamectl set-hostname web1, unless: test $(hostname) = web1 (provider: shell)",
	"timezone":       "use file with ensure: link, path: /etc/localtime and target: /usr/share/zoneinfo/UTC",
	"download":       "use exec, such as command: curl -fsSLo app.tar.gz URL, creates: app.tar.gz",
	"archive":        "use exec, such as command: tar -C /opt -xzf app.tar.gz, creates: /opt/app",
	"container":      "use exec with the command of the container runtime and an unless that looks for the container",
	"authorized_key": "use file with a path such as /home/deploy/.ssh/authorized_keys and mode: \"0600\"",
	"module":         "use exec, such as command: pip install NAME, unless: pip show NAME",
	"repository":     "use file below /etc/apt/sources.list.d, and a package that requires it",
}

// typesElsewhere are the names of types in other tools, by the key of typeAdvice.
var typesElsewhere = map[string]string{
	"users": "user", "useradd": "user", "groups": "group", "crontab": "cron", "cronjob": "cron", "cron_job": "cron", "timer": "cron",
	"vcsrepo": "git", "svn": "git", "hg": "git", "filesystem": "mount", "mounts": "mount", "hosts": "host", "kernel_param": "sysctl",
	"lineinfile": "line", "blockinfile": "line", "file_line": "line", "ini_setting": "line", "augeas": "line", "replace": "line", "ini_file": "line",
	"get_url": "download", "remote_file": "download", "uri": "download", "unarchive": "archive", "tar": "archive",
	"docker": "container", "docker_container": "container", "podman_container": "container", "docker_image": "container",
	"ssh_authorized_key": "authorized_key", "pip": "module", "npm": "module", "gem": "module", "cpan": "module",
	"apt_repository": "repository", "yum_repository": "repository", "yumrepo": "repository", "repo": "repository",
}

// adviseType returns what to write instead of a type of another tool, or "".
func adviseType(word string) string {
	word = strings.ReplaceAll(strings.ToLower(word), "-", "_")
	if i := strings.LastIndexByte(word, '.'); i >= 0 { // such as ansible.builtin.user
		word = word[i+1:]
	}
	if other, ok := typesElsewhere[word]; ok {
		word = other
	}
	return typeAdvice[word]
}
