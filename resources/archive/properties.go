package archive

import "github.com/settle-cm/settle/model"

var properties = []model.Property{
	{
		Name: "url", Kind: model.Line, Meaning: "where the archive comes from: https, http or file; needed unless ensure is absent",
		More:    `At most 10 redirects are followed, never from https to http. The proxies of http_proxy, https_proxy and no_proxy are used. A transfer ends when no byte arrives for a minute. A user and a password in the URL are refused: set username and password.`,
		Example: "https://example.org/app-1.2.tar.gz",
	},
	{
		Name: "path", Kind: model.Line, Path: true, Default: "the name where that is an absolute path, else the archive is not kept", Meaning: "where the archive itself is kept",
		Example: "/opt/downloads/app-1.2.tar.gz",
	},
	{
		Name: "checksum", Kind: model.Line, Meaning: "checksum of the archive: sha256:HEX, sha512:HEX, or the 64 digits of SHA-256",
		More: `The download is verified before anything is changed. When the declared checksum is another than that of the archive which was unpacked last, the archive is fetched and unpacked again, also for an older version.

Without a checksum a changed url changes nothing on a machine that has the archive already.`,
		Example: "sha256:ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad",
	},
	{
		Name: "extract_parent", Kind: model.Line, Path: true, Meaning: "the directory to unpack into, made when it is missing; without it the archive is only downloaded",
		More: `The archive is unpacked into a directory beside it, and moved to its place when that is complete: file by file, or with purge as a whole. Formats: tar, tar.gz, tgz, tar.bz2, tar.zst and zip, by the end of the name.

An entry with an absolute name, a name with .., a name through a link of the archive, a link that leads out, a device or a pipe is an error, and nothing is changed. Owners of the archive are ignored; setuid, setgid and sticky are dropped with a warning; group and others cannot write. At most a million entries and 10 GiB are unpacked.`,
		Example: "/opt/app",
	},
	{Name: "strip", Kind: model.Int, Default: "0", Meaning: "how many leading elements of each name in the archive are dropped", Example: "1"},
	{
		Name: "purge", Kind: model.Bool, Default: "false", Meaning: "the directory is the archive's alone: anything else in it is removed",
		More:    `The old tree is exchanged for the new one in one step, so no reader finds half of it. The directory cannot be a mount point, and no other resource can declare anything below it.`,
		Example: "true",
	},
	{Name: "creates", Kind: model.Lines, Path: true, Meaning: "a path, or a list of paths, that unpacking makes: when one is missing the archive is unpacked", Example: "/opt/app/bin/app"},
	{Name: "cleanup", Kind: model.Bool, Default: "false", Meaning: "remove the archive after unpacking; needs extract_parent and creates", Example: "true"},
	{Name: "owner", Kind: model.Line, Default: "who runs settle", Meaning: "user that owns the archive and everything that is unpacked, by name or number", Example: "app"},
	{Name: "group", Kind: model.Line, Default: "as the system has it", Meaning: "group of the archive and everything that is unpacked, by name or number", Example: "app"},
	{
		Name: "headers", Kind: model.TextMap, Meaning: "headers of the request, sent to the host of url only; their values are never shown",
		Example: "Authorization: Bearer ${env.TOKEN}",
	},
	{Name: "username", Kind: model.Line, Meaning: "user for basic authentication, sent to the host of url only", Example: "deploy"},
	{Name: "password", Kind: model.Line, Meaning: "password for basic authentication; never shown", Example: "${env.PASSWORD}"},
	{Name: "ensure", Kind: model.Choice, Choices: []string{"present", "absent"}, Default: "present", Meaning: "absent removes the archive at path; unpacked files stay", Example: "absent"},
	{Name: "provider", Kind: model.Choice, Choices: []string{"http"}, Default: "http", Meaning: "accepted for CCM manifests", Example: "http"},
}
