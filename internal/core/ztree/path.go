package ztree

import "strings"

// CheckPath is Apache's rule for legal paths: from a slash, without a trailing one, without empty, "." or
// ".." components, without control characters, surrogates, private use and specials. As the rule is about
// 16-bit units, every character beyond them is illegal.
func CheckPath(path string) bool {
	if path == "/" {
		return true
	}
	if path == "" || path[0] != '/' || path[len(path)-1] == '/' {
		return false
	}
	for rest, more := path[1:], true; more; {
		var name string
		if name, rest, more = strings.Cut(rest, "/"); name == "" || name == "." || name == ".." {
			return false
		}
	}
	for _, c := range path {
		if badInPath(c) {
			return false
		}
	}
	return true
}

func badInPath(c rune) bool {
	return c < 0x20 || c >= 0x7f && c <= 0x9f || c >= 0xd800 && c <= 0xf8ff || c >= 0xfff0
}

// hasParent says whether a request's path can be taken apart: all that is asked before the parent is looked
// for.
func hasParent(path string) bool {
	return strings.IndexByte(path, '/') >= 0 && strings.IndexByte(path, 0) < 0
}
