// Package meta is the cluster's metadata: the image that records build, and the plans that make records.
package meta
