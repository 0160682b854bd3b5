//go:build !unix

package settletest

func setUmask(int) {}
