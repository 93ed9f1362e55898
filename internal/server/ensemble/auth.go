package ensemble

import (
	"crypto/sha1"
	"crypto/sha256"
	"crypto/sha512"
	"encoding/base64"
	"slices"
	"strings"

	"github.com/kalda/kalda/internal/format/jute"
)

// onAuth adds an identity to the connection, for the requests that follow.
func (c *conn) onAuth(h jute.RequestHeader, body []byte) bool {
	var p jute.AuthPacket
	c.rd.dec.Reset(body)
	c.rd.dec.Alias(false)
	if p.Decode(&c.rd.dec); c.rd.dec.Err() != nil {
		c.why = "an authentication packet that is malformed"
		return false
	}
	id, ok := c.s.authenticate(&p)
	if !ok {
		c.s.metrics.AuthFailed.Inc()
		c.why = "authentication failed for scheme " + printable(p.Scheme)
		c.reply(h.Xid, 0, jute.AuthFailed, nil)
		return false
	}
	if ids := c.identities(); id != (jute.ID{}) && !slices.Contains(ids, id) {
		if len(ids) >= c.s.opts.maxIDs {
			c.why = "more identities than kalda.maxIdentitiesPerConnection allows"
			c.reply(h.Xid, 0, jute.AuthFailed, nil)
			return false
		}
		ids = append(slices.Clone(ids), id)
		c.auth.Store(&ids)
	}
	c.reply(h.Xid, 0, jute.OK, nil)
	return true
}

// authenticate gives the identity a packet proves; none for schemes that need no packet.
func (s *Server) authenticate(p *jute.AuthPacket) (id jute.ID, ok bool) {
	switch p.Scheme {
	case "ip":
		return jute.ID{}, true
	case "digest":
		if !s.opts.digestScheme || p.Auth == nil { // a null isn't an empty one: Apache refuses it
			return jute.ID{}, false
		}
		digest := digestOf(string(p.Auth), s.opts.digestAlg)
		if digest == s.opts.superDigest {
			return jute.ID{Scheme: "super"}, true
		}
		return jute.ID{Scheme: "digest", ID: digest}, true
	}
	return jute.ID{}, false
}

// digestOf is the id of user:password in ACLs: user:base64(hash(user:password)).
func digestOf(secret, alg string) string {
	user, _, _ := strings.Cut(secret, ":")
	var sum []byte
	switch alg {
	case "SHA256":
		h := sha256.Sum256([]byte(secret))
		sum = h[:]
	case "SHA512":
		h := sha512.Sum512([]byte(secret))
		sum = h[:]
	default:
		h := sha1.Sum([]byte(secret))
		sum = h[:]
	}
	return user + ":" + base64.StdEncoding.EncodeToString(sum)
}

// onSASL refuses: no login context is configured here. It is the one error reply with a body, a null token.
func (c *conn) onSASL(h jute.RequestHeader) bool {
	c.why = "SASL is not configured"
	c.s.metrics.AuthFailed.Inc()
	c.reply(h.Xid, 0, jute.AuthFailed, jute.AppendNull(nil))
	return false
}

// printable keeps what a client sends from making the log unreadable.
func printable(s string) string {
	if len(s) > 40 {
		s = s[:40] + "..."
	}
	return strings.Map(func(r rune) rune {
		if r < ' ' || r == 0x7f {
			return '?'
		}
		return r
	}, s)
}
