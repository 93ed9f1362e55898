// Command kalda is Apache Kafka and its tools in one binary.
package main

func main() {}
