// Package jute is ZooKeeper's bytes: requests, replies, watch events, transactions and their headers.
//
// Role: turn records into bytes and back, exactly as Apache ZooKeeper 3.9 does. A record is its fields in
// order, without tags, lengths or padding; numbers are big-endian; strings and buffers have a length before
// them, -1 for null. Framing (a client's four bytes of length, the log's checksum) is the business of who
// has the bytes.
//
// Null and empty stay distinct wherever a client could tell: a nil []byte or a nil slice is null, an empty
// one is empty. A null string decodes as "" except where a type says otherwise (Text), and a null path is
// malformed.
//
// Decoding is bounded: no length is believed beyond the bytes that are there, so a hostile frame costs no
// more memory than it has itself (slices of records are sized by what the rest could hold at least). A
// Decoder keeps its first error and gives zero values from there on; whoever decodes looks at Err once, at
// the end.
package jute
