package contract

import (
	"os"
	"path/filepath"
	"testing"
)

// inputs calls back with every input fixture.
func inputs(t *testing.T, visit func(t *testing.T, data []byte)) {
	t.Helper()
	found := 0
	for _, pattern := range []string{"*.json", "captured/*.json"} {
		files, err := filepath.Glob("samples/" + pattern)
		if err != nil {
			t.Fatal(err)
		}
		for _, file := range files {
			found++
			t.Run(filepath.Base(filepath.Dir(file))+"/"+filepath.Base(file), func(t *testing.T) {
				data, err := os.ReadFile(file)
				if err != nil {
					t.Fatal(err)
				}
				visit(t, data)
			})
		}
	}
	if found != 10 {
		t.Errorf("%d fixtures", found)
	}
}

// What the real system sends, we send to the byte.
func TestInputsAreThoseOfTheRealSystem(t *testing.T) {
	inputs(t, func(t *testing.T, data []byte) {
		in, err := ParseInput(data)
		if err != nil {
			t.Fatal(err)
		}
		got, err := in.Encode()
		if err != nil || string(got) != string(data) {
			t.Errorf("input\n%s\nwant\n%s\n%v", got, data, err)
		}
		inv, err := ParseInventory([]byte(in.Inventory))
		if err != nil {
			t.Fatal(err)
		}
		if text, err := inv.Encode(); err != nil || text != in.Inventory {
			t.Errorf("inventory\n%s\nwant\n%s\n%v", text, in.Inventory, err)
		}
	})
}

func TestParseInput(t *testing.T) {
	for text, want := range map[string]string{
		`{}`:                   "read input: no identity",
		``:                     "read input: it is empty",
		`[]`:                   "read input: it must not be an array",
		`{"csr": []}`:          "read input: csr must not be an array",
		`{"identity": "x"} {}`: "read input: it is more than one JSON object",
		`{"identity": "x"} x`:  "read input: it is more than one JSON object",
		`{"identity": 1}`:      "read input: identity must not be a number",
		`{"identty": "x"}`:     `read input: unknown field "identty"`,
		`{"identity": "x"}`:    "",
	} {
		if _, err := ParseInput([]byte(text)); errorText(err) != want {
			t.Errorf("%s: %v, want %s", text, err, want)
		}
	}
}
