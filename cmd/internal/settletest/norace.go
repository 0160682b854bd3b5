//go:build !race

package settletest

const raceFolder = "bin" // there is no other program
