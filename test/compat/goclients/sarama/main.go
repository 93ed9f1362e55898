// Command sarama is the sarama suite against BOOTSTRAP.
package main

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/IBM/sarama"

	"github.com/kalda/kalda/test/compat/goclients/internal/suite"
)

type client struct {
	*suite.Suite
	adm     sarama.ClusterAdmin
	written suite.Log
}

func config() *sarama.Config {
	c := sarama.NewConfig()
	c.Version = sarama.MaxVersion
	c.Consumer.Offsets.Initial = sarama.OffsetOldest
	c.Consumer.Offsets.AutoCommit.Interval = 200 * time.Millisecond // and whenever a session ends
	c.Consumer.MaxWaitTime = 200 * time.Millisecond
	c.Consumer.Group.Session.Timeout = 10 * time.Second
	c.Consumer.Group.Heartbeat.Interval = 500 * time.Millisecond
	c.Producer.Return.Successes = true
	c.Producer.Partitioner = sarama.NewManualPartitioner
	c.Producer.Flush.Messages = 50
	c.Producer.Flush.Frequency = 10 * time.Millisecond
	return c
}

func main() {
	c := &client{Suite: suite.New("sarama")}
	adm, err := sarama.NewClusterAdmin([]string{c.Bootstrap}, config())
	if err != nil {
		panic(err)
	}
	c.adm = adm
	c.Check("create a topic", c.create)
	c.Check("describe it", c.describe)
	c.Check("topic configs", c.configs)
	for _, codec := range []sarama.CompressionCodec{
		sarama.CompressionNone, sarama.CompressionGZIP, sarama.CompressionSnappy, sarama.CompressionLZ4, sarama.CompressionZSTD,
	} {
		c.Check("produce "+codec.String(), func() error {
			return c.produce(codec.String(), func(s *sarama.Config) { s.Producer.Compression = codec })
		})
	}
	c.Check("produce acks 0", func() error {
		return c.produce("acks0", func(s *sarama.Config) { s.Producer.RequiredAcks = sarama.NoResponse })
	})
	c.Check("produce idempotent", func() error {
		return c.produce("idempotent", func(s *sarama.Config) {
			s.Producer.Idempotent = true
			s.Producer.RequiredAcks = sarama.WaitForAll
			s.Net.MaxOpenRequests = 1
		})
	})
	c.Check("consume from the beginning", c.consume)
	c.Check("offsets", c.offsets)
	c.Check("two members, a rebalance, commit", func() error { return suite.TwoMembers(&c.written, c.member) })
	c.Check("describe the group", c.describeGroup)
	c.Check("resume at the committed offsets", func() error {
		return suite.Resume(&c.written, func() error { return c.produce("resume", func(*sarama.Config) {}) }, c.member)
	})
	c.Check("delete the group", c.deleteGroup)
	c.Check("more partitions", c.grow)
	c.Check("delete the topic", c.deleteTopic)
	c.Finish()
}

func (c *client) create() error {
	if err := c.adm.CreateTopic(c.Topic, &sarama.TopicDetail{NumPartitions: suite.Partitions, ReplicationFactor: 1}, false); err != nil {
		return err
	}
	err := c.adm.CreateTopic(c.Topic, &sarama.TopicDetail{NumPartitions: 1, ReplicationFactor: 1}, false)
	if !errors.Is(err, sarama.ErrTopicAlreadyExists) {
		return fmt.Errorf("created twice: %v", err)
	}
	return nil
}

func (c *client) describe() error {
	t, err := c.adm.DescribeTopics([]string{c.Topic})
	if err != nil {
		return err
	}
	if len(t) != 1 || len(t[0].Partitions) != suite.Partitions {
		return fmt.Errorf("topic: %+v", t)
	}
	for _, p := range t[0].Partitions {
		if p.Leader < 0 || len(p.Isr) != 1 {
			return fmt.Errorf("partition: %+v", p)
		}
	}
	brokers, controller, err := c.adm.DescribeCluster()
	if err != nil {
		return err
	}
	if len(brokers) != 1 || controller < 0 {
		return fmt.Errorf("cluster: %d brokers, controller %d", len(brokers), controller)
	}
	return nil
}

func (c *client) configs() error {
	value := "7200000"
	err := c.adm.IncrementalAlterConfig(sarama.TopicResource, c.Topic,
		map[string]sarama.IncrementalAlterConfigsEntry{"retention.ms": {Operation: sarama.IncrementalAlterConfigsOperationSet, Value: &value}}, false)
	if err != nil {
		return err
	}
	// Apache's broker may answer from the metadata of a moment before.
	return suite.Until("the new value", func() bool {
		entries, err := c.adm.DescribeConfig(sarama.ConfigResource{
			Type: sarama.TopicResource, Name: c.Topic, ConfigNames: []string{"retention.ms"},
		})
		return err == nil && len(entries) == 1 && entries[0].Value == value
	})
}

