//go:build race

package settletest

const raceDetector = true
