package layout

import (
	"math"
	"strconv"
	"strings"
)

// Double prints a number as Java does: always with a point, with an exponent outside 10^-3 to 10^7.
func Double(v float64) string { return Float(v, 64) }

// Float is Double for a number of 32 or 64 bits.
func Float(v float64, bits int) string {
	switch {
	case math.IsNaN(v):
		return "NaN"
	case math.IsInf(v, 1):
		return "Infinity"
	case math.IsInf(v, -1):
		return "-Infinity"
	}
	if abs := math.Abs(v); v != 0 && (abs < 1e-3 || abs >= 1e7) {
		mantissa, exponent, _ := strings.Cut(strconv.FormatFloat(v, 'E', -1, bits), "E")
		if !strings.Contains(mantissa, ".") {
			mantissa += ".0"
		}
		n, _ := strconv.Atoi(exponent)
		return mantissa + "E" + strconv.Itoa(n)
	}
	text := strconv.FormatFloat(v, 'f', -1, bits)
	if !strings.Contains(text, ".") {
		text += ".0"
	}
	return text
}
