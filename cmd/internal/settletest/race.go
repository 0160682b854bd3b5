//go:build race

package settletest

const raceFolder = "race"
