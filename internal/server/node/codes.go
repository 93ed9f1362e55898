package node

import (
	"fmt"

	"github.com/kalda/kalda/internal/format/kerr"
)

// codeError is an answer's error code as an error.
func codeError(what string, code int16) error {
	return fmt.Errorf("%s: %w", what, kerr.Code(code))
}
