package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// Apache Kafka 3.9.2 in ZooKeeper mode, three brokers, on our ZooKeeper: topics made by its own tools and by Kafka 2.8.2's
// over ZooKeeper, records produced and consumed, while a broker, the controller and the ZooKeeper server die and come back.
// What a broker acknowledged is accounted for.

const brokerCfg = `broker.id=%[1]d
listeners=PLAINTEXT://127.0.0.1:%[2]d
zookeeper.connect=%[3]s
zookeeper.session.timeout.ms=6000
log.dirs=%[4]s
offsets.topic.replication.factor=3
offsets.topic.num.partitions=6
transaction.state.log.replication.factor=3
transaction.state.log.min.isr=2
group.initial.rebalance.delay.ms=0
`

// zkBroker is one broker; brokers are by id, from 1 on.
type zkBroker struct {
	process
	dir string
}

// zkKafka is the cluster.
type zkKafka struct {
	*checks
	e       *env
	zk      *zkNode
	brokers []*zkBroker
	libs    string // Kafka 3.9.2's
	old     string // Kafka 2.8.2's
	tool    string // goclients/zk
	ledger  string // goclients/ledger
}

func (e *env) newZKKafka(out io.Writer) (*zkKafka, error) {
	k := &zkKafka{checks: &checks{out: out}, e: e}
	var errs [5]error
	k.libs, errs[0] = e.jars("kafka-3.9")
	k.old, errs[1] = e.jars("kafka-2.8")
	k.tool, errs[2] = e.goTool("zk")
	k.ledger, errs[3] = e.goTool("ledger")
	k.zk, errs[4] = e.newZKNode(e.node, "kafka-on-zk")
	if err := errors.Join(errs[:]...); err != nil {
		return nil, err
	}
	ports, err := freePorts(3)
	if err != nil {
		return nil, err
	}
	for i, port := range ports {
		b := &zkBroker{dir: filepath.Join(e.work, fmt.Sprintf("broker-%d", i+1))}
		b.process = process{
			e: e, name: fmt.Sprintf("broker %d", i+1), log: filepath.Join(b.dir, "broker.log"),
			address: net.JoinHostPort("127.0.0.1", strconv.Itoa(port)),
		}
		text := fmt.Appendf(nil, brokerCfg, i+1, port, k.zk.address, filepath.Join(b.dir, "data"))
		err := os.MkdirAll(b.dir, 0o755)
		if err := errors.Join(err, os.WriteFile(filepath.Join(b.dir, "server.properties"), text, 0o644)); err != nil {
			return nil, err
		}
		k.brokers = append(k.brokers, b)
	}
	return k, nil
}

func (k *zkKafka) up(b *zkBroker) error {
	env := []string{"LIBS=" + k.libs, "HEAP=-Xms256m -Xmx512m -XX:+UseG1GC"}
	return b.start(b.dir, env, k.e.here("java", "tool"), "server", filepath.Join(b.dir, "server.properties"))
}

// end ends what still runs.
func (k *zkKafka) end() {
	for _, b := range k.brokers {
		if b.running() {
			_ = b.stop(syscall.SIGKILL)
		}
	}
	if k.zk.running() {
		_ = k.zk.stop(syscall.SIGKILL)
	}
}

func (k *zkKafka) bootstrap() string {
	var all []string
	for _, b := range k.brokers {
		all = append(all, b.address)
	}
	return strings.Join(all, ",")
}

// apache runs one of Kafka's tools; libs say of which version.
func (k *zkKafka) apache(libs, class string, in io.Reader, args ...string) (string, error) {
	var b strings.Builder
	args = append([]string{k.e.here("java", "tool"), "server"}, args...)
	cmd := start(k.e.ctx, k.e.work, []string{"LIBS=" + libs, "CLASS=" + class}, &b, args...)
	cmd.Stdin = in
	if err := cmd.Run(); err != nil {
		return "", fmt.Errorf("%s: %w\n%s", class, err, b.String())
	}
	return b.String(), nil
}

const (
	topicCommand = "org.apache.kafka.tools.TopicCommand"
	oldTopics    = "kafka.admin.TopicCommand"
)