func (c *client) produce(label string, more func(*sarama.Config)) error {
	conf := config()
	more(conf)
	p, err := sarama.NewAsyncProducer([]string{c.Bootstrap}, conf)
	if err != nil {
		return err
	}
	const n = 300
	results := make(chan error, 1)
	go func() { // all results are in before Close: a producer that is closing does not retry
		var fault error
		for range n {
			select {
			case <-p.Successes():
			case err := <-p.Errors():
				fault = errors.Join(fault, err)
			}
		}
		results <- fault
	}()
	c.written.Values(label, n, func(partition int32, v string) {
		p.Input() <- &sarama.ProducerMessage{
			Topic: c.Topic, Partition: partition, Key: sarama.StringEncoder("k"), Value: sarama.StringEncoder(v),
			Headers: []sarama.RecordHeader{{Key: []byte("h"), Value: []byte("1")}},
		}
	})
	return errors.Join(<-results, p.Close())
}

func (c *client) consume() error {
	conf := config()
	cons, err := sarama.NewConsumer([]string{c.Bootstrap}, conf)
	if err != nil {
		return err
	}
	defer cons.Close()
	var got suite.Log
	for p := range int32(suite.Partitions) {
		pc, err := cons.ConsumePartition(c.Topic, p, sarama.OffsetOldest)
		if err != nil {
			return err
		}
		for range c.written.Len(p) {
			select {
			case m := <-pc.Messages():
				got.Add(p, string(m.Value))
			case err := <-pc.Errors():
				return err
			case <-time.After(time.Minute):
				return fmt.Errorf("partition %d: only %d of %d", p, got.Len(p), c.written.Len(p))
			}
		}
		if err := pc.Close(); err != nil {
			return err
		}
	}
	return c.written.Same(&got, suite.Mark{})
}

func (c *client) offsets() error {
	cl, err := sarama.NewClient([]string{c.Bootstrap}, config())
	if err != nil {
		return err
	}
	defer cl.Close()
	for _, w := range []struct{ time, want int64 }{{sarama.OffsetOldest, 0}, {sarama.OffsetNewest, int64(c.written.Len(0))}, {1, 0}} {
		if o, err := cl.GetOffset(c.Topic, 0, w.time); err != nil || o != w.want {
			return fmt.Errorf("time %d: %d, %v", w.time, o, err)
		}
	}
	return nil
}

func (c *client) describeGroup() error {
	d, err := c.adm.DescribeConsumerGroups([]string{c.Group})
	if err != nil {
		return err
	}
	if len(d) != 1 || d[0].State != "Empty" {
		return fmt.Errorf("group: %+v", d[0])
	}
	o, err := c.adm.ListConsumerGroupOffsets(c.Group, nil)
	if err != nil {
		return err
	}
	for p := range int32(suite.Partitions) {
		if b := o.GetBlock(c.Topic, p); b == nil || b.Offset != int64(c.written.Len(p)) {
			return fmt.Errorf("partition %d: %+v", p, b)
		}
	}
	l, err := c.adm.ListConsumerGroups()
	if err != nil {
		return err
	}
	if _, ok := l[c.Group]; !ok {
		return errors.New("not listed")
	}
	return nil
}

func (c *client) deleteGroup() error {
	if err := c.adm.DeleteConsumerGroup(c.Group); err != nil {
		return err
	}
	l, err := c.adm.ListConsumerGroups()
	if err != nil {
		return err
	}
	if _, ok := l[c.Group]; ok {
		return errors.New("still listed")
	}
	return nil
}

func (c *client) grow() error {
	if err := c.adm.CreatePartitions(c.Topic, suite.Partitions+1, nil, false); err != nil {
		return err
	}
	return suite.Until("the new partition", func() bool {
		t, err := c.adm.DescribeTopics([]string{c.Topic})
		return err == nil && len(t) == 1 && len(t[0].Partitions) == suite.Partitions+1
	})
}

func (c *client) deleteTopic() error {
	if err := c.adm.DeleteTopic(c.Topic); err != nil {
		return err
	}
	return suite.Until("the topic gone", func() bool {
		l, err := c.adm.ListTopics()
		_, there := l[c.Topic]
		return err == nil && !there
	})
}

// sorted is a copy in order.
func sorted(p []int32) []int32 {
	p = slices.Clone(p)
	slices.Sort(p)
	return p
}
