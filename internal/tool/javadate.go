package tool

import (
	"fmt"
	"strconv"
	"strings"
	"time"
)

// dateFormat is a pattern of Java's SimpleDateFormat, cut into runs of one letter and literal text.
type dateFormat []datePart

type datePart struct {
	letter byte // 0: literal
	n      int
	text   string
}

func dateFormatOf(pattern string) (dateFormat, error) {
	var f dateFormat
	literal := func(s string) { f = append(f, datePart{text: s}) }
	for i := 0; i < len(pattern); {
		c := pattern[i]
		switch {
		case c == '\'':
			end := strings.IndexByte(pattern[i+1:], '\'')
			if end < 0 {
				return nil, fmt.Errorf("Unterminated quote")
			}
			text := pattern[i+1 : i+1+end]
			if end == 0 {
				text = "'"
			}
			literal(text)
			i += end + 2
		case c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z':
			n := 1
			for i+n < len(pattern) && pattern[i+n] == c {
				n++
			}
			if !strings.ContainsRune("yMdHhmsSaEDkKzZXu", rune(c)) {
				return nil, fmt.Errorf("Illegal pattern character '%c'", c)
			}
			f = append(f, datePart{letter: c, n: n})
			i += n
		default:
			literal(string(c))
			i++
		}
	}
	return f, nil
}

func (f dateFormat) format(t time.Time) string {
	var b strings.Builder
	for _, p := range f {
		b.WriteString(p.format(t))
	}
	return b.String()
}

func (p datePart) format(t time.Time) string {
	number := func(v int) string { return fmt.Sprintf("%0*d", p.n, v) }
	switch p.letter {
	case 0:
		return p.text
	case 'y':
		if p.n == 2 {
			return t.Format("06")
		}
		return number(t.Year())
	case 'M':
		return p.month(t)
	case 'd':
		return number(t.Day())
	case 'D':
		return number(t.YearDay())
	case 'H':
		return number(t.Hour())
	case 'k':
		return number((t.Hour()+23)%24 + 1)
	case 'K':
		return number(t.Hour() % 12)
	case 'h':
		return number((t.Hour()+11)%12 + 1)
	case 'm':
		return number(t.Minute())
	case 's':
		return number(t.Second())
	case 'S':
		return number(t.Nanosecond() / 1e6)
	case 'a':
		return t.Format("PM")
	case 'u':
		return strconv.Itoa((int(t.Weekday())+6)%7 + 1)
	case 'E':
		return p.longOrShort(t, "Monday", "Mon")
	case 'z':
		return t.Format("MST")
	case 'X':
		return t.Format("Z07:00")
	}
	return t.Format("-0700")
}

func (p datePart) month(t time.Time) string {
	if p.n >= 3 {
		return p.longOrShort(t, "January", "Jan")
	}
	return fmt.Sprintf("%0*d", p.n, int(t.Month()))
}

func (p datePart) longOrShort(t time.Time, long, short string) string {
	if p.n >= 4 {
		return t.Format(long)
	}
	return t.Format(short)
}