// ask runs goclients/zk.
func (k *zkKafka) ask(args ...string) (string, error) {
	var b strings.Builder
	err := start(k.e.ctx, k.e.work, []string{"ZOOKEEPER=" + k.zk.address}, &b, append([]string{k.tool}, args...)...).Run()
	if err != nil {
		return "", fmt.Errorf("%w\n%s", err, b.String())
	}
	return strings.TrimSpace(b.String()), nil
}

// controller is the broker that leads, as ZooKeeper has it.
func (k *zkKafka) controller() (*zkBroker, error) {
	text, err := k.ask("get", "/controller")
	if err != nil {
		return nil, err
	}
	var c struct {
		ID int `json:"brokerid"`
	}
	if err := json.Unmarshal([]byte(text), &c); err != nil || c.ID < 1 || c.ID > len(k.brokers) {
		return nil, fmt.Errorf("/controller is %q", text)
	}
	return k.brokers[c.ID-1], nil
}

// until repeats a look until it is content.
func (k *zkKafka) until(look func() error) error {
	for end := time.Now().Add(3 * time.Minute); ; {
		err := look()
		if err == nil || time.Now().After(end) || k.e.ctx.Err() != nil {
			return err
		}
		time.Sleep(500 * time.Millisecond)
	}
}

// settled waits until all running brokers are registered and every partition has all its replicas in sync.
func (k *zkKafka) settled() error {
	want := 0
	for _, b := range k.brokers {
		if b.running() {
			want++
		}
	}
	return k.until(func() error {
		ids, err := k.ask("ls", "/brokers/ids")
		if err != nil {
			return err
		}
		if n := len(strings.Fields(ids)); n != want {
			return fmt.Errorf("%d brokers of %d are registered", n, want)
		}
		text, err := k.apache(k.libs, topicCommand, nil, "--bootstrap-server", k.bootstrap(), "--describe",
			"--under-replicated-partitions")
		if err != nil {
			return err
		}
		if strings.Contains(text, "Topic: ") {
			return fmt.Errorf("under-replicated:\n%s", text)
		}
		return nil
	})
}

func (k *zkKafka) topics() {
	k.check("kafka-topics 3.9.2 creates a topic of two replicas", func() error {
		_, err := k.apache(k.libs, topicCommand, nil, "--bootstrap-server", k.bootstrap(), "--create", "--topic", "modern",
			"--partitions", "3", "--replication-factor", "2")
		return err
	})
	k.check("kafka-topics 2.8.2 creates one over ZooKeeper", func() error {
		_, err := k.apache(k.old, oldTopics, nil, "--zookeeper", k.zk.address, "--create", "--topic", "old", "--partitions",
			"3", "--replication-factor", "2")
		return err
	})
	k.check("both describe both", func() error {
		return k.until(func() error {
			for name, args := range map[string][]string{
				k.libs: {topicCommand, "--bootstrap-server", k.bootstrap()}, k.old: {oldTopics, "--zookeeper", k.zk.address},
			} {
				text, err := k.apache(name, args[0], nil, append(args[1:], "--describe")...)
				if err != nil {
					return err
				}
				for _, topic := range []string{"modern", "old"} {
					if n := strings.Count(text, "Topic: "+topic+"\tPartition: "); n != 3 || !strings.Contains(text, "ReplicationFactor: 2") {
						return fmt.Errorf("%d partitions of %s in\n%s", n, topic, text)
					}
				}
			}
			return nil
		})
	})
}

const consoleRecords = 500

// console produces and consumes with the console tools.
func (k *zkKafka) console(topic, prefix string) {
	var in strings.Builder
	var want []string
	for i := range consoleRecords {
		want = append(want, fmt.Sprintf("%s-%03d", prefix, i))
		fmt.Fprintln(&in, want[i])
	}
	k.check("the console producer with --broker-list, to "+topic, func() error {
		text, err := k.apache(k.libs, "kafka.tools.ConsoleProducer", strings.NewReader(in.String()), "--broker-list",
			k.bootstrap(), "--topic", topic, "--request-required-acks", "all")
		if err == nil && strings.Contains(text, "ERROR") {
			err = errors.New(text)
		}
		return err
	})
	k.check("the console consumer, from "+topic, func() error {
		text, err := k.apache(k.libs, "org.apache.kafka.tools.consumer.ConsoleConsumer", nil, "--bootstrap-server",
			k.bootstrap(), "--topic", topic, "--group", "console-"+prefix, "--from-beginning", "--timeout-ms", "15000")
		if err != nil {
			return err
		}
		lines := strings.Split(text, "\n")
		for _, line := range want {
			if !slices.Contains(lines, line) {
				return fmt.Errorf("%s isn't there", line)
			}
		}
		return nil
	})
}

