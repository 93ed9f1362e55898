package meta

// ValidateConfig checks what a resource's configuration would be: the keys set on it, after the change. It returns an error
// whose text goes to the client, as Apache's would.
type ValidateConfig func(res ConfigResource, values map[string]string) error

// ListKey says of a configuration key of a kind of resource whether it is a list, and its value when it isn't set.
type ListKey func(kind ConfigKind, name string) (def string, isList bool)
