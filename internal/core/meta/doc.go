// Package meta is the cluster's metadata: the image that records build, and the plans that make records.
//
// An Image is an immutable value: the whole state at one offset of the metadata log. Image.Apply gives the
// next one and a Delta, what changed between them; the two share everything that didn't. Plans read an
// image and an input and answer with records and a result; they change nothing, and the same arguments
// always give the same records. Time, chance and the table of configuration keys are arguments.
//
// Invariants of an image: every topic is found by name and by id; partition indexes are 0..n-1; an ISR is a
// subset of its replicas and disjoint from the ELR; a leader is a member of the ISR; a fenced broker leads
// nothing and is in no ISR unless it is the last member there. Records that would break the structure are
// an error of Apply, and the image stays.
//
// Names: Plan… decides, apply… mutates a builder, code that decides nothing has plain verbs.
package meta
