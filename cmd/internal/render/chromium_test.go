package render

import (
	"bufio"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"
	"time"
)

// chromium is a real browser, spoken to over a pair of pipes in its own
// protocol: no driver, no port, nothing to install but the browser.
type chromium struct {
	t       *testing.T
	in      *os.File
	session string

	mu      sync.Mutex
	last    int
	waiting map[int]chan message
	said    []string // errors and exceptions of the page
	loaded  chan struct{}
}

type message struct {
	ID        int             `json:"id,omitempty"`
	SessionID string          `json:"sessionId,omitempty"`
	Method    string          `json:"method,omitempty"`
	Params    json.RawMessage `json:"params,omitempty"`
	Result    json.RawMessage `json:"result,omitempty"`
	Error     json.RawMessage `json:"error,omitempty"`
}

// patience is how long a step may take on a busy machine.
const patience = 60 * time.Second

func startChromium(t *testing.T) *chromium {
	t.Helper()
	path, err := exec.LookPath("chromium")
	if err != nil {
		t.Skip("chromium is not installed (Debian: chromium)")
	}
	toRead, in, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	out, toWrite, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(path, "--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--hide-scrollbars", "--window-size=1300,900",
		"--no-first-run", "--disable-background-networking", "--remote-debugging-pipe", "--user-data-dir="+t.TempDir(), "about:blank")
	cmd.ExtraFiles = []*os.File{toRead, toWrite} // descriptors 3 and 4
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	_ = toRead.Close()
	_ = toWrite.Close()
	c := &chromium{t: t, in: in, waiting: map[int]chan message{}, loaded: make(chan struct{}, 10)}
	read := make(chan struct{})
	go func() { c.read(out); close(read) }()
	t.Cleanup(func() {
		c.call("Browser.close", nil)
		_ = cmd.Wait()
		_ = in.Close()
		<-read
	})
	var target struct{ TargetID string }
	c.into(&target, "Target.createTarget", map[string]any{"url": "about:blank"})
	var attached struct{ SessionID string }
	c.into(&attached, "Target.attachToTarget", map[string]any{"targetId": target.TargetID, "flatten": true})
	c.session = attached.SessionID
	for _, domain := range []string{"Page", "Runtime", "Log", "Network"} {
		c.call(domain+".enable", nil)
	}
	return c
}

// serve reports the failures of the browser to a test, until the returned function is called.
func (c *chromium) serve(t *testing.T) func() {
	t.Helper()
	before := c.t
	c.t = t
	return func() { c.t = before }
}

// read takes messages, each ended by a NUL, until the browser is gone.
func (c *chromium) read(out *os.File) {
	r := bufio.NewReaderSize(out, 1<<20)
	for {
		text, err := r.ReadBytes(0)
		if err != nil {
			return
		}
		var m message
		if json.Unmarshal(text[:len(text)-1], &m) != nil {
			continue
		}
		c.mu.Lock()
		switch m.Method {
		case "":
			if reply := c.waiting[m.ID]; reply != nil {
				reply <- m
			}
		case "Runtime.exceptionThrown", "Log.entryAdded", "Runtime.consoleAPICalled":
			c.said = append(c.said, string(m.Params))
		case "Network.requestWillBeSent":
			var p struct{ Request struct{ URL string } }
			_ = json.Unmarshal(m.Params, &p)
			if u, err := url.Parse(p.Request.URL); err != nil || u.Scheme != "file" && u.Scheme != "about" {
				c.said = append(c.said, "request to "+p.Request.URL)
			}
		case "Page.loadEventFired":
			c.loaded <- struct{}{}
		}
		c.mu.Unlock()
	}
}

func (c *chromium) call(method string, params any) json.RawMessage {
	c.t.Helper()
	c.mu.Lock()
	c.last++
	id, reply := c.last, make(chan message, 1)
	c.waiting[id] = reply
	c.mu.Unlock()
	if params == nil {
		params = struct{}{}
	}
	raw, err := json.Marshal(params)
	if err != nil {
		c.t.Fatal(err)
	}
	text, err := json.Marshal(message{ID: id, SessionID: c.session, Method: method, Params: raw})
	if err != nil {
		c.t.Fatal(err)
	}
	if method == "Browser.close" {
		text, _ = json.Marshal(message{ID: id, Method: method, Params: raw})
	}
	if _, err := c.in.Write(append(text, 0)); err != nil {
		c.t.Fatalf("%s: %v", method, err)
	}
	select {
	case m := <-reply:
		if m.Error != nil {
			c.t.Fatalf("%s: %s", method, m.Error)
		}
		return m.Result
	case <-time.After(patience):
		c.t.Fatalf("%s: no answer", method)
	}
	return nil
}

