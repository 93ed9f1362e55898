package zkcli

import (
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/kalda/kalda/internal/format/jute"
)

// dateForm is the text of Java's Date.
const dateForm = "Mon Jan 02 15:04:05 MST 2006"

func writeStat(w io.Writer, s *jute.Stat) {
	date := func(ms int64) string { return time.UnixMilli(ms).Format(dateForm) }
	fmt.Fprintf(w, "cZxid = 0x%x\nctime = %s\n", uint64(s.Czxid), date(s.Ctime))
	fmt.Fprintf(w, "mZxid = 0x%x\nmtime = %s\n", uint64(s.Mzxid), date(s.Mtime))
	fmt.Fprintf(w, "pZxid = 0x%x\ncversion = %d\n", uint64(s.Pzxid), s.Cversion)
	fmt.Fprintf(w, "dataVersion = %d\naclVersion = %d\n", s.Version, s.Aversion)
	fmt.Fprintf(w, "ephemeralOwner = 0x%x\n", uint64(s.EphemeralOwner))
	fmt.Fprintf(w, "dataLength = %d\nnumChildren = %d\n", s.DataLength, s.NumChildren)
}

func list(names []string) string { return "[" + strings.Join(names, ", ") + "]" }

const (
	dumpHead = "         +-------------------------------------------------+\n" +
		"         |  0  1  2  3  4  5  6  7  8  9  a  b  c  d  e  f |\n"
	dumpRule = "+--------+-------------------------------------------------+----------------+\n"
)

// writeDump prints bytes as the table that Netty's dumps have, whose shape Apache's shell took over.
func writeDump(w io.Writer, b []byte) {
	if len(b) == 0 {
		fmt.Fprintln(w)
		return
	}
	fmt.Fprint(w, dumpHead, dumpRule)
	for at := 0; at < len(b); at += 16 {
		row := b[at:min(at+16, len(b))]
		text := []byte(strings.Repeat(" ", 16))
		for i, c := range row {
			text[i] = c
			if c <= 0x1f || c >= 0x7f {
				text[i] = '.'
			}
		}
		fmt.Fprintf(w, "|%08x|%-49s|%s|\n", at, fmt.Sprintf(" % x", row), text)
	}
	fmt.Fprint(w, dumpRule)
}

var permLetters = []struct {
	perm   int32
	letter byte
}{
	{jute.PermCreate, 'c'},
	{jute.PermDelete, 'd'},
	{jute.PermRead, 'r'},
	{jute.PermWrite, 'w'},
	{jute.PermAdmin, 'a'},
}

func permText(perms int32) string {
	var out []byte
	for _, p := range permLetters {
		if perms&p.perm != 0 {
			out = append(out, p.letter)
		}
	}
	return string(out)
}

// parseACL reads scheme:id:perms,... What it cannot read it complains about; a word that has no such form
// leaves no ACL at all, which a server refuses.
func parseACL(complain io.Writer, text string) []jute.ACL {
	var out []jute.ACL
	for word := range strings.SplitSeq(text, ",") {
		first, last := strings.IndexByte(word, ':'), strings.LastIndexByte(word, ':')
		if first < 0 || first == last {
			fmt.Fprintf(complain, "%s does not have the form scheme:id:perm\n", word)
			continue
		}
		a := jute.ACL{ID: jute.ID{Scheme: word[:first], ID: word[first+1 : last]}}
		for _, c := range []byte(word[last+1:]) {
			known := false
			for _, p := range permLetters {
				if p.letter == c {
					a.Perms, known = a.Perms|p.perm, true
				}
			}
			if !known {
				fmt.Fprintf(complain, "Unknown perm type: %c\n", c)
			}
		}
		out = append(out, a)
	}
	return out
}
