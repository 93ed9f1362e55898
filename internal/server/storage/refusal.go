package storage

import "fmt"

// Refusal is an error that a person can act on, worded as Apache's tools word it: a whole sentence, for
// scripts know it.
type Refusal struct {
	message string
	cause   error
}

// Error is the sentence.
func (r *Refusal) Error() string { return r.message }

// Unwrap is what led to it, if anything did.
func (r *Refusal) Unwrap() error { return r.cause }

func refuse(format string, args ...any) error {
	r := &Refusal{message: fmt.Sprintf(format, args...)}
	for _, a := range args {
		if err, ok := a.(error); ok {
			r.cause = err
		}
	}
	return r
}
