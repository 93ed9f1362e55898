package config

// Source says where an effective value comes from, with the numbers that DescribeConfigs uses.
type Source int8

// The sources of values.
const (
	SourceTopic          Source = 1
	SourceDynamicBroker  Source = 2
	SourceDynamicDefault Source = 3
	SourceStatic         Source = 4
	SourceDefault        Source = 5
	SourceLogger         Source = 6
	SourceClientMetrics  Source = 7
	SourceGroup          Source = 8
)

// Resource is a kind of thing that has configs, with the wire's numbers.
type Resource int8

// The kinds of resources.
const (
	ResourceTopic         Resource = 2
	ResourceBroker        Resource = 4
	ResourceBrokerLogger  Resource = 8
	ResourceClientMetrics Resource = 16
	ResourceGroup         Resource = 32
)
