package fetch

import (
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"

	"github.com/settle-cm/settle/model"
)

const schemeFile = "file"

// Check returns an error when a text is no URL that Get accepts. The error never
// holds the text, which may contain a password.
func Check(text string) error {
	_, err := parse(text)
	return err
}

func parse(text string) (*url.URL, error) {
	u, err := url.Parse(text)
	switch {
	case err != nil:
		return nil, model.NewAdvice("it is no URL", "write https://HOST/PATH")
	case u.User != nil:
		return nil, model.NewAdvice("a user and a password in a URL are shown by every program", "set username and password")
	case u.Scheme == schemeFile && (u.Host != "" && u.Host != "localhost" || !strings.HasPrefix(u.Path, "/")):
		return nil, model.NewAdvice("a file URL names an absolute path of this machine", "write file:///PATH")
	case u.Scheme == schemeFile:
		return u, nil
	case u.Scheme != "http" && u.Scheme != "https":
		return nil, model.NewAdvice(fmt.Sprintf("the scheme %q is not supported", u.Scheme), "write https://, http:// or file:///")
	case u.Hostname() == "":
		return nil, model.NewAdvice("the host is missing", "write "+u.Scheme+"://HOST/PATH")
	}
	u.Fragment = ""
	return u, nil
}

// show returns a URL for messages. A query may hold a token, so it is left out.
func show(u *url.URL) string {
	shown := url.URL{Scheme: u.Scheme, Host: u.Host, Path: u.Path}
	return shown.String()
}

// errRedirects reports a chain of redirects without an end.
var errRedirects = fmt.Errorf("more than %d redirects", maxRedirects)

// checkRedirect decides whether a redirect is followed. Headers and credentials
// of the request go to the first host only, and neither does the URL of the first
// host, which may hold a token.
func checkRedirect(next *http.Request, before []*http.Request) error {
	first, last := before[0], before[len(before)-1]
	switch {
	case len(before) > maxRedirects:
		return errRedirects
	case last.URL.Scheme == "https" && next.URL.Scheme != "https":
		return fmt.Errorf("%s leads from https to %s, which is not followed", show(last.URL), next.URL.Scheme)
	case next.URL.Scheme != "http" && next.URL.Scheme != "https":
		return fmt.Errorf("%s leads to the scheme %q, which is not followed", show(last.URL), next.URL.Scheme)
	case next.URL.User != nil:
		return errors.New("a redirect holds a user and a password, which is not followed")
	}
	foreign := next.URL.Host != first.URL.Host
	for _, r := range before {
		foreign = foreign || r.URL.Host != first.URL.Host
	}
	next.Header.Del("Referer")
	if foreign {
		next.Header = http.Header{"User-Agent": first.Header["User-Agent"]}
		next.Host = ""
	}
	return nil
}
