package ztree

import (
	"strconv"
	"strings"
)

// parsePrefix reads "address" or "address/bits": 4 or 16 bytes, and how many bits count.
func parsePrefix(s string) (addr []byte, bits int, ok bool) {
	text, length, cut := strings.Cut(s, "/")
	if addr = parseAddress(text); addr == nil {
		return nil, 0, false
	}
	bits = len(addr) * 8
	if cut {
		n, err := strconv.Atoi(length)
		if err != nil || n < 0 || n > bits {
			return nil, 0, false
		}
		bits = n
	}
	return addr, bits, true
}

// matchPrefix says whether an address is in a prefix of the same family.
func matchPrefix(address, prefix string) bool {
	p, bits, ok := parsePrefix(prefix)
	if !ok {
		return false
	}
	a := parseAddress(address)
	if len(a) != len(p) {
		return false
	}
	for i := 0; bits > 0; i, bits = i+1, bits-8 {
		shift := max(0, 8-bits)
		if a[i]>>shift != p[i]>>shift {
			return false
		}
	}
	return true
}

// parseAddress reads an IPv4 or IPv6 address (a zone is dropped); nil when it is none.
func parseAddress(s string) []byte {
	if !strings.Contains(s, ":") {
		return parseIPv4(s)
	}
	s, _, _ = strings.Cut(s, "%")
	head, tail, gap := strings.Cut(s, "::")
	front, ok := parseGroups(head, !gap)
	if !ok {
		return nil
	}
	if !gap {
		if len(front) != 16 {
			return nil
		}
		return front
	}
	back, ok := parseGroups(tail, true)
	if !ok || len(front)+len(back) > 14 {
		return nil
	}
	out := make([]byte, 16)
	copy(out, front)
	copy(out[16-len(back):], back)
	return out
}

func parseIPv4(s string) []byte {
	parts := strings.Split(s, ".")
	if len(parts) != 4 {
		return nil
	}
	out := make([]byte, 4)
	for i, p := range parts {
		n, err := strconv.ParseUint(p, 10, 8)
		if err != nil || p[0] == '+' {
			return nil
		}
		out[i] = byte(n)
	}
	return out
}

// parseGroups reads groups of 16 bits; the last may be an IPv4 address where it ends the text.
func parseGroups(s string, end bool) (out []byte, ok bool) {
	if s == "" {
		return nil, true
	}
	parts := strings.Split(s, ":")
	for i, p := range parts {
		if end && i == len(parts)-1 && strings.Contains(p, ".") {
			four := parseIPv4(p)
			return append(out, four...), four != nil && len(out) <= 12
		}
		n, err := strconv.ParseUint(p, 16, 16)
		if err != nil || len(p) > 4 {
			return nil, false
		}
		out = append(out, byte(n>>8), byte(n))
	}
	return out, len(out) <= 16
}
