package node

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"sync"
	"time"

	"github.com/twmb/franz-go/pkg/kbin"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/kalda/kalda/internal/server/broker"
)

var errNoController = errors.New("no active controller is known")

// remote carries requests to the active controller over the network: a broker's own, and its clients' in
// Envelopes.
type remote struct {
	leader func() (addr string, ok bool) // where the active controller listens, as far as this node knows
	client string
	log    *slog.Logger

	mu   sync.Mutex // guards conn and addr; held while dialling, so that one connection is made
	conn *rpcConn
	addr string
}

// connect returns the connection to the active controller.
func (r *remote) connect(ctx context.Context) (*rpcConn, error) {
	addr, ok := r.leader()
	if !ok {
		return nil, errNoController
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.conn != nil && r.addr == addr && !r.conn.broken() {
		return r.conn, nil
	}
	if r.conn != nil {
		r.conn.fail(errors.New("the controller moved"))
	}
	conn, err := dialRPC(ctx, addr, r.client)
	if err != nil {
		return nil, err
	}
	r.conn, r.addr = conn, addr
	return conn, nil
}

func (r *remote) close() {
	r.mu.Lock()
	conn := r.conn
	r.conn = nil
	r.mu.Unlock()
	if conn != nil {
		conn.fail(errors.New("the node stops"))
	}
}

type answer struct {
	resp kmsg.Response
	err  error
}

// call sends req until a controller answers it or ctx ends. An answer of NOT_CONTROLLER is the caller's to
// judge.
func (r *remote) call(ctx context.Context, req kmsg.Request) (kmsg.Response, error) {
	for backoff := 20 * time.Millisecond; ; backoff = min(2*backoff, time.Second) {
		resp, err := r.once(ctx, req)
		if err == nil {
			return resp, nil
		}
		select {
		case <-ctx.Done():
			return nil, err
		case <-time.After(backoff):
		}
	}
}

func (r *remote) once(ctx context.Context, req kmsg.Request) (kmsg.Response, error) {
	conn, err := r.connect(ctx)
	if err != nil {
		return nil, err
	}
	ch := make(chan answer, 1)
	conn.send(req, func(resp kmsg.Response, err error) { ch <- answer{resp, err} })
	select {
	case a := <-ch:
		return a.resp, a.err
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// envelope sends a client's request as the broker's, with the client's principal and address (kraft.md 4.2).
func (r *remote) envelope(ctx context.Context, req kmsg.Request, from broker.Origin) (kmsg.Response, error) {
	env := kmsg.NewPtrEnvelopeRequest()
	format := kmsg.NewRequestFormatter(kmsg.FormatterClientID(from.ClientID))
	env.RequestData = format.AppendRequest(nil, req, 0)[4:]
	env.RequestPrincipal = encodePrincipal(from.Principal)
	env.ClientHostAddress = hostBytes(from.Host)
	for backoff := 20 * time.Millisecond; ; backoff = min(2*backoff, time.Second) {
		resp, err := r.openEnvelope(ctx, env, req)
		if err == nil {
			return resp, nil
		}
		select {
		case <-ctx.Done():
			return nil, err
		case <-time.After(backoff):
		}
	}
}

func (r *remote) openEnvelope(
	ctx context.Context, env *kmsg.EnvelopeRequest, req kmsg.Request,
) (kmsg.Response, error) {
	resp, err := r.once(ctx, env)
	if err != nil {
		return nil, err
	}
	e, ok := resp.(*kmsg.EnvelopeResponse)
	if !ok {
		return nil, fmt.Errorf("answer of type %T", resp)
	}
	if e.ErrorCode != 0 {
		return nil, codeError("Envelope", e.ErrorCode)
	}
	if len(e.ResponseData) < 4 {
		return nil, errors.New("envelope without an answer")
	}
	return decodeAnswer(req.ResponseKind(), e.ResponseData[4:])
}

func hostBytes(ip net.IP) []byte {
	if v4 := ip.To4(); v4 != nil {
		return v4
	}
	if len(ip) == net.IPv6len {
		return ip
	}
	return net.IPv4(127, 0, 0, 1).To4()
}

// encodePrincipal is DefaultPrincipalData v0: type and name compact, tokenAuthenticated, no tags.
func encodePrincipal(principal string) []byte {
	kind, name := "User", principal
	for i := range len(principal) {
		if principal[i] == ':' {
			kind, name = principal[:i], principal[i+1:]
			break
		}
	}
	b := binary.BigEndian.AppendUint16(nil, 0)
	b = kbin.AppendCompactString(b, kind)
	b = kbin.AppendCompactString(b, name)
	b = kbin.AppendBool(b, false)
	return append(b, 0)
}

// decodePrincipal is encodePrincipal's inverse: "Type:name".
func decodePrincipal(b []byte) (string, error) {
	r := kbin.Reader{Src: b}
	if v := r.Int16(); v != 0 {
		return "", fmt.Errorf("principal of version %d", v)
	}
	kind, name := r.CompactString(), r.CompactString()
	r.Bool()
	kmsg.SkipTags(&r)
	if err := r.Complete(); err != nil {
		return "", err
	}
	return kind + ":" + name, nil
}
