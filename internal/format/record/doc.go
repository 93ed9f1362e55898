// Package record is the records inside the internal topics: metadata, groups, transactions, and the control
// records of logs.
package record
