package zkcli

import (
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"golang.org/x/term"
)

// terminal is a line editor with history and completion on the terminal that the shell was started in.
type terminal struct {
	*term.Terminal
	fd    int
	state *term.State
}

// newTerminal is nil when the input is no terminal or a command was given: then nothing is edited.
func newTerminal(in io.Reader, command []string) *terminal {
	f, ok := in.(*os.File)
	if !ok || len(command) > 0 || !term.IsTerminal(int(f.Fd())) {
		return nil
	}
	state, err := term.MakeRaw(int(f.Fd()))
	if err != nil {
		return nil
	}
	both := struct {
		io.Reader
		io.Writer
	}{f, os.Stdout}
	return &terminal{term.NewTerminal(both, ""), int(f.Fd()), state}
}

func (t *terminal) restore() { _ = term.Restore(t.fd, t.state) }

// interactive reads lines until quit or the end of the input.
func (s *shell) interactive(t *terminal) {
	fmt.Fprint(s.out, "Welcome to ZooKeeper!\nJLine support is enabled\n")
	t.AutoCompleteCallback = func(line string, pos int, key rune) (string, int, bool) {
		if key != '\t' {
			return "", 0, false
		}
		return s.complete(line, pos)
	}
	for !s.quit {
		if w, h, err := term.GetSize(t.fd); err == nil {
			_ = t.SetSize(w, h)
		}
		t.SetPrompt(s.prompt())
		line, err := t.ReadLine()
		if err != nil && !errors.Is(err, term.ErrPasteIndicator) {
			return
		}
		s.line(strings.TrimSpace(line))
	}
}

// complete finishes the word before the cursor: a command, or a node's path. When there are several ways
// to go on, it goes as far as they agree, and shows them when it cannot go any further.
func (s *shell) complete(line string, pos int) (string, int, bool) {
	start := strings.LastIndexByte(line[:pos], ' ') + 1
	word := line[start:pos]
	var all []string
	if start == 0 {
		all = commandNames(word)
	} else if strings.HasPrefix(word, "/") {
		all = s.paths(word)
	}
	if len(all) == 0 {
		return line, pos, true
	}
	more := commonStart(all)
	if len(all) == 1 && start == 0 {
		more += " "
	}
	if more == word && len(all) > 1 {
		fmt.Fprintf(s.out, "%s\n", strings.Join(lastNames(all), "   "))
	}
	return line[:start] + more + line[pos:], start + len(more), true
}

func commandNames(start string) (out []string) {
	all := commands()
	for i := range all {
		if strings.HasPrefix(all[i].name, start) {
			out = append(out, all[i].name)
		}
	}
	return out
}

// paths lists the nodes whose paths begin with a word.
func (s *shell) paths(word string) (out []string) {
	if s.session == nil || s.session.State().Prompt() != "CONNECTED" {
		return nil // nothing shall wait here
	}
	end := strings.LastIndexByte(word, '/')
	names, _, err := s.session.Children(word[:max(end, 1)], false)
	if err != nil {
		return nil
	}
	slices.Sort(names)
	for _, name := range names {
		if path := word[:end+1] + name; strings.HasPrefix(path, word) {
			out = append(out, path)
		}
	}
	return out
}

func lastNames(paths []string) []string {
	out := make([]string, len(paths))
	for i, path := range paths {
		out[i] = path[strings.LastIndexByte(path, '/')+1:]
	}
	return out
}

func commonStart(all []string) string {
	common := all[0]
	for _, s := range all[1:] {
		for !strings.HasPrefix(s, common) {
			common = common[:len(common)-1]
		}
	}
	return common
}
