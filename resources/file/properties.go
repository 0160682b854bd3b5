package file

import "github.com/settle-cm/settle/model"

// properties lists the properties of a file beside the common ones. The loader,
// the schema, explain and the README are made from this list.
var properties = []model.Property{
	{Name: "path", Kind: model.Line, Path: true, Default: "the name", Meaning: "where it is; a relative one is relative to the manifest's directory, while a name that is a path has to be absolute", Example: "/etc/motd"},
	{Name: "ensure", Kind: model.Choice, Choices: []string{"present", "absent", "directory", "link"}, Default: "present", Meaning: "present is a file, absent is nothing at all", Example: "directory"},
	{Name: "content", Kind: model.Text, Meaning: "what is in the file, to the byte; without content and source a missing file is made empty, and one that is there keeps what is in it", Example: "Welcome\\n"},
	{Name: "template", Kind: model.Template, Path: true, Meaning: "a file whose text is the content, with values in place of ${…} as in content; relative to the manifest's directory",
		More: "The file is read when the manifest is loaded, and its text is part of a saved plan. $${ is the escape. All other bytes are kept, also those that are not UTF-8.", Example: "app.conf.in"},
	{Name: "source", Kind: model.Line, Path: true, Meaning: "the file to copy, absolute or relative to the manifest's directory; with recurse, the directory", Example: "files/httpd.conf"},
	{Name: "recurse", Kind: model.Bool, Default: "false", Meaning: "copy the directory that source names, with all that is in it; what else is there stays", Example: "true"},
	{Name: "target", Kind: model.Line, Meaning: "where the link points, as it is to be read from the link", Example: "/opt/app-1.2"},
	{Name: "owner", Kind: model.Line, Default: "as it is; of something new, who runs settle", Meaning: "user, by name or number", Example: "root"},
	{Name: "group", Kind: model.Line, Default: "as it is; of something new, as the system has it", Meaning: "group, by name or number", Example: "www-data"},
	{Name: "mode", Kind: model.Line, Default: "as it is; of something new, the source's, else 0666 (directories 0777), without what the umask takes; 0600 when sensitive", Meaning: "permissions in octal, in quotes; with recurse directories may be entered wherever the mode lets files be read", Example: "\"0644\""},
	{Name: "replace", Kind: model.Bool, Default: "true", Meaning: "false makes the file when it is missing, and leaves what is in it alone from then on", Example: "false"},
	{Name: "write", Kind: model.Choice, Choices: []string{"replace", "in_place"}, Default: "replace", Meaning: "replace makes a new file and moves it to its place in one step; in_place writes into the file that is there, for mount points and for files whose directory or group is not yours, and a crash can leave a part of the content", Example: "in_place"},
	{Name: "parents", Kind: model.Bool, Default: "false", Meaning: "make the directories above it that are missing", Example: "true"},
	{Name: "backup", Kind: model.Bool, Default: "false", Meaning: "keep what is replaced or removed in the state directory, under .backup and the id of the run, as long as `settle history` has the run", Example: "true"},
	{Name: "validate", Kind: model.CommandLine, Meaning: "command that has to exit 0 before a new file takes its place; % in it is the new file's path until then, and %% a percent sign", Example: "visudo -cf %"},
	{Name: "force", Kind: model.Bool, Default: "false", Meaning: "replace or remove a directory with all that is in it, or put a directory where something else is", Example: "true"},
	{Name: "provider", Kind: model.Choice, Choices: []string{"posix"}, Default: "posix", Meaning: "accepted for CCM manifests", Example: "posix"},
}
