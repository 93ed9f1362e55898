package obs

import (
	"context"
	"io"
	"log/slog"
	"strconv"
	"sync"
	"time"
)

// Logs writes one line a record, in the layout that Apache Kafka's default log4j pattern has, because
// people and their scripts read it:
//
//	[2026-01-02 15:04:05,000] INFO [log] Rolled segment topic=orders partition=3
//
// Each component has a level of its own that can change while the node runs (the BROKER_LOGGER resource).
type Logs struct {
	mu  sync.Mutex // guards w and buf, one line at a time
	w   io.Writer
	buf []byte

	root   *slog.LevelVar
	levels sync.Map // component -> *slog.LevelVar
}

// NewLogs returns logs that write to w, from level up.
func NewLogs(w io.Writer, level slog.Level) *Logs {
	l := &Logs{w: w, root: new(slog.LevelVar)}
	l.root.Set(level)
	return l
}

// Root returns the logger without a component.
func (l *Logs) Root() *slog.Logger { return slog.New(&handler{logs: l, level: l.root}) }

// Named returns the logger of a component, such as "controller" or "log".
func (l *Logs) Named(component string) *slog.Logger {
	return slog.New(&handler{logs: l, level: l.levelOf(component), name: component})
}

func (l *Logs) levelOf(component string) *slog.LevelVar {
	if v, ok := l.levels.Load(component); ok {
		return v.(*slog.LevelVar)
	}
	lv := new(slog.LevelVar)
	lv.Set(l.root.Level())
	v, _ := l.levels.LoadOrStore(component, lv)
	return v.(*slog.LevelVar)
}

// Levels returns each component's level by name; "root" is the level of the rest.
func (l *Logs) Levels() map[string]slog.Level {
	m := map[string]slog.Level{"root": l.root.Level()}
	l.levels.Range(func(k, v any) bool {
		m[k.(string)] = v.(*slog.LevelVar).Level()
		return true
	})
	return m
}

// SetLevel changes the level of a component, or of "root". It reports false for a component nobody asked
// for yet.
func (l *Logs) SetLevel(component string, level slog.Level) bool {
	if component == "root" {
		old := l.root.Level()
		l.root.Set(level)
		l.levels.Range(func(_, v any) bool { // those that nobody changed follow
			if lv := v.(*slog.LevelVar); lv.Level() == old {
				lv.Set(level)
			}
			return true
		})
		return true
	}
	v, ok := l.levels.Load(component)
	if ok {
		v.(*slog.LevelVar).Set(level)
	}
	return ok
}

type handler struct {
	logs  *Logs
	level *slog.LevelVar
	name  string
	group string // prefix of attribute names, with its dot
	attrs []byte // rendered by WithAttrs
}

// Enabled implements slog.Handler.
func (h *handler) Enabled(_ context.Context, level slog.Level) bool { return level >= h.level.Level() }

// Handle implements slog.Handler.
func (h *handler) Handle(_ context.Context, r slog.Record) error {
	h.logs.mu.Lock()
	defer h.logs.mu.Unlock()
	b := append(h.logs.buf[:0], '[')
	b = r.Time.AppendFormat(b, "2006-01-02 15:04:05,000")
	b = append(b, "] "...)
	b = append(b, levelName(r.Level)...)
	b = append(b, ' ')
	if h.name != "" {
		b = append(b, '[')
		b = append(b, h.name...)
		b = append(b, "] "...)
	}
	b = appendLine(b, r.Message)
	b = append(b, h.attrs...)
	r.Attrs(func(a slog.Attr) bool {
		b = appendAttr(b, h.group, a)
		return true
	})
	b = append(b, '\n')
	if cap(b) <= 64<<10 { // one huge line must not be kept for good
		h.logs.buf = b
	}
	_, err := h.logs.w.Write(b)
	return err
}

// WithAttrs implements slog.Handler.
func (h *handler) WithAttrs(attrs []slog.Attr) slog.Handler {
	c := *h
	c.attrs = append([]byte(nil), h.attrs...)
	for _, a := range attrs {
		c.attrs = appendAttr(c.attrs, h.group, a)
	}
	return &c
}

// WithGroup implements slog.Handler.
func (h *handler) WithGroup(name string) slog.Handler {
	c := *h
	c.group += name + "."
	return &c
}

func levelName(l slog.Level) string {
	switch {
	case l < slog.LevelDebug:
		return "TRACE"
	case l < slog.LevelInfo:
		return "DEBUG"
	case l < slog.LevelWarn:
		return "INFO"
	case l < slog.LevelError:
		return "WARN"
	case l < slog.LevelError+4:
		return "ERROR"
	}
	return "FATAL"
}

func appendAttr(b []byte, group string, a slog.Attr) []byte {
	v := a.Value.Resolve()
	if v.Kind() == slog.KindGroup {
		if a.Key != "" {
			group += a.Key + "."
		}
		for _, m := range v.Group() {
			b = appendAttr(b, group, m)
		}
		return b
	}
	if a.Equal(slog.Attr{}) {
		return b
	}
	b = append(b, ' ')
	b = append(b, group...)
	b = append(b, a.Key...)
	b = append(b, '=')
	switch v.Kind() {
	case slog.KindInt64:
		return strconv.AppendInt(b, v.Int64(), 10)
	case slog.KindUint64:
		return strconv.AppendUint(b, v.Uint64(), 10)
	case slog.KindBool:
		return strconv.AppendBool(b, v.Bool())
	case slog.KindTime:
		return v.Time().AppendFormat(b, time.RFC3339Nano)
	}
	return appendText(b, v.String())
}

// appendLine keeps a message on one line: text from the outside must not forge lines of the log.
func appendLine(b []byte, s string) []byte {
	for i := range len(s) {
		if c := s[i]; c < ' ' && c != '\t' {
			b = append(b, '\\', 'x', "0123456789abcdef"[c>>4], "0123456789abcdef"[c&15])
		} else {
			b = append(b, c)
		}
	}
	return b
}

// appendText quotes a value that would not read back as one word.
func appendText(b []byte, s string) []byte {
	if s == "" {
		return append(b, `""`...)
	}
	for i := range len(s) {
		if c := s[i]; c <= ' ' || c == '"' || c == '=' || c >= 0x7f {
			return strconv.AppendQuote(b, s)
		}
	}
	return append(b, s...)
}
