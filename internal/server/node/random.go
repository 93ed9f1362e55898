package node

import (
	"crypto/rand"

	"github.com/kalda/kalda/internal/core/meta"
)

// randomID is a random (version 4) UUID.
func randomID() (u meta.UUID) {
	_, _ = rand.Read(u[:]) // never fails (crypto/rand)
	u[6] = u[6]&0x0f | 0x40
	u[8] = u[8]&0x3f | 0x80
	return u
}
