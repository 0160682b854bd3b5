package fetch

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"time"
)

// statusError describes a response without a content.
func statusError(r *http.Response, u *url.URL) error {
	text := fmt.Sprintf("%d %s: %s", r.StatusCode, http.StatusText(r.StatusCode), show(u))
	switch r.StatusCode {
	case http.StatusUnauthorized:
		text += "; set username and password, or headers"
	case http.StatusProxyAuthRequired:
		text += "; put the proxy's user and password into https_proxy"
	}
	return errors.New(text)
}

// describe returns an error of a transfer in plain words and without the URL's
// query.
func describe(err error, u *url.URL) error {
	var wrapped *url.Error
	if errors.As(err, &wrapped) {
		err = wrapped.Err
	}
	if text := describeCertificate(err, u.Hostname()); text != "" {
		return errors.New(text)
	}
	var record tls.RecordHeaderError
	if errors.As(err, &record) {
		return fmt.Errorf("%s does not speak TLS on this port: write http:// if that is meant", u.Host)
	}
	return err
}

// describeCertificate describes why a certificate was refused, "" for another error.
func describeCertificate(err error, host string) string {
	var unknown x509.UnknownAuthorityError
	var invalid x509.CertificateInvalidError
	var name x509.HostnameError
	var verification *tls.CertificateVerificationError
	switch {
	case errors.As(err, &name):
		names := strings.Join(name.Certificate.DNSNames, ", ")
		if names == "" {
			names = name.Certificate.Subject.CommonName
		}
		return fmt.Sprintf("certificate of %s: it is for %s", name.Host, names)
	case errors.As(err, &invalid) && invalid.Reason == x509.Expired:
		if time.Now().Before(invalid.Cert.NotBefore) {
			return fmt.Sprintf("certificate of %s: not valid before %s; look at the clock of this machine", host, invalid.Cert.NotBefore.Format(time.DateOnly))
		}
		return fmt.Sprintf("certificate of %s: expired on %s", host, invalid.Cert.NotAfter.Format(time.DateOnly))
	case errors.As(err, &unknown):
		return fmt.Sprintf("certificate of %s: signed by an authority that this machine does not trust; install the authority's certificate", host)
	case errors.As(err, &verification):
		return fmt.Sprintf("certificate of %s: %s", host, verification.Err)
	}
	return ""
}
