// Package config is server.properties as a typed table.
//
// One table holds every key: its name, type, default, range, whether it may change while the node runs,
// what it does and whether it acts in this release. The table answers DescribeConfigs, validates files and
// altered values, and generates docs/configuration.md, so that these can never disagree.
//
// A Server is one node's static configuration, immutable after Load. What may change at run time lives in
// the metadata log; it is passed in as a Dynamic, and the precedence is: the topic's (or group's) own
// value, this broker's dynamic value, the cluster-wide dynamic default, server.properties, the built-in
// default.
package config
