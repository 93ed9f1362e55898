package tool

import (
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"os"
	"strings"

	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/sasl"
	"github.com/twmb/franz-go/pkg/sasl/oauth"
	"github.com/twmb/franz-go/pkg/sasl/plain"
	"github.com/twmb/franz-go/pkg/sasl/scram"
)

// securityOpts maps security.protocol and the ssl. and sasl. keys.
func securityOpts(p props) ([]kgo.Opt, error) {
	protocol := strings.ToUpper(p.get("security.protocol", "PLAINTEXT"))
	if err := oneOf("security.protocol", protocol, "PLAINTEXT", "SSL", "SASL_PLAINTEXT",
		"SASL_SSL"); err != nil {
		return nil, err
	}
	var opts []kgo.Opt
	if strings.HasSuffix(protocol, "SSL") {
		c, err := tlsConfig(p)
		if err != nil {
			return nil, err
		}
		opts = append(opts, kgo.DialTLSConfig(c))
	}
	if strings.HasPrefix(protocol, "SASL") {
		m, err := saslMechanism(p)
		if err != nil {
			return nil, err
		}
		opts = append(opts, kgo.SASL(m))
	}
	return opts, nil
}

// tlsConfig reads PEM stores, inline or from files. Java's own store formats need Java.
func tlsConfig(p props) (*tls.Config, error) {
	c := &tls.Config{MinVersion: tls.VersionTLS12}
	trust, err := pem(p, "ssl.truststore", "ssl.truststore.certificates")
	if err != nil {
		return nil, err
	}
	if trust != nil {
		c.RootCAs = x509.NewCertPool()
		if !c.RootCAs.AppendCertsFromPEM(trust) {
			return nil, fmt.Errorf("No certificate found in the PEM trust store")
		}
	}
	chain, err := pem(p, "ssl.keystore", "ssl.keystore.certificate.chain")
	if err != nil {
		return nil, err
	}
	if chain != nil {
		key := []byte(p.get("ssl.keystore.key", string(chain)))
		pair, err := tls.X509KeyPair(chain, key)
		if err != nil {
			return nil, fmt.Errorf("Invalid PEM key store: %w", err)
		}
		c.Certificates = []tls.Certificate{pair}
	}
	if p.get("ssl.endpoint.identification.algorithm", "https") == "" {
		anyName(c)
	}
	return c, nil
}

// anyName keeps checking the chain but not the name in it, which is what an empty identification algorithm
// means.
func anyName(c *tls.Config) {
	c.InsecureSkipVerify = true
	c.VerifyConnection = func(s tls.ConnectionState) error {
		o := x509.VerifyOptions{Roots: c.RootCAs, Intermediates: x509.NewCertPool()}
		for _, cert := range s.PeerCertificates[1:] {
			o.Intermediates.AddCert(cert)
		}
		_, err := s.PeerCertificates[0].Verify(o)
		return err
	}
}

func pem(p props, store, inline string) ([]byte, error) {
	if v, ok := p[inline]; ok {
		return []byte(v), nil
	}
	file, ok := p[store+".location"]
	if !ok {
		return nil, nil
	}
	if t := p.get(store+".type", "JKS"); !strings.EqualFold(t, "PEM") {
		return nil, fmt.Errorf("%s.type=%s is not supported by this tool: convert the store to PEM", store, t)
	}
	return os.ReadFile(file)
}

// saslMechanism reads sasl.mechanism and the login module's options in sasl.jaas.config.
func saslMechanism(p props) (sasl.Mechanism, error) {
	name := p.get("sasl.mechanism", "GSSAPI")
	jaas := jaasOptions(p["sasl.jaas.config"])
	user, password := jaas["username"], jaas["password"]
	switch name {
	case "PLAIN":
		return plain.Auth{User: user, Pass: password}.AsMechanism(), nil
	case "SCRAM-SHA-256":
		return scram.Auth{User: user, Pass: password, IsToken: jaas["tokenauth"] == "true"}.AsSha256Mechanism(), nil
	case "SCRAM-SHA-512":
		return scram.Auth{User: user, Pass: password, IsToken: jaas["tokenauth"] == "true"}.AsSha512Mechanism(), nil
	case "OAUTHBEARER":
		return oauth.Auth{Token: unsecuredToken(jaas)}.AsMechanism(), nil
	}
	return nil, fmt.Errorf("SASL mechanism %s is not supported by this tool", name)
}

// jaasOptions reads the key="value" words of a login module's line.
func jaasOptions(line string) map[string]string {
	m := make(map[string]string)
	for i := 0; i < len(line); {
		eq := strings.IndexByte(line[i:], '=')
		if eq < 0 {
			break
		}
		words := strings.Fields(line[i : i+eq])
		i += eq + 1
		var value strings.Builder
		quoted := i < len(line) && line[i] == '"'
		if quoted {
			i++
		}
		for ; i < len(line); i++ {
			if quoted && line[i] == '\\' && i+1 < len(line) {
				i++
			} else if quoted && line[i] == '"' || !quoted && (line[i] == ' ' || line[i] == ';') {
				i++
				break
			}
			value.WriteByte(line[i])
		}
		if len(words) > 0 {
			m[words[len(words)-1]] = value.String()
		}
	}
	return m
}

// unsecuredToken takes a ready token from the login module's options.
func unsecuredToken(jaas map[string]string) string { return jaas["token"] }
