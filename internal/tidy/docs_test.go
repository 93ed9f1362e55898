package tidy

import (
	"fmt"
	"path"
	"regexp"
	"slices"
	"strings"
)

// checkPackageComments: a package says in its first sentence what it is.
func checkPackageComments(r *repo) (out []complaint) {
	documented, first := map[string]bool{}, map[string]*source{}
	for _, s := range r.production() {
		dir := s.dir()
		if first[dir] == nil {
			first[dir] = s
		}
		want := "Package " + s.ast.Name.Name + " "
		if s.ast.Name.Name == "main" {
			want = "Command " + path.Base(dir) + " "
		}
		if strings.HasPrefix(s.ast.Doc.Text(), want) {
			documented[dir] = true
		}
	}
	for dir, s := range first {
		if !documented[dir] {
			out = append(out, complaint{s.path, 1, "no package comment (\"Package " + s.ast.Name.Name + " …\"), best in doc.go"})
		}
	}
	return sorted(out)
}

// mdLine is a line of Markdown outside code.
type mdLine struct {
	n    int
	text string
}

var fence = regexp.MustCompile("^\\s*(```|~~~)")

// prose is a file's lines without fenced code, and without code between backquotes.
func prose(text string) (out []mdLine) {
	code, n := false, 0
	inline := regexp.MustCompile("`[^`]*`")
	for line := range strings.Lines(text) {
		n++
		if fence.MatchString(line) {
			code = !code
			continue
		}
		if !code {
			out = append(out, mdLine{n, inline.ReplaceAllStringFunc(strings.TrimRight(line, "\n"), func(s string) string {
				return strings.Trim(s, "`")
			})})
		}
	}
	return out
}

func (r *repo) markdown() []*source {
	return slices.DeleteFunc(slices.Clone(r.files), func(s *source) bool {
		return path.Ext(s.path) != ".md" || strings.Contains(s.path, "/testdata/")
	})
}

func checkTitles(r *repo) (out []complaint) {
	for _, s := range r.markdown() {
		titles := 0
		for _, l := range prose(s.text) {
			if strings.HasPrefix(l.text, "# ") {
				titles++
			}
		}
		if titles != 1 {
			out = append(out, complaint{s.path, 0, fmt.Sprintf("%d titles (# …), one is wanted", titles)})
		}
	}
	return out
}

var link = regexp.MustCompile(`\]\(([^)\s]+)\)`)

// checkLinks: a relative link leads to a file or folder of the repository, and its anchor to a heading there.
func checkLinks(r *repo) (out []complaint) {
	for _, s := range r.markdown() {
		for _, l := range prose(s.text) {
			for _, m := range link.FindAllStringSubmatch(l.text, -1) {
				if why := r.dead(s, m[1]); why != "" {
					out = append(out, complaint{s.path, l.n, "link " + m[1] + ": " + why})
				}
			}
		}
	}
	return out
}

func (r *repo) dead(s *source, target string) string {
	if strings.Contains(target, "://") || strings.HasPrefix(target, "mailto:") {
		return ""
	}
	file, anchor, _ := strings.Cut(target, "#")
	to := s
	if file != "" {
		p := path.Join(s.dir(), file)
		if r.dirs[p] {
			return ""
		}
		if to = r.index[p]; to == nil {
			return "no such file"
		}
	}
	if anchor != "" && path.Ext(to.path) == ".md" && !slices.Contains(anchors(to.text), anchor) {
		return "no such heading"
	}
	return ""
}

// anchors are a page's headings as they appear in links: lower case, spaces to hyphens, punctuation dropped.
func anchors(text string) (out []string) {
	for _, l := range prose(text) {
		if !strings.HasPrefix(l.text, "#") {
			continue
		}
		title := strings.ToLower(strings.TrimSpace(strings.TrimLeft(l.text, "#")))
		out = append(out, strings.Map(func(c rune) rune {
			switch {
			case c == ' ', c == '-':
				return '-'
			case c == '_', c >= 'a' && c <= 'z', c >= '0' && c <= '9', c > 127:
				return c
			}
			return -1
		}, title))
	}
	return out
}

// reminder matches what is left to do; one that names its issue is in a plan.
var (
	reminder  = regexp.MustCompile(`\b(TO` + `DO|FIX` + `ME|XX` + `X)\b`)
	withIssue = regexp.MustCompile(`\b(TO` + `DO|FIX` + `ME|XX` + `X)\(#\d+\)`)
)

func checkReminders(r *repo) (out []complaint) {
	kinds := []string{".go", ".sh", ".md", ".py", ".js", ".java", ".yml", ".txt", ""}
	for _, s := range r.files {
		if !slices.Contains(kinds, path.Ext(s.path)) || strings.Contains(s.path, "testdata/") {
			continue
		}
		n := 0
		for line := range strings.Lines(s.text) {
			n++
			if reminder.MatchString(line) && !withIssue.MatchString(line) {
				out = append(out, complaint{s.path, n, "a reminder without an issue: write it with (#number), or do it"})
			}
		}
	}
	return out
}

func sorted(c []complaint) []complaint {
	slices.SortFunc(c, func(a, b complaint) int { return strings.Compare(a.String(), b.String()) })
	return c
}
