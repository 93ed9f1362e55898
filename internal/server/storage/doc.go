// Package storage formats log directories as kafka-storage does, says what is in them, and checks at
// start-up that they are this node's. A formatted directory has a meta.properties, written last, so that an
// interrupted format is seen as none; a controller's metadata directory also has the 0-0 snapshot with the
// records that an empty metadata log begins with.
package storage
