// Command apis prints what the ApiVersions of the broker at BOOTSTRAP tell: a line for each key with its versions.
package main

import (
	"context"
	"fmt"
	"os"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"
)

func main() {
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, "apis:", err)
		os.Exit(1)
	}
}

func run() error {
	cl, err := kgo.NewClient(kgo.SeedBrokers(os.Getenv("BOOTSTRAP")))
	if err != nil {
		return err
	}
	defer cl.Close()
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
	defer cancel()
	req := kmsg.NewPtrApiVersionsRequest()
	req.ClientSoftwareName, req.ClientSoftwareVersion = "kalda-compat", "1"
	resp, err := cl.SeedBrokers()[0].Request(ctx, req)
	if err != nil {
		return err
	}
	for _, k := range resp.(*kmsg.ApiVersionsResponse).ApiKeys {
		fmt.Println(k.ApiKey, k.MinVersion, k.MaxVersion, kmsg.NameForKey(k.ApiKey))
	}
	return nil
}
