package zkcli

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/kalda/kalda/internal/format/jute"
	"github.com/kalda/kalda/internal/tool/zk"
)

// Where quotas are kept: below quotaRoot a copy of the path, and in it the limits and what is used.
const (
	quotaRoot = "/zookeeper/quota"
	limitsAt  = "/zookeeper_limits"
	statsAt   = "/zookeeper_stats"
)

// quota is limits, or what is used; -1 is none.
type quota struct{ count, bytes, countHard, bytesHard int64 }

var noQuota = quota{-1, -1, -1, -1}

// String is the form of the nodes. The equals sign before the hard limits is what lets releases that know
// soft limits only read the first two.
func (q *quota) String() string {
	return fmt.Sprintf("count=%d,bytes=%d=;byteHardLimit=%d;countHardLimit=%d", q.count, q.bytes, q.bytesHard,
		q.countHard)
}

// used is the form of statistics, and of quotas without hard limits.
func (q *quota) used() string { return fmt.Sprintf("count=%d,bytes=%d", q.count, q.bytes) }

func parseQuota(text string) quota {
	q := noQuota
	for _, word := range strings.FieldsFunc(text, func(r rune) bool { return r == ',' || r == ';' }) {
		name, value, _ := strings.Cut(word, "=")
		n, err := strconv.ParseInt(strings.Trim(value, "= "), 10, 64)
		if err != nil {
			continue
		}
		switch strings.TrimSpace(name) {
		case "count":
			q.count = n
		case "bytes":
			q.bytes = n
		case "countHardLimit":
			q.countHard = n
		case "byteHardLimit":
			q.bytesHard = n
		}
	}
	return q
}

// field is the limit that an option is about.
func (q *quota) field(option string) *int64 {
	switch option {
	case "n":
		return &q.count
	case "b":
		return &q.bytes
	case "N":
		return &q.countHard
	default:
		return &q.bytesHard
	}
}

func chosenQuota(p *parsed) string {
	for _, option := range quotaKinds {
		if p.has(option) {
			return option
		}
	}
	return ""
}

func doSetQuota(s *shell, p *parsed) error {
	option, path := chosenQuota(p), p.args[1]
	n, err := number[int64](p.opts[option])
	switch {
	case err != nil:
		return problem("NumberFormatException happens when parsing the option value")
	case n <= 0 && (option == "n" || option == "N"):
		return problem("the num quota must be greater than zero")
	case n < 0:
		return problem("the bytes quota must be greater than or equal to zero")
	}
	if err := s.quotaAllowed(path); err != nil {
		return err
	}
	q := noQuota
	*q.field(option) = n
	return s.storeQuota(path, q, option)
}

func (s *shell) quotaAllowed(path string) error {
	if err := checkPath(path); err != nil {
		return err
	}
	if strings.HasPrefix(path, quotaRoot) {
		return problem("cannot set a quota under the path: " + quotaRoot)
	}
	if err := checkPath(quotaRoot + path); err != nil { // Apache's words for "/"
		return err
	}
	_, err := s.session.Exists(path, false)
	if zk.CodeOf(err) == jute.NoNode {
		return problem(path + " does not exist.")
	}
	if err != nil {
		return err
	}
	if below, err := s.quotaBelow(quotaRoot + path); err != nil || below != "" {
		if err != nil {
			return err
		}
		return problem(path + " has a child " + below + " which has a quota")
	}
	for at := path; ; {
		if at = at[:strings.LastIndexByte(at, '/')]; at == "" {
			return nil
		}
		if _, err := s.session.Exists(quotaRoot+at+limitsAt, false); err == nil {
			return problem(path + " has a parent " + at + " which has a quota")
		}
	}
}

// quotaBelow finds a path under one that has a quota.
func (s *shell) quotaBelow(at string) (string, error) {
	names, _, err := s.session.Children(at, false)
	if zk.CodeOf(err) == jute.NoNode {
		return "", nil
	}
	if err != nil {
		return "", err
	}
	for _, name := range names {
		child := join(at, name)
		if strings.HasPrefix("/"+name, "/zookeeper_") {
			continue
		}
		if _, err := s.session.Exists(child+limitsAt, false); err == nil {
			return strings.TrimPrefix(child, quotaRoot), nil
		}
		if below, err := s.quotaBelow(child); err != nil || below != "" {
			return below, err
		}
	}
	return "", nil
}

func (s *shell) storeQuota(path string, q quota, option string) error {
	at := quotaRoot + path
	for i := range at {
		if i > len(quotaRoot) && at[i] == '/' {
			if err := s.createIfMissing(at[:i], nil); err != nil {
				return err
			}
		}
	}
	if err := s.createIfMissing(at, nil); err != nil {
		return err
	}
	data, _, err := s.session.Get(at+limitsAt, false)
	if err == nil {
		old := parseQuota(string(data))
		*old.field(option) = *q.field(option)
		_, err = s.session.Set(at+limitsAt, []byte(old.String()), anyVersion)
		return err
	}
	if zk.CodeOf(err) != jute.NoNode {
		return err
	}
	if err := s.createIfMissing(at+limitsAt, []byte(q.String())); err != nil {
		return err
	}
	// The server fills it in when the limits appear.
	return s.createIfMissing(at+statsAt, []byte((&quota{}).used()))
}

func (s *shell) createIfMissing(path string, data []byte) error {
	_, err := s.session.Create(zk.Node{Path: path, Data: data, ACL: jute.OpenACL()})
	if zk.CodeOf(err) == jute.NodeExists {
		return nil
	}
	return err
}

func doListQuota(s *shell, p *parsed) error {
	path := p.args[1]
	fmt.Fprintf(s.err, "absolute path is %s\n", quotaRoot+path+limitsAt)
	limits, _, err := s.session.Get(quotaRoot+path+limitsAt, false)
	if zk.CodeOf(err) == jute.NoNode {
		fmt.Fprintf(s.err, "quota for %s does not exist.\n", path)
		return nil
	}
	if err != nil {
		return err
	}
	limit := parseQuota(string(limits))
	fmt.Fprintf(s.out, "Output quota for %s %s\n", path, limit.String())
	stats, _, err := s.session.Get(quotaRoot+path+statsAt, false)
	if err != nil {
		return err
	}
	used := parseQuota(string(stats))
	fmt.Fprintf(s.out, "Output stat for %s %s\n", path, used.used())
	return nil
}

func doDelQuota(s *shell, p *parsed) error {
	option, path := chosenQuota(p), p.args[1]
	at := quotaRoot + path
	if err := checkPath(at); err != nil {
		return err
	}
	data, _, err := s.session.Get(at+limitsAt, false)
	if zk.CodeOf(err) == jute.NoNode {
		fmt.Fprintf(s.out, "Quota does not exist for %s\n", path)
		return nil
	}
	if err != nil {
		return err
	}
	if option != "" {
		q := parseQuota(string(data))
		*q.field(option) = -1
		_, err = s.session.Set(at+limitsAt, []byte(q.String()), anyVersion)
		return err
	}
	for _, node := range []string{at + limitsAt, at + statsAt} {
		if err := s.session.Delete(node, anyVersion); err != nil && zk.CodeOf(err) != jute.NoNode {
			return err
		}
	}
	for at != quotaRoot { // and the parents that nobody needs
		if err := s.session.Delete(at, anyVersion); err != nil {
			return nil //nolint:nilerr // another quota is below it
		}
		at = at[:strings.LastIndexByte(at, '/')]
	}
	return nil
}
