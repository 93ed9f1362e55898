//go:build !linux

package doctor

import (
	"errors"
	"os"
)

func descriptors() (uint64, error) { return 0, errors.ErrUnsupported }

func synced() (bool, error) { return false, errors.ErrUnsupported }

func volume(string) (Volume, error) { return Volume{}, errors.ErrUnsupported }

func writable(path string) error {
	_, err := os.Stat(path)
	return err
}

func holder(string) (int, bool, error) { return 0, false, errors.ErrUnsupported }

func process(int) string { return "" }
