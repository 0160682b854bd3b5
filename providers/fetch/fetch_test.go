package fetch

import (
	"bytes"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/settle-cm/settle/model"
	"github.com/settle-cm/settle/model/download"
)

func TestTransfersThatFail(t *testing.T) {
	t.Parallel()
	release := make(chan struct{})
	mux := http.NewServeMux()
	mux.HandleFunc("/missing", http.NotFound)
	mux.HandleFunc("/loop", func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, "/loop", http.StatusFound) })
	mux.HandleFunc("/other", func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, "gopher://x/", http.StatusFound) })
	mux.HandleFunc("/cut", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Length", "10")
		_, _ = w.Write([]byte("abc")) // the client notices
	})
	mux.HandleFunc("/stall", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Length", "10")
		w.WriteHeader(http.StatusOK)
		_ = http.NewResponseController(w).Flush() // the client notices
		<-release
	})
	mux.HandleFunc("/good", func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte("abc")) })
	server := httptest.NewServer(mux)
	t.Cleanup(server.Close)
	t.Cleanup(func() { close(release) })
	c := Client{StallAfter: 300 * time.Millisecond}
	for path, want := range map[string]string{
		"/missing": "404 Not Found: " + server.URL + "/missing", "/loop": "more than 10 redirects",
		"/other": `the scheme "gopher"`, "/cut": "ended after 3 of 10 bytes", "/stall": "stalled: no byte for 300ms",
		"/good": "nothing was changed",
	} {
		sum := download.Checksum{Algorithm: "sha256", Hex: strings.Repeat("0", 64)}
		_, err := c.Get(t.Context(), download.Request{URL: server.URL + path + "?token=hidden", Checksum: sum}, &bytes.Buffer{})
		if err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "hidden") {
			t.Errorf("%s: %v", path, err)
		}
	}
}

func TestCredentialsGoToTheFirstHostOnly(t *testing.T) {
	t.Parallel()
	var got http.Header
	second := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { got = r.Header }))
	defer second.Close()
	first := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if _, password, _ := r.BasicAuth(); password != "word" || r.Header.Get("X-Token") != "key" {
			http.Error(w, "", http.StatusUnauthorized)
			return
		}
		http.Redirect(w, r, second.URL, http.StatusFound)
	}))
	defer first.Close()
	c := Client{}
	request := download.Request{
		URL: first.URL, Username: "user", Password: "word",
		Headers: []model.Pair{{Key: "X-Token", Value: model.Value{Text: "key"}}},
	}
	if _, err := c.Get(t.Context(), request, &bytes.Buffer{}); err != nil {
		t.Fatal(err)
	}
	for _, key := range []string{"Authorization", "X-Token", "Referer"} {
		if got.Get(key) != "" {
			t.Errorf("the second host got %s", key)
		}
	}
}

func TestCertificateErrorsArePlain(t *testing.T) {
	t.Parallel()
	server := httptest.NewTLSServer(http.NotFoundHandler())
	defer server.Close()
	c := Client{}
	_, err := c.Get(t.Context(), download.Request{URL: server.URL}, &bytes.Buffer{})
	if err == nil || !strings.Contains(err.Error(), "that this machine does not trust") {
		t.Error(err)
	}
}

func TestURLsWithPasswordsAreRefused(t *testing.T) {
	t.Parallel()
	for _, text := range []string{"https://u:secret@h/", "ftp://h/", "https:///x", "file://h/x", "x", "%"} {
		if err := Check(text); err == nil || model.SuggestionOf(err) == "" || strings.Contains(err.Error(), "secret") {
			t.Errorf("%s: %v", text, err)
		}
	}
}
