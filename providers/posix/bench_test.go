package posix

import "testing"

func BenchmarkSplit(b *testing.B) {
	for name, line := range map[string]string{
		"short":  "/bin/true",
		"long":   "/usr/bin/tar --extract --gzip --file app.tar.gz --directory /opt/app --owner root --group root",
		"quoted": `/usr/bin/logger -t "my app" 'it is done' and\ well "with \"quotes\" in it"`,
	} {
		b.Run(name+"/argv", func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if _, err := Argv(line, nil); err != nil {
					b.Fatal(err)
				}
			}
		})
		b.Run(name+"/warnings", func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				Warnings(line, nil)
			}
		})
	}
}
