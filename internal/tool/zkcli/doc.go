// Package zkcli is ZooKeeper's shell, zkCli: one session, one command a line or one on the command line,
// with the words, the outputs and the exit codes of Apache's.
//
// What a command answers (data, stats, lists, watches) goes to standard output, what it did not do goes to
// standard error; so does "Created /path", as in Apache's. Scripts read both.
//
// Where Apache's shell ends with a stack trace (a version that is no number), this one says what is wrong
// in the exception's words and goes on.
package zkcli
