// Package controller drives core/meta over the metadata quorum: it plans what requests ask for, appends the
// records, and answers when they are committed and published. Its two machines: Controller, on nodes with
// the controller role, and Loader, on the others.
//
// Everything but Handle and Image runs on the quorum's goroutine. A leading Controller keeps two images:
// the committed one, which others see, and the pending one, which has everything appended so far and which
// plans read. Losing leadership drops the pending one. A reply is parked with the offset of its last record
// and goes out after that offset's image is published, so that whoever is answered finds what it asked for.
package controller
