package release

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"time"
)

// Known is a machine's record of one release name. It protects against
// an old release or rollout that is shown again.
type Known struct {
	Highest    int64            `json:"highest"` // version that was ever taken up
	Digest     string           `json:"digest"`  // of that version
	Kept       map[int64]string `json:"kept"`    // versions whose directories are there, with their digests
	MayRevert  int64            `json:"may_revert_to,omitempty"`
	RolloutN   int64            `json:"rollout_n,omitempty"`
	RolloutSum string           `json:"rollout_sum,omitempty"` // SHA-256 of the rollout of that n
}

// Accept returns nil when a verified release may be taken up. The error says
// why not, for the status.
func (k *Known) Accept(r *Release, fleet, name string, now time.Time, revert bool) error {
	if r.Fleet != fleet || r.Name != name {
		return fmt.Errorf("%s is for fleet %s, not for %s of fleet %s", r, r.Fleet, name, fleet)
	}
	digest, kept := k.Kept[r.Version]
	switch {
	case r.Version == k.Highest && r.Digest != k.Digest, kept && digest != r.Digest:
		return fmt.Errorf("%s names another bundle than before: a version is never used twice", r)
	case r.Version < k.Highest && !(revert && r.Version == k.MayRevert):
		return fmt.Errorf("%s is older than %s@%d, which this machine has had: publish it again under a new version", r, name, k.Highest)
	case kept:
		return nil // it was verified when it was taken up; its expiry no longer counts
	case r.Expired(now):
		return fmt.Errorf("%s expired at %s: publish it again", r, r.Expires.UTC().Format(time.RFC3339))
	}
	return nil
}

// Take returns the record of a machine after it has taken up a release.
func (k Known) Take(r *Release) Known {
	if r.Version > k.Highest {
		k.Highest, k.Digest, k.MayRevert = r.Version, r.Digest, r.MayRevertTo
	}
	return k
}

// AcceptRollout returns nil when a verified rollout may be followed.
func (k *Known) AcceptRollout(text []byte, r *Rollout, fleet, name string) error {
	switch {
	case r.Fleet != fleet || r.Name != name:
		return fmt.Errorf("the rollout is for %s of fleet %s, not for %s of fleet %s", r.Name, r.Fleet, name, fleet)
	case r.N < k.RolloutN:
		return fmt.Errorf("the rollout has n %d, older than %d, which this machine has seen", r.N, k.RolloutN)
	case r.N == k.RolloutN && SumText(text) != k.RolloutSum:
		return fmt.Errorf("the rollout with n %d is another text than before", r.N)
	}
	return nil
}

// FollowRollout returns the record of a machine after it follows a rollout.
func (k Known) FollowRollout(text []byte, r *Rollout) Known {
	k.RolloutN, k.RolloutSum = r.N, SumText(text)
	return k
}

// SumText returns the SHA-256 of a text in hex.
func SumText(text []byte) string {
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:])
}
