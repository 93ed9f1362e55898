package storage

import (
	"crypto/hmac"
	"crypto/pbkdf2"
	"crypto/rand"
	"crypto/sha256"
	"crypto/sha512"
	"encoding/base64"
	"hash"
	"slices"
	"strconv"
	"strings"

	"github.com/kalda/kalda/internal/format/record"
)

const (
	minIterations = 4096
	maxIterations = 16384
)

// parseScram reads SCRAM-SHA-256=[name=alice,password=pw] and its other forms.
func parseScram(arg string) (*record.UserScramCredential, error) {
	mechanism, rest, ok := strings.Cut(arg, "=")
	if !ok {
		return nil, refuse("Failed to find equals sign in SCRAM argument '%s'", arg)
	}
	c := &record.UserScramCredential{Iterations: minIterations}
	var newHash func() hash.Hash
	switch mechanism {
	case "SCRAM-SHA-256":
		c.Mechanism, newHash = 1, sha256.New
	case "SCRAM-SHA-512":
		c.Mechanism, newHash = 2, sha512.New
	default:
		return nil, refuse("The add-scram mechanism %s is not supported.", mechanism)
	}
	if !strings.HasPrefix(rest, "[") {
		return nil, refuse("Expected configuration string to start with [")
	}
	if !strings.HasSuffix(rest, "]") {
		return nil, refuse("Expected configuration string to end with ]")
	}
	parts, err := scramParts(rest[1 : len(rest)-1])
	if err != nil {
		return nil, err
	}
	return c, fillScram(c, mechanism, parts, newHash)
}

func scramParts(s string) (map[string]string, error) {
	parts := map[string]string{}
	for part := range strings.SplitSeq(s, ",") {
		key, value, ok := strings.Cut(part, "=")
		if !ok {
			return nil, refuse("No equals sign found in SCRAM component: %s", part)
		}
		if n := len(value); n >= 2 && value[0] == '"' && value[n-1] == '"' {
			value = value[1 : n-1]
		}
		if !slices.Contains([]string{"name", "password", "salt", "saltedpassword", "iterations"}, key) {
			return nil, refuse("Unknown SCRAM configurations: %s", key)
		}
		parts[key] = value
	}
	return parts, nil
}

func fillScram(
	c *record.UserScramCredential, mechanism string, parts map[string]string, newHash func() hash.Hash,
) (err error) {
	var has bool
	if c.Name, has = parts["name"]; !has {
		return refuse("You must supply 'name' to add-scram")
	}
	if text, has := parts["iterations"]; has {
		n, err := strconv.ParseInt(text, 10, 32)
		switch {
		case err != nil:
			return refuse("Failed to parse iterations count: %s", text)
		case n < minIterations:
			return refuse("The 'iterations' value must be >= %d for add-scram using %s", minIterations, mechanism)
		case n > maxIterations:
			return refuse("The 'iterations' value must be <= %d for add-scram using %s", maxIterations, mechanism)
		}
		c.Iterations = int32(n)
	}
	saltText, hasSalt := parts["salt"]
	if c.Salt, err = base64.StdEncoding.DecodeString(saltText); err != nil {
		return refuse("Failed to decode given salt: %s", saltText)
	}
	if !hasSalt {
		c.Salt = make([]byte, 16)
		rand.Read(c.Salt)
	}
	password, hasPassword := parts["password"]
	saltedText, hasSalted := parts["saltedpassword"]
	var salted []byte
	switch {
	case hasPassword == hasSalted:
		return refuse("You must supply one of 'password' or 'saltedpassword' to add-scram")
	case hasSalted && !hasSalt:
		return refuse("You must supply 'salt' with 'saltedpassword' to add-scram")
	case hasSalted:
		if salted, err = base64.StdEncoding.DecodeString(saltedText); err != nil {
			return refuse("Failed to decode given saltedPassword: %s", saltedText)
		}
	default:
		if salted, err = pbkdf2.Key(newHash, password, c.Salt, int(c.Iterations), newHash().Size()); err != nil {
			return err
		}
	}
	c.StoredKey, c.ServerKey = scramKeys(newHash, salted)
	return nil
}

// scramKeys derives what a server keeps (RFC 5802 section 3).
func scramKeys(newHash func() hash.Hash, salted []byte) (stored, server []byte) {
	sign := func(text string) []byte {
		m := hmac.New(newHash, salted)
		m.Write([]byte(text))
		return m.Sum(nil)
	}
	h := newHash()
	h.Write(sign("Client Key"))
	return h.Sum(nil), sign("Server Key")
}