// accounts are kept of a topic while body runs, and settled after it.
func (k *zkKafka) accounts(topics []string, body func()) {
	var ends []func() error
	for _, topic := range topics {
		var b strings.Builder
		file := filepath.Join(k.e.work, "ledger-"+topic)
		env := []string{"BOOTSTRAP=" + k.bootstrap()}
		cmd := start(k.e.ctx, k.e.work, env, &b, k.ledger, "produce", topic, file)
		in, err := cmd.StdinPipe()
		if err == nil {
			err = cmd.Start()
		}
		ends = append(ends, func() error {
			if err != nil {
				return err
			}
			_ = in.Close()
			if err := cmd.Wait(); err != nil {
				return fmt.Errorf("%w\n%s", err, b.String())
			}
			var c strings.Builder
			err := start(k.e.ctx, k.e.work, env, &c, k.ledger, "check", topic, file).Run()
			fmt.Fprint(k.out, topic, ": ", c.String())
			if err != nil {
				return errors.New(c.String())
			}
			return nil
		})
	}
	body()
	for i, end := range ends {
		k.check("nothing acknowledged is lost in "+topics[i], end)
	}
}

// faults are what happens meanwhile, one after another.
func (k *zkKafka) faults() {
	again := func(b *zkBroker) func() error {
		return func() error { return errors.Join(k.up(b), k.settled()) }
	}
	restart := func(signal syscall.Signal) func() error {
		return func() error {
			if err := errors.Join(k.zk.stop(signal), k.zk.up()); err != nil {
				return err
			}
			return k.settled()
		}
	}
	var victim, leader *zkBroker
	k.check("a broker that isn't the controller is killed", func() (err error) {
		if leader, err = k.controller(); err != nil {
			return err
		}
		victim = k.brokers[0]
		if victim == leader {
			victim = k.brokers[1]
		}
		return victim.stop(syscall.SIGKILL)
	})
	k.check("its partitions get other leaders", func() error { return k.led(victim) })
	k.check("it comes back", again(victim))
	k.check("the ZooKeeper server is restarted", restart(syscall.SIGTERM))
	k.check("the ZooKeeper server is killed, and restarted", restart(syscall.SIGKILL))
	k.check("the controller is killed", func() (err error) {
		if leader, err = k.controller(); err != nil {
			return err
		}
		return leader.stop(syscall.SIGKILL)
	})
	k.check("another broker is the controller", func() error {
		return k.until(func() error {
			now, err := k.controller()
			if err == nil && now == leader {
				err = fmt.Errorf("it still is %s", leader.name)
			}
			return err
		})
	})
	k.check("the old one comes back", again(leader))
}

// led waits until no partition is led by the broker, or by none.
func (k *zkKafka) led(gone *zkBroker) error {
	id := strconv.Itoa(slices.Index(k.brokers, gone) + 1)
	return k.until(func() error {
		text, err := k.apache(k.libs, topicCommand, nil, "--bootstrap-server", k.bootstrap(), "--describe")
		if err != nil {
			return err
		}
		for line := range strings.Lines(text) {
			if strings.Contains(line, "Leader: "+id+"\t") || strings.Contains(line, "Leader: none") {
				return errors.New(line)
			}
		}
		return nil
	})
}

func (e *env) kafka39OnZK(out io.Writer) error {
	k, err := e.newZKKafka(out)
	if err != nil {
		return err
	}
	defer k.end()
	if !k.check("the ZooKeeper server starts", k.zk.up) {
		return k.finish()
	}
	for _, b := range k.brokers {
		if !k.check(b.name+" starts", func() error { return k.up(b) }) {
			return k.finish()
		}
	}
	k.topics()
	k.console("modern", "before")
	k.console("old", "early")
	k.accounts([]string{"modern", "old"}, k.faults)
	k.console("modern", "after")
	for _, b := range k.brokers {
		k.check(b.name+" ends", func() error { return b.stop(syscall.SIGTERM) })
	}
	k.check("the ZooKeeper server ends", func() error { return k.zk.stop(syscall.SIGTERM) })
	return k.finish()
}
