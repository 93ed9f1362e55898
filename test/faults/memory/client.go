package main

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"time"

	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/kalda/kalda/internal/format/batch"
)

// client is one bare connection.
type client struct {
	net.Conn
	corr int32
}

func dial(addr string) (*client, error) {
	c, err := net.DialTimeout("tcp", addr, 10*time.Second)
	if err != nil {
		return nil, err
	}
	return &client{Conn: c}, nil
}

func (c *client) close() {
	if c.Conn != nil {
		c.Conn.Close()
	}
}

// ask is one probe: metadata of the topic, within ten seconds.
func (c *client) ask(addr string) error {
	if c.Conn == nil {
		d, err := dial(addr)
		if err != nil {
			return err
		}
		c.Conn = d.Conn
	}
	_ = c.SetDeadline(time.Now().Add(10 * time.Second))
	req := kmsg.NewPtrMetadataRequest()
	req.Version = 12
	topic := kmsg.NewMetadataRequestTopic()
	topic.Topic = new("t")
	req.Topics = append(req.Topics, topic)
	if _, err := c.Write(c.frame(req)); err != nil {
		return err
	}
	b, err := c.reply()
	if err != nil {
		return err
	}
	resp := kmsg.NewPtrMetadataResponse()
	resp.Version = 12
	if err := resp.ReadFrom(b[1:]); err != nil {
		return err
	}
	if len(resp.Topics) != 1 || resp.Topics[0].ErrorCode != 0 {
		return errors.New("the topic isn't there")
	}
	return nil
}

// frame makes a request's bytes.
func (c *client) frame(req kmsg.Request) []byte {
	c.corr++
	return kmsg.NewRequestFormatter(kmsg.FormatterClientID("memory")).AppendRequest(nil, req, c.corr)
}

// reply reads one reply after its correlation id.
func (c *client) reply() ([]byte, error) {
	n, err := c.size()
	if err != nil {
		return nil, err
	}
	b := make([]byte, n)
	_, err = io.ReadFull(c, b)
	return b, err
}

// size reads the head of a reply and tells how many bytes are to come.
func (c *client) size() (int, error) {
	var head [8]byte
	if _, err := io.ReadFull(c, head[:]); err != nil {
		return 0, err
	}
	n := int(int32(binary.BigEndian.Uint32(head[:]))) - 4
	if n < 0 {
		return 0, fmt.Errorf("a reply of %d bytes", n)
	}
	return n, nil
}

// skip reads a reply and forgets it.
func (c *client) skip(buf []byte) (int, error) {
	n, err := c.size()
	for left := n; left > 0 && err == nil; {
		var got int
		got, err = c.Read(buf[:min(left, len(buf))])
		left -= got
	}
	return n, err
}

// produceFrame is a request with one batch of about size bytes for a partition.
func produceFrame(partition int32, size int) ([]byte, error) {
	var recs []batch.Record
	for n := 0; n*1000 < size; n++ {
		recs = append(recs, batch.Record{OffsetDelta: int32(n), Value: make([]byte, min(1000, size-n*1000))})
	}
	now := time.Now().UnixMilli()
	b, err := batch.Build(nil, batch.NoProducer(0, -1, now), recs)
	if err != nil {
		return nil, err
	}
	req := kmsg.NewPtrProduceRequest()
	req.Version, req.Acks, req.TimeoutMillis = 9, 1, 30000
	topic := kmsg.NewProduceRequestTopic()
	topic.Topic = "t"
	p := kmsg.NewProduceRequestTopicPartition()
	p.Partition, p.Records = partition, b
	topic.Partitions = append(topic.Partitions, p)
	req.Topics = append(req.Topics, topic)
	return (&client{}).frame(req), nil
}

// fetchFrame asks for partitions 0 to n-1 from offset 0.
func fetchFrame(n int32, each, total int32) []byte {
	req := kmsg.NewPtrFetchRequest()
	req.Version, req.MaxWaitMillis, req.MinBytes, req.MaxBytes, req.SessionEpoch = 11, 100, 1, total, -1
	topic := kmsg.NewFetchRequestTopic()
	topic.Topic = "t"
	for i := range n {
		p := kmsg.NewFetchRequestTopicPartition()
		p.Partition, p.PartitionMaxBytes = i, each
		topic.Partitions = append(topic.Partitions, p)
	}
	req.Topics = append(req.Topics, topic)
	return (&client{}).frame(req)
}
