package node

import (
	"github.com/kalda/kalda/internal/config"
)

// formatEmbedded formats the directories of the embedded default when they are new.
func formatEmbedded(cfg *config.Server) error {
	return nil
}
