package zkcli

import (
	"fmt"
	"strings"

	"github.com/kalda/kalda/internal/format/jute"
)

func doGetACL(s *shell, p *parsed) error {
	if err := checkPath(p.args[1]); err != nil {
		return err
	}
	acl, stat, err := s.session.ACL(p.args[1])
	if err != nil {
		return err
	}
	for _, a := range acl {
		fmt.Fprintf(s.out, "'%s,'%s\n: %s\n", a.ID.Scheme, a.ID.ID, permText(a.Perms))
	}
	s.showStat(p, stat)
	return nil
}

func doSetACL(s *shell, p *parsed) error {
	path := p.args[1]
	acl := parseACL(s.err, p.args[2])
	version, err := versionOf(p)
	if err != nil {
		return err
	}
	if err := checkPath(path); err != nil {
		return err
	}
	set := func(path string) error {
		if err := emptyACL(acl); err != nil {
			return err
		}
		stat, err := s.session.SetACL(path, acl, version)
		if err == nil {
			s.showStat(p, stat)
		}
		return err
	}
	if !p.has("R") {
		return set(path)
	}
	return s.visit(path, false, func(path string) {
		if err := set(path); err != nil {
			fmt.Fprint(s.out, err)
		}
	})
}

func doAddAuth(s *shell, p *parsed) error {
	var auth []byte
	if len(p.args) > 2 {
		auth = []byte(p.args[2])
	}
	s.session.AddAuth(p.args[1], auth)
	return nil
}

func doWhoAmI(s *shell, _ *parsed) error {
	all, err := s.session.WhoAmI()
	if err != nil {
		return err
	}
	var b strings.Builder
	b.WriteString("Auth scheme: User\n")
	for _, c := range all {
		b.WriteString(c.Scheme + ": " + c.User + "\n")
	}
	fmt.Fprint(s.out, b.String())
	return nil
}

func doClose(s *shell, _ *parsed) error {
	s.session.Close()
	return nil
}

func doVersion(s *shell, p *parsed) error {
	if len(p.args) > 1 {
		return errUsage
	}
	fmt.Fprintf(s.out, "ZooKeeper CLI version: %s\n", s.version)
	return nil
}

func doAddWatch(s *shell, p *parsed) error {
	if len(p.args) != 2 {
		return errUsage
	}
	mode := jute.AddPersistentRecursive
	switch strings.ToUpper(p.opts["m"]) {
	case "", "PERSISTENT_RECURSIVE":
	case "PERSISTENT":
		mode = jute.AddPersistent
	default:
		return errUsage
	}
	if err := checkPath(p.args[1]); err != nil {
		return err
	}
	return s.session.AddWatch(p.args[1], mode)
}

func doRemoveWatches(s *shell, p *parsed) error {
	if err := checkPath(p.args[1]); err != nil {
		return err
	}
	t := jute.WatcherAny
	switch {
	case p.has("c"):
		t = jute.WatcherChildren
	case p.has("d"):
		t = jute.WatcherData
	}
	return s.session.RemoveWatches(p.args[1], t, p.has("l"))
}
