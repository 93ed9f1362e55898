package broker

import (
	"fmt"
	"slices"
	"testing"

	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/kalda/kalda/internal/format/kerr"
	"github.com/kalda/kalda/internal/format/record"
)

func TestListConfigResources(t *testing.T) {
	f := start(t)
	f.topic("t", 1)
	f.topic("u", 1, "retention.ms=5")
	value := "60000"
	f.apply(&record.Config{ResourceType: 32, ResourceName: "g", Name: "consumer.session.timeout.ms", Value: &value},
		&record.Config{ResourceType: 16, ResourceName: "m", Name: "interval.ms", Value: &value})
	c := f.raw()
	for _, k := range []struct {
		version int16
		kinds   []int8
		code    kerr.Code
		want    []string
	}{
		{1, nil, 0, []string{"2 t", "2 u", "4 1", "8 1", "16 m", "32 g"}},
		{1, []int8{32, 16, 32}, 0, []string{"16 m", "32 g"}},
		{1, []int8{2, 3}, kerr.UnsupportedVersion, nil},
		{0, nil, 0, []string{"16 m"}},
	} {
		req := kmsg.NewPtrListConfigResourcesRequest()
		req.ResourceTypes = k.kinds
		resp := do[*kmsg.ListConfigResourcesResponse](c, req, k.version)
		var got []string
		for _, r := range resp.ConfigResources {
			got = append(got, fmt.Sprint(r.Type, " ", r.Name))
		}
		slices.Sort(got)
		slices.Sort(k.want)
		if kerr.Code(resp.ErrorCode) != k.code || !slices.Equal(got, k.want) {
			t.Errorf("%+v: code %d, %q", k, resp.ErrorCode, got)
		}
	}
}
