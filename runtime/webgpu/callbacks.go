//go:build !nogpu && (linux || darwin || windows) && (amd64 || arm64) && !android

package webgpu

import "sync"

// A C library keeps no Go pointers: callbacks get the number of a mailbox, which is looked up here. The table and the
// callbacks themselves (purego can make 2000 in a process and frees none) are the package's only state; entries come and
// go with devices.
var mailboxes struct {
	sync.Mutex
	last uintptr
	byID map[uintptr]*mailbox
}

// mailbox receives what the library tells about one device. Callbacks run inside calls on the device's thread; the lock is
// for a library that processes the events of two devices in one call.
type mailbox struct {
	id uintptr

	mu         sync.Mutex
	uncaptured message            // the first error since it was taken
	lost       message            // why the device was lost
	reply      reply              // to the last request
	finished   map[uint64]message // maps and work that ended, by ticket
}

// message is a status or error type and the library's words. Type 0 is none.
type message struct {
	kind uint32
	text string
}

// reply is what a request returns.
type reply struct {
	done   bool
	status uint32
	value  uintptr // a handle, or an error type
	text   string
}

func newMailbox() *mailbox {
	mailboxes.Lock()
	defer mailboxes.Unlock()
	if mailboxes.byID == nil {
		mailboxes.byID = map[uintptr]*mailbox{}
	}
	mailboxes.last++
	m := &mailbox{id: mailboxes.last, finished: map[uint64]message{}}
	mailboxes.byID[m.id] = m
	return m
}

func (m *mailbox) close() {
	mailboxes.Lock()
	defer mailboxes.Unlock()
	delete(mailboxes.byID, m.id)
}

// deliver runs f on the mailbox with the number, if it is still there.
func deliver(id uintptr, f func(*mailbox)) uintptr {
	mailboxes.Lock()
	m := mailboxes.byID[id]
	mailboxes.Unlock()
	if m != nil {
		m.mu.Lock()
		f(m)
		m.mu.Unlock()
	}
	return 0
}

// The handlers have the order of arguments of the C callbacks; text is copied already.

func onReply(status uint32, value uintptr, text string, id uintptr) uintptr {
	return deliver(id, func(m *mailbox) { m.reply = reply{true, status, value, text} })
}

func onFinished(status uint32, text string, id, ticket uintptr) uintptr {
	return deliver(id, func(m *mailbox) { m.finished[uint64(ticket)] = message{status, text} })
}

func onUncaptured(kind uint32, text string, id uintptr) uintptr {
	return deliver(id, func(m *mailbox) {
		if m.uncaptured.kind == 0 {
			m.uncaptured = message{kind, text}
		}
	})
}

func onLost(reason uint32, text string, id uintptr) uintptr {
	return deliver(id, func(m *mailbox) { m.lost = message{reason, text} })
}

// take returns the first uncaptured error and forgets it. The loss of the device counts as one and is not forgotten.
func (m *mailbox) take() message {
	m.mu.Lock()
	defer m.mu.Unlock()
	e := m.uncaptured
	m.uncaptured = message{}
	if m.lost.kind != 0 {
		return message{errorLost, m.lost.text}
	}
	return e
}

// ended returns the outcome of a ticket and forgets it; kind 0 means not yet.
func (m *mailbox) ended(ticket uint64) message {
	m.mu.Lock()
	defer m.mu.Unlock()
	e := m.finished[ticket]
	delete(m.finished, ticket)
	return e
}

// request clears the reply, runs f, and returns the reply that came during it.
func (m *mailbox) request(f func()) reply {
	m.mu.Lock()
	m.reply = reply{}
	m.mu.Unlock()
	f()
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.reply
}

// callbacks holds the C addresses of the handlers.
type callbacks struct{ reply, scope, finished, uncaptured, lost uintptr }

var theCallbacks = sync.OnceValue(makeCallbacks)
