package doctor

import (
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"
)

// Text writes the report for people: the worst first.
func (r *Report) Text(w io.Writer, verbose bool) {
	if verbose {
		for _, line := range r.Checked {
			fmt.Fprintf(w, "ok       %s\n", line)
		}
	}
	for _, f := range r.sorted() {
		fmt.Fprintf(w, "%-8s %s: %s\n", strings.ToUpper(f.Severity.String()), f.Check, f.What)
		fmt.Fprintf(w, "         at %s\n         -> %s\n", f.Where, f.Do)
	}
	fmt.Fprintf(w, "%d errors, %d warnings, %d remarks\n", r.count(Error), r.count(Warning), r.count(Info))
}

func (r *Report) sorted() []Finding {
	all := slices.Clone(r.Findings)
	slices.SortStableFunc(all, func(a, b Finding) int { return int(b.Severity) - int(a.Severity) })
	return all
}

// JSON writes the report for programs.
func (r *Report) JSON(w io.Writer) error {
	e := json.NewEncoder(w)
	e.SetIndent("", "  ")
	e.SetEscapeHTML(false)
	findings := r.sorted()
	if findings == nil {
		findings = []Finding{}
	}
	return e.Encode(struct {
		Errors   int       `json:"errors"`
		Warnings int       `json:"warnings"`
		Remarks  int       `json:"remarks"`
		Findings []Finding `json:"findings"`
		Checked  []string  `json:"checked"`
	}{r.count(Error), r.count(Warning), r.count(Info), findings, r.Checked})
}
