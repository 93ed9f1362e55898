package config

import (
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"
)

// Key.Valid is a small notation, read only when a value is checked:
//
//	1..           at least 1
//	0..1          from 0 to 1
//	-1|1..9       -1, or from 1 to 9
//	one:a,b       a or b
//	anycase:a,b   the same, in any case
//	list          a list without empty elements
//	list+         the same, with at least one element
//	list:a,b      a list of a and b; list+:a,b likewise
//	nonempty      a string that is not empty
//	replicas      * or a list of partition:broker
//	reset         where a share group starts

// invalid is a value that its key can't have, in the words of Apache's brokers: people search for them.
func invalid(k *Key, value, reason string) error {
	return fmt.Errorf("Invalid value %s for configuration %s: %s", value, k.Name, reason)
}

// check parses a value and holds it against its row.
func (k *Key) check(value string) error {
	switch k.Type {
	case Boolean:
		if _, ok := parseBool(value); !ok {
			return invalid(k, value, "Expected value to be either true or false")
		}
	case Int, Short, Long:
		n, ok := parseInt(k.Type, value)
		if !ok {
			return invalid(k, value, "Not a number of type "+typeName(k.Type))
		}
		return k.checkRange(strconv.FormatInt(n, 10), func(bound string) int {
			b, _ := strconv.ParseInt(bound, 10, 64)
			return compare(n, b)
		})
	case Double:
		f, ok := parseFloat(value)
		if !ok {
			return invalid(k, value, "Not a number of type DOUBLE")
		}
		return k.checkRange(value, func(bound string) int {
			b, _ := strconv.ParseFloat(bound, 64)
			return compare(f, b)
		})
	case List:
		return k.checkList(parseList(value))
	case Str:
		return k.checkString(strings.TrimSpace(value))
	}
	return nil
}

func compare[T int64 | float64](a, b T) int {
	switch {
	case a < b:
		return -1
	case a > b:
		return 1
	}
	return 0
}

// checkRange holds a number against Valid; versus compares the number with a bound.
func (k *Key) checkRange(value string, versus func(bound string) int) error {
	spec, also := k.Valid, ""
	if before, after, ok := strings.Cut(spec, "|"); ok {
		also, spec = before, after
		if versus(also) == 0 {
			return nil
		}
	}
	lo, hi, ok := strings.Cut(spec, "..")
	if !ok {
		return nil
	}
	low, high := lo != "" && versus(lo) < 0, hi != "" && versus(hi) > 0
	switch {
	case (low || high) && also != "":
		return invalid(k, value, "Value must be between "+lo+" and "+hi+" or equal to "+also)
	case low:
		return invalid(k, value, "Value must be at least "+lo)
	case high:
		return invalid(k, value, "Value must be no more than "+hi)
	}
	return nil
}

func (k *Key) checkString(value string) error {
	kind, names, _ := strings.Cut(k.Valid, ":")
	switch kind {
	case "one":
		if !oneOf(names, value, false) {
			return invalid(k, value, "String must be one of: "+strings.ReplaceAll(names, ",", ", "))
		}
	case "anycase":
		if !oneOf(names, value, true) {
			return invalid(k, value,
				"String must be one of (case insensitive): "+strings.ReplaceAll(names, ",", ", "))
		}
	case "nonempty":
		if value == "" {
			return invalid(k, value, "String must be non-empty")
		}
	case "reset":
		if value != "latest" && value != "earliest" && !isDuration(value) {
			return invalid(k, value, "Invalid value `"+value+"` for configuration "+k.Name+". The value must be "+
				"either 'earliest', 'latest' or of the format 'by_duration:<PnDTnHnMn.nS>'.")
		}
	}
	return nil
}

func (k *Key) checkList(values []string) error {
	kind, names, some := strings.Cut(k.Valid, ":")
	if kind == "replicas" {
		return k.checkReplicas(values)
	}
	if kind == "list+" && len(values) == 0 {
		valid := "any non-empty value"
		if some {
			valid = "[" + strings.ReplaceAll(names, ",", ", ") + "]"
		}
		return fmt.Errorf("Configuration '%s' must not be empty. Valid values include: %s",
			k.Name, valid)
	}
	for _, v := range values {
		if v == "" {
			return fmt.Errorf("Configuration '%s' values must not be empty.", k.Name)
		}
		if some && !oneOf(names, v, false) {
			return invalid(k, v, "String must be one of: "+strings.ReplaceAll(names, ",", ", "))
		}
	}
	return nil
}

