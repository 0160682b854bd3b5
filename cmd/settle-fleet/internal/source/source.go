// Package source fetches signed releases and bundles from a directory or from
// a web server. It verifies nothing: the caller does.
package source

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/settle-cm/settle/cmd/settle-fleet/internal/bundle"
	"github.com/settle-cm/settle/cmd/settle-fleet/internal/release"
	"github.com/settle-cm/settle/cmd/settle-fleet/internal/signature"
)

// News is the signed text that a source has for a name. A source has either
// rollouts, which name a version, or one release, which is the newest.
type News struct {
	Rollout *release.Signed
	Release *release.Signed
}

// Source is where releases come from.
type Source interface {
	// Look returns the news of a name. It is empty without a release.
	Look(ctx context.Context, name string) (News, error)
	// Release returns one version, nil when it is not there.
	Release(ctx context.Context, name string, version int64) (*release.Signed, error)
	// Fetch writes the bundle of a release.
	Fetch(ctx context.Context, r *release.Release, w io.Writer) error
}

// The files of one name in a directory or on a web server.
const (
	ReleaseFile   = "release.json"
	SignatureFile = "release.json.sig"
)

// BundleFile returns the file name of a bundle.
func BundleFile(r *release.Release) string { return r.Hex() + ".tar.gz" }

// Files is a source of plain files: a directory or a web server.
type Files struct {
	base string
	open func(ctx context.Context, name string) (io.ReadCloser, error)
}

// errMissing is returned for a file that is not there.
var errMissing = errors.New("it is not there")

// Directory returns the source of a directory.
func Directory(dir string) *Files {
	return &Files{dir, func(_ context.Context, name string) (io.ReadCloser, error) {
		file, err := os.Open(filepath.Join(dir, name))
		if errors.Is(err, os.ErrNotExist) {
			if _, err := os.Stat(dir); err != nil {
				return nil, err // a share that is not mounted is no empty one
			}
			return nil, errMissing
		}
		return file, err
	}}
}

// Web returns the source of an https URL.
func Web(url string, client *http.Client) *Files {
	base := strings.TrimSuffix(url, "/")
	return &Files{base, func(ctx context.Context, name string) (io.ReadCloser, error) {
		request, err := http.NewRequestWithContext(ctx, http.MethodGet, base+"/"+name, nil)
		if err != nil {
			return nil, err
		}
		response, err := client.Do(request)
		if err != nil {
			return nil, err
		}
		switch response.StatusCode {
		case http.StatusOK:
			return response.Body, nil
		case http.StatusNotFound:
			err = errMissing
		default:
			err = fmt.Errorf("the server answers %s", response.Status)
		}
		_ = response.Body.Close()
		return nil, err
	}}
}

// NewClient returns a client that gives up on a silent server and does not
// leave https.
func NewClient() *http.Client {
	return &http.Client{
		Timeout: 5 * time.Minute,
		Transport: &http.Transport{
			Proxy:                 http.ProxyFromEnvironment,
			TLSHandshakeTimeout:   5 * time.Second,
			ResponseHeaderTimeout: 5 * time.Second,
		},
		CheckRedirect: func(request *http.Request, via []*http.Request) error {
			if request.URL.Scheme != "https" || len(via) > 3 {
				return errors.New("it leads away from https, or too far")
			}
			return nil
		},
	}
}

// Look returns the newest release. The release is read before its signatures:
// publishing writes them in the other order, and keeps the signature of the
// release before, so that the two always fit.
func (f *Files) Look(ctx context.Context, name string) (News, error) {
	text, err := f.read(ctx, name+"/"+ReleaseFile, release.MaxText)
	if errors.Is(err, errMissing) {
		return News{}, nil
	}
	if err != nil {
		return News{}, err
	}
	armours, err := f.read(ctx, name+"/"+SignatureFile, release.MaxText)
	if err != nil && !errors.Is(err, errMissing) {
		return News{}, err
	}
	signatures, err := signature.Split(armours)
	if err != nil {
		return News{}, fmt.Errorf("%s/%s/%s: %w", f.base, name, SignatureFile, err)
	}
	return News{Release: &release.Signed{Text: string(text), Signatures: signatures}}, nil
}

// Release returns nil: such a source has only its newest release.
func (f *Files) Release(context.Context, string, int64) (*release.Signed, error) { return nil, nil }

// Fetch writes the bundle of a release.
func (f *Files) Fetch(ctx context.Context, r *release.Release, w io.Writer) error {
	return f.copy(ctx, r.Name+"/"+BundleFile(r), w, bundle.DefaultLimits.Packed)
}

func (f *Files) read(ctx context.Context, name string, limit int64) ([]byte, error) {
	var text bytes.Buffer
	err := f.copy(ctx, name, &text, limit)
	return text.Bytes(), err
}

func (f *Files) copy(ctx context.Context, name string, w io.Writer, limit int64) error {
	file, err := f.open(ctx, name)
	if errors.Is(err, errMissing) {
		return fmt.Errorf("read %s/%s: %w", f.base, name, err)
	}
	if err != nil {
		return fmt.Errorf("read %s/%s: %w", f.base, name, cause(err))
	}
	defer file.Close()
	n, err := io.Copy(w, io.LimitReader(file, limit+1))
	if err != nil {
		return fmt.Errorf("read %s/%s: %w", f.base, name, cause(err))
	}
	if n > limit {
		return fmt.Errorf("read %s/%s: it is longer than %d bytes", f.base, name, limit)
	}
	return nil
}

// cause drops the path from an error: the message names it.
func cause(err error) error {
	var pathError *os.PathError
	if errors.As(err, &pathError) {
		return pathError.Err
	}
	return err
}