func (c *chromium) into(result any, method string, params any) {
	c.t.Helper()
	if err := json.Unmarshal(c.call(method, params), result); err != nil {
		c.t.Fatal(err)
	}
}

// open shows a page from a file and waits until it is loaded.
func (c *chromium) open(doc []byte, ending string) {
	c.t.Helper()
	file := filepath.Join(c.t.TempDir(), "page"+ending)
	if err := os.WriteFile(file, doc, 0o600); err != nil {
		c.t.Fatal(err)
	}
	for len(c.loaded) > 0 {
		<-c.loaded
	}
	c.call("Page.navigate", map[string]any{"url": "file://" + file})
	select {
	case <-c.loaded:
	case <-time.After(patience):
		c.t.Fatal("the page did not load")
	}
}

// eval runs an expression in the page and decodes its value into result, unless that is nil.
func (c *chromium) eval(result any, expression string) {
	c.t.Helper()
	var r struct {
		Result           struct{ Value json.RawMessage }
		ExceptionDetails json.RawMessage
	}
	c.into(&r, "Runtime.evaluate", map[string]any{"expression": expression, "returnByValue": true, "awaitPromise": true})
	if r.ExceptionDetails != nil {
		c.t.Fatalf("%s: %s", expression, r.ExceptionDetails)
	}
	if result == nil {
		return
	}
	if err := json.Unmarshal(r.Result.Value, result); err != nil {
		c.t.Fatalf("%s: %v", expression, err)
	}
}

// until waits until an expression is true.
func (c *chromium) until(expression string) {
	c.t.Helper()
	for deadline := time.Now().Add(patience); time.Now().Before(deadline); time.Sleep(10 * time.Millisecond) {
		if c.number("("+expression+") ? 1 : 0") == 1 {
			return
		}
	}
	c.t.Fatalf("it did not come to %s", expression)
}

func (c *chromium) number(expression string) (n float64) {
	c.t.Helper()
	c.eval(&n, expression)
	return n
}

func (c *chromium) text(expression string) (s string) {
	c.t.Helper()
	c.eval(&s, expression)
	return s
}

// key presses and releases a key, as a person would.
func (c *chromium) key(key string) {
	c.t.Helper()
	press := map[string]any{"type": "keyDown", "key": key}
	if len(key) == 1 {
		press["text"] = key
	}
	if code, ok := map[string]int{"Enter": 13, "Tab": 9, "Escape": 27}[key]; ok {
		press["windowsVirtualKeyCode"] = code
		if key == "Enter" {
			press["text"] = "\r"
		}
	}
	c.call("Input.dispatchKeyEvent", press)
	c.call("Input.dispatchKeyEvent", map[string]any{"type": "keyUp", "key": key})
}

// click presses the mouse in the middle of the element that a selector finds.
func (c *chromium) click(selector string) {
	c.t.Helper()
	var at struct{ X, Y float64 }
	c.eval(&at, fmt.Sprintf(`(() => { const e = document.querySelector(%q); e.scrollIntoView({block: "center"}); const r = e.getBoundingClientRect(); return {x: r.x + r.width / 2, y: r.y + r.height / 2}; })()`, selector))
	for _, kind := range []string{"mousePressed", "mouseReleased"} {
		c.call("Input.dispatchMouseEvent", map[string]any{"type": kind, "x": at.X, "y": at.Y, "button": "left", "clickCount": 1})
	}
}

// media sets the colour scheme, or print, that the page sees.
func (c *chromium) media(kind, scheme string) {
	c.t.Helper()
	c.call("Emulation.setEmulatedMedia", map[string]any{"media": kind, "features": []map[string]string{{"name": "prefers-color-scheme", "value": scheme}}})
}

// quiet fails the test if the page logged an error or requested a file.
func (c *chromium) quiet() {
	c.t.Helper()
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, s := range c.said {
		c.t.Errorf("the page said: %s", s)
	}
	c.said = nil
}

// screenshot keeps a picture of the page for people, where SETTLE_SCREENSHOTS
// names a folder.
func (c *chromium) screenshot(name string, width, height int) {
	c.t.Helper()
	dir := os.Getenv("SETTLE_SCREENSHOTS")
	if dir == "" {
		return
	}
	c.call("Emulation.setDeviceMetricsOverride", map[string]any{"width": width, "height": height, "deviceScaleFactor": 1, "mobile": false})
	var shot struct{ Data string }
	c.into(&shot, "Page.captureScreenshot", map[string]any{"format": "png"})
	picture, err := base64.StdEncoding.DecodeString(shot.Data)
	if err != nil {
		c.t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, name+".png"), picture, 0o644); err != nil {
		c.t.Fatal(err)
	}
	c.call("Emulation.clearDeviceMetricsOverride", nil)
}