func (k *Key) checkReplicas(values []string) error {
	if len(values) == 0 || (len(values) == 1 && values[0] == "*") {
		return nil
	}
	for _, v := range values {
		p, b, ok := strings.Cut(v, ":")
		if !ok || !digits(p) || !digits(b) {
			return invalid(k, "["+strings.Join(values, ", ")+"]", k.Name+" must be the literal '*' or a list of "+
				"replicas in the following format: [partitionId]:[brokerId],[partitionId]:[brokerId],...")
		}
	}
	return nil
}

func digits(s string) bool {
	for i := range len(s) {
		if s[i] < '0' || s[i] > '9' {
			return false
		}
	}
	return s != "" && len(s) < 11
}

func oneOf(names, value string, anyCase bool) bool {
	for n := range strings.SplitSeq(names, ",") {
		if n == value || (anyCase && strings.EqualFold(n, value)) {
			return true
		}
	}
	return false
}

// isDuration accepts by_duration: and an ISO 8601 duration of days and smaller units that is not negative.
func isDuration(s string) bool {
	s, ok := strings.CutPrefix(s, "by_duration:P")
	if !ok || s == "" {
		return false
	}
	units, inTime, number := "D", false, ""
	for i := range len(s) {
		switch c := s[i]; {
		case c >= '0' && c <= '9' || (c == '.' && inTime):
			number += string(c)
		case c == 'T' && number == "" && !inTime:
			units, inTime = "HMS", true
		default:
			at := strings.IndexByte(units, c)
			if at < 0 || number == "" {
				return false
			}
			units, number = units[at+1:], ""
		}
	}
	return number == "" && s[len(s)-1] != 'T'
}

func parseBool(s string) (value, ok bool) {
	s = strings.TrimSpace(s)
	switch {
	case strings.EqualFold(s, "true"):
		return true, true
	case strings.EqualFold(s, "false"):
		return false, true
	}
	return false, false
}

func parseInt(t Type, s string) (int64, bool) {
	size := 64
	switch t {
	case Int:
		size = 32
	case Short:
		size = 16
	}
	n, err := strconv.ParseInt(strings.TrimSpace(s), 10, size)
	return n, err == nil
}

// parseFloat reads what Java does, but for NaN and hexadecimal, which no key has a use for.
func parseFloat(s string) (float64, bool) {
	s = strings.TrimSpace(s)
	if strings.ContainsAny(s, "xXpP_iIN") {
		return 0, false
	}
	if s != "" && strings.ContainsRune("fFdD", rune(s[len(s)-1])) {
		s = s[:len(s)-1]
	}
	f, err := strconv.ParseFloat(s, 64)
	if errors.Is(err, strconv.ErrRange) || math.IsInf(f, 0) {
		return 0, false
	}
	return f, err == nil
}

// parseList splits at commas and takes the spaces around them away. No text is no elements.
func parseList(s string) []string {
	s = strings.TrimSpace(s)
	if s == "" {
		return nil
	}
	list := strings.Split(s, ",")
	for i := range list {
		list[i] = strings.TrimSpace(list[i])
	}
	return list
}

// canonical is a valid value as DescribeConfigs shows it.
func (k *Key) canonical(value string) string {
	switch k.Type {
	case Boolean:
		return strings.ToLower(strings.TrimSpace(value))
	case Int, Short, Long:
		if n, ok := parseInt(k.Type, value); ok {
			return strconv.FormatInt(n, 10)
		}
	case Double:
		if f, ok := parseFloat(value); ok {
			return formatDouble(f)
		}
	case List:
		return strings.Join(parseList(value), ",")
	}
	return strings.TrimSpace(value)
}

// formatDouble writes a number as Java does: 0.5, 1.0, 1.7976931348623157E308.
func formatDouble(f float64) string {
	if a := math.Abs(f); a == 0 || (a >= 1e-3 && a < 1e7) {
		s := strconv.FormatFloat(f, 'f', -1, 64)
		if !strings.Contains(s, ".") {
			s += ".0"
		}
		return s
	}
	mantissa, exponent, _ := strings.Cut(strconv.FormatFloat(f, 'e', -1, 64), "e")
	if !strings.Contains(mantissa, ".") {
		mantissa += ".0"
	}
	n, _ := strconv.Atoi(exponent)
	return mantissa + "E" + strconv.Itoa(n)
}

func typeName(t Type) string {
	return [...]string{"", "BOOLEAN", "STRING", "INT", "SHORT", "LONG", "DOUBLE", "LIST", "CLASS", "PASSWORD"}[t]
}
