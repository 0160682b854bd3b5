// Package contract holds the contract with the helper of a provision: Input is
// encoded for the helper, ParseReply reads its answer, and Judge decides what
// the answer asks for. It takes bytes and returns values; it touches nothing of
// the machine.
package contract
