package zkcli

import (
	"fmt"
	"strings"
)

// checkPath says what is wrong with a path, in the words of Apache's client.
func checkPath(path string) error {
	switch {
	case path == "":
		return problem("Path length must be > 0")
	case path[0] != '/':
		return problem("Path must start with / character")
	case path == "/":
		return nil
	case strings.HasSuffix(path, "/"):
		return problem("Path must not end with / character")
	}
	units := []rune(path)
	for i := 1; i < len(units); i++ {
		if what := wrongAt(units, i); what != "" {
			return problem(fmt.Sprintf("Invalid path string \"%s\" caused by %s @%d", path, what, i))
		}
	}
	return nil
}

func wrongAt(units []rune, i int) string {
	c, last := units[i], units[i-1]
	ends := i+1 == len(units) || units[i+1] == '/'
	switch {
	case c == 0:
		return "null character not allowed"
	case c == '/' && last == '/':
		return "empty node name specified"
	case c == '.' && last == '.' && i > 1 && units[i-2] == '/' && ends,
		c == '.' && last == '/' && ends:
		return "relative paths not allowed"
	case c > 0 && c <= 0x1f, c >= 0x7f && c <= 0x9f, c >= 0xd800 && c <= 0xf8ff, c >= 0xfff0 && c <= 0xffff:
		return "invalid character"
	}
	return ""
}

func join(parent, name string) string {
	if parent == "/" {
		return "/" + name
	}
	return parent + "/" + name
}
