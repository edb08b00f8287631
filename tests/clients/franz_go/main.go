// Notes each record that it has processed, and when that is committed, by lines like those of CountingConsumer.java.
// SIGTERM ends it in order.
//
// Arguments: bootstrap servers, group, topic, its own name, and settings as name=value: group.protocol,
// group.instance.id, partition.assignment.strategy (range or cooperative-sticky).
package main

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"sort"
	"strings"
	"syscall"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"
)

const (
	poll           = 100 * time.Millisecond
	commitWithin   = 30 * time.Second
	mostAtOnce     = 500
	endedBySigterm = 128 + int(syscall.SIGTERM)
)

type consumer struct {
	client *kgo.Client
	has    map[string]bool
	owes   bool
}

func main() {
	arguments := os.Args[1:]
	settings := map[string]string{}
	for _, each := range arguments[4:] {
		name, value, _ := strings.Cut(each, "=")
		settings[name] = value
	}
	own := &consumer{has: map[string]bool{}}
	client, err := kgo.NewClient(options(arguments, settings, own)...)
	if err != nil {
		fmt.Println("cannot start:", err)
		os.Exit(1)
	}
	own.client = client
	stops := make(chan os.Signal, 1)
	signal.Notify(stops, syscall.SIGTERM)
	own.run(stops)
	client.Close()
	fmt.Println("closed")
	os.Exit(endedBySigterm)
}

func options(arguments []string, settings map[string]string, own *consumer) []kgo.Opt {
	balancer := kgo.RangeBalancer()
	if settings["partition.assignment.strategy"] == "cooperative-sticky" {
		balancer = kgo.CooperativeStickyBalancer()
	}
	wanted := []kgo.Opt{
		kgo.SeedBrokers(strings.Split(arguments[0], ",")...),
		kgo.ConsumerGroup(arguments[1]),
		kgo.ConsumeTopics(arguments[2]),
		kgo.ClientID(arguments[3]),
		kgo.ConsumeResetOffset(kgo.NewOffset().AtStart()),
		kgo.FetchIsolationLevel(kgo.ReadCommitted()),
		kgo.DisableAutoCommit(),
		kgo.BlockRebalanceOnPoll(),
		kgo.Balancers(balancer),
		kgo.MetadataMaxAge(2 * time.Second),
		kgo.MetadataMinAge(500 * time.Millisecond),
		kgo.SessionTimeout(30 * time.Second),
		kgo.HeartbeatInterval(500 * time.Millisecond),
		kgo.OnPartitionsAssigned(own.assigned),
		kgo.OnPartitionsRevoked(own.revoked),
		kgo.OnPartitionsLost(own.lost),
		kgo.WithLogger(kgo.BasicLogger(os.Stdout, kgo.LogLevelError, nil)),
	}
	if instance := settings["group.instance.id"]; instance != "" {
		wanted = append(wanted, kgo.InstanceID(instance))
	}
	if settings["group.protocol"] == "consumer" {
		wanted = append(wanted, kgo.ServerSideBalancer())
	}
	return wanted
}

func (own *consumer) run(stops <-chan os.Signal) {
	for {
		select {
		case <-stops:
			own.commit(own.client)
			own.client.AllowRebalance()
			return
		default:
		}
		within, cancel := context.WithTimeout(context.Background(), poll)
		records := own.client.PollRecords(within, mostAtOnce).Records()
		cancel()
		for _, each := range records {
			fmt.Println("read", string(each.Value))
		}
		own.owes = own.owes || len(records) > 0
		own.commit(own.client)
		own.client.AllowRebalance()
	}
}

// commit commits what was processed, or leaves it for later.
func (own *consumer) commit(client *kgo.Client) {
	if !own.owes {
		return
	}
	within, cancel := context.WithTimeout(context.Background(), commitWithin)
	defer cancel()
	if err := client.CommitUncommittedOffsets(within); err != nil {
		fmt.Println("later", err)
		return
	}
	own.owes = false
	fmt.Println("committed")
}

func (own *consumer) assigned(_ context.Context, client *kgo.Client, added map[string][]int32) {
	member, generation := client.GroupMetadata()
	fmt.Println("assigned", generation, member)
	own.change(added, true)
}

func (own *consumer) revoked(_ context.Context, client *kgo.Client, gone map[string][]int32) {
	own.commit(client)
	fmt.Println("revoked", len(gone))
	own.change(gone, false)
}

func (own *consumer) lost(_ context.Context, _ *kgo.Client, gone map[string][]int32) {
	if len(own.has) > 0 {
		fmt.Println("lost", len(gone))
	}
	own.owes = false
	own.change(gone, false)
}

func (own *consumer) change(partitions map[string][]int32, added bool) {
	for topic, numbers := range partitions {
		for _, number := range numbers {
			name := fmt.Sprintf("%s-%d", topic, number)
			if added {
				own.has[name] = true
			} else {
				delete(own.has, name)
			}
		}
	}
	names := make([]string, 0, len(own.has))
	for name := range own.has {
		names = append(names, name)
	}
	sort.Strings(names)
	fmt.Println("has", strings.Join(names, " "))
}
