// Package node is the composition root: it makes the parts of a node from a configuration, joins them,
// starts them in order and stops them in the opposite one.
//
// A node has the broker role, the controller role, or both. With the controller role its state machine in
// the metadata quorum is a controller.Controller, else a controller.Loader; either publishes images to the
// broker. The broker sends what the controller must decide to the controller in this process while that
// leads, and over the network otherwise.
//
// Start: identity of the directories, logs, sockets bound, quorum, controller listeners, registration,
// client listeners. Stop: controlled shutdown, client listeners, coordinators, logs, controller listeners,
// quorum.
package node
