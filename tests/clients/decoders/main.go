// What do the libraries that lag exporters and UIs are made of read of a group? Arguments: bootstrap servers, group.
// Prints one object of JSON: by library what it decodes, each with the errors that it reports.
package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"sort"
	"strings"
	"time"

	"github.com/IBM/sarama"
	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kgo"
)

const patience = 60 * time.Second

// member is a member of a group as it is described.
type member struct {
	Instance      string   `json:"instance"`
	Topics        []string `json:"topics"`
	TopicsError   string   `json:"topics_error"`
	Assigned      []string `json:"assigned"`
	AssignedError string   `json:"assigned_error"`
}

// reading is what a library reads of one group. Partitions are "topic:number".
type reading struct {
	Listed       string           `json:"listed"`
	State        string           `json:"state"`
	ProtocolType string           `json:"protocol_type"`
	Protocol     string           `json:"protocol"`
	Members      []member         `json:"members"`
	Committed    map[string]int64 `json:"committed"`
	Lag          map[string]int64 `json:"lag"`
	Errors       []string         `json:"errors"`
}

func newReading() *reading {
	return &reading{
		Members:   []member{},
		Committed: map[string]int64{},
		Lag:       map[string]int64{},
		Errors:    []string{},
	}
}

func (r *reading) note(what string, err error) {
	if err != nil {
		r.Errors = append(r.Errors, what+": "+err.Error())
	}
}

func main() {
	bootstrap, group := strings.Split(os.Args[1], ","), os.Args[2]
	found := map[string]*reading{"kadm": byKadm(bootstrap, group), "sarama": bySarama(bootstrap, group)}
	if err := json.NewEncoder(os.Stdout).Encode(found); err != nil {
		panic(err)
	}
}

// byKadm is franz-go's admin client. kadm does not report bytes that it cannot decode: fields stay empty.
func byKadm(bootstrap []string, group string) *reading {
	read := newReading()
	connection, err := kgo.NewClient(kgo.SeedBrokers(bootstrap...))
	if err != nil {
		read.note("connect", err)
		return read
	}
	defer connection.Close()
	client := kadm.NewClient(connection)
	limit, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()

	listed, err := client.ListGroups(limit)
	read.note("list", err)
	read.Listed = listed[group].ProtocolType
	lags, err := client.Lag(limit, group)
	read.note("lag", err)
	of := lags[group]
	read.note("describe", of.DescribeErr)
	read.note("offsets", of.FetchErr)
	read.State, read.ProtocolType, read.Protocol = of.State, of.ProtocolType, of.Protocol
	for _, each := range of.Members {
		shown := member{Topics: []string{}, Assigned: []string{}}
		if each.InstanceID != nil {
			shown.Instance = *each.InstanceID
		}
		if joined, ok := each.Join.AsConsumer(); ok {
			shown.Topics = append(shown.Topics, joined.Topics...)
		} else {
			shown.TopicsError = "not a consumer's"
		}
		if assigned, ok := each.Assigned.AsConsumer(); ok {
			for _, topic := range assigned.Topics {
				for _, number := range topic.Partitions {
					shown.Assigned = append(shown.Assigned, partition(topic.Topic, number))
				}
			}
		} else {
			shown.AssignedError = "not a consumer's"
		}
		read.add(shown)
	}
	for _, each := range of.Lag.Sorted() {
		read.note("lag of "+partition(each.Topic, each.Partition), each.Err)
		read.Lag[partition(each.Topic, each.Partition)] = each.Lag
		if each.Commit.At >= 0 {
			read.Committed[partition(each.Topic, each.Partition)] = each.Commit.At
		}
	}
	return read
}

// bySarama asks sarama's admin client; lag is not computed by it but by those who use it.
func bySarama(bootstrap []string, group string) *reading {
	read := newReading()
	config := sarama.NewConfig()
	config.Version = sarama.MaxVersion
	client, err := sarama.NewClusterAdmin(bootstrap, config)
	if err != nil {
		read.note("connect", err)
		return read
	}
	defer client.Close()

	listed, err := client.ListConsumerGroups()
	read.note("list", err)
	read.Listed = listed[group]
	described, err := client.DescribeConsumerGroups([]string{group})
	read.note("describe", err)
	for _, of := range described {
		if of.Err != sarama.ErrNoError {
			read.note("describe", of.Err)
		}
		read.State, read.ProtocolType, read.Protocol = of.State, of.ProtocolType, of.Protocol
		for _, each := range of.Members {
			read.add(saramas(each))
		}
	}
	offsets, err := client.ListConsumerGroupOffsets(group, nil)
	read.note("offsets", err)
	if offsets != nil {
		for topic, blocks := range offsets.Blocks {
			for number, block := range blocks {
				if block.Offset >= 0 {
					read.Committed[partition(topic, number)] = block.Offset
				}
			}
		}
	}
	return read
}

func saramas(each *sarama.GroupMemberDescription) member {
	shown := member{Topics: []string{}, Assigned: []string{}}
	if each.GroupInstanceId != nil {
		shown.Instance = *each.GroupInstanceId
	}
	joined, err := each.GetMemberMetadata()
	if err != nil {
		shown.TopicsError = err.Error()
	} else if joined != nil {
		shown.Topics = append(shown.Topics, joined.Topics...)
	}
	assigned, err := each.GetMemberAssignment()
	if err != nil {
		shown.AssignedError = err.Error()
	} else if assigned != nil {
		for topic, numbers := range assigned.Topics {
			for _, number := range numbers {
				shown.Assigned = append(shown.Assigned, partition(topic, number))
			}
		}
	}
	return shown
}

func (r *reading) add(shown member) {
	sort.Strings(shown.Topics)
	sort.Strings(shown.Assigned)
	r.Members = append(r.Members, shown)
}

func partition(topic string, number int32) string {
	return fmt.Sprintf("%s:%d", topic, number)
}
