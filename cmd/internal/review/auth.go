package review

import (
	"crypto/rand"
	"crypto/subtle"
	"encoding/base64"
	"net/http"
	"strings"
)

// newToken returns the random part of the address, of 256 bits.
func newToken() string {
	b := make([]byte, 32)
	_, _ = rand.Read(b) // it never fails
	return base64.RawURLEncoding.EncodeToString(b)
}

// maxBody bounds what a request may send, in bytes.
const maxBody = 1 << 20

// policy lets a page load nothing but what the server itself serves, and lets no other page
// frame it.
const policy = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' blob: data:; connect-src 'self'; " +
	"base-uri 'none'; form-action 'none'; frame-ancestors 'none'"

// guard lets requests through to next that come from the page itself: they name the server by
// its address, so that no name of another site may be bound to it, carry the token as the first
// part of their path, and come from no other site. next sees the path without the token.
func (s *Server) guard(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h := w.Header()
		h.Set("Content-Security-Policy", policy)
		h.Set("X-Content-Type-Options", "nosniff")
		h.Set("X-Frame-Options", "DENY")
		h.Set("Referrer-Policy", "no-referrer")
		h.Set("Cross-Origin-Opener-Policy", "same-origin")
		h.Set("Cross-Origin-Resource-Policy", "same-origin")
		h.Set("Cache-Control", "no-store")
		token, rest, found := strings.Cut(strings.TrimPrefix(r.URL.Path, "/"), "/")
		switch {
		case r.Host != s.host:
			http.Error(w, "this server is known by its address alone", http.StatusMisdirectedRequest)
			return
		case !s.sameSite(r):
			http.Error(w, "another site asked for this", http.StatusForbidden)
			return
		case !found || subtle.ConstantTimeCompare([]byte(token), []byte(s.token)) != 1:
			http.Error(w, "the address is not the one that retime review printed", http.StatusForbidden)
			return
		case strings.Contains(rest, "..") || strings.Contains(rest, "//") || strings.ContainsAny(rest, "\\\x00"):
			http.Error(w, "there is no such page", http.StatusNotFound)
			return
		}
		inner := r.Clone(r.Context())
		inner.URL.Path, inner.URL.RawPath = "/"+rest, ""
		inner.Body = http.MaxBytesReader(w, r.Body, maxBody)
		next.ServeHTTP(w, inner)
	})
}

// sameSite reports whether a request comes from the server's own pages, or from a person who opens
// the address.
func (s *Server) sameSite(r *http.Request) bool {
	read := r.Method == http.MethodGet || r.Method == http.MethodHead
	switch r.Header.Get("Sec-Fetch-Site") {
	case "", "same-origin":
	case "none":
		if !read {
			return false
		}
	default:
		return false
	}
	origins := r.Header.Values("Origin")
	if len(origins) == 0 {
		return read // a browser names the origin of all that may change something
	}
	return len(origins) == 1 && origins[0] == "http://"+s.host
}
