package sim

// cell remembers who touched a location last. A location is 2 bytes, or the first 2 of a word: what lies there has one type. Epochs count barriers and workgroups; an access of before the last barrier is ordered.
type cell struct {
	write, read           uint32 // epochs
	value                 uint32 // epoch of the last write that left a value here: none did that was to another component of the vector
	writer, reader, other int32  // invocations; other read too, and -1 is none. A writer of -1 used an atomic operation.
	writeSite, readSite   int32
}

const pageCells = 512

// shadow has the cells of a memory, in pages that exist once something in them was touched.
type shadow struct{ pages []*[pageCells]cell }

func (s *shadow) resize(words int) {
	if n := (2*words + pageCells - 1) / pageCells; n > len(s.pages) {
		s.pages = append(s.pages, make([]*[pageCells]cell, n-len(s.pages))...)
	}
}

func (s *shadow) at(location int) *cell {
	p := s.pages[location/pageCells]
	if p == nil {
		p = new([pageCells]cell)
		s.pages[location/pageCells] = p
	}
	return &p[location%pageCells]
}

// reads notes that an invocation reads in an epoch, and returns whom that conflicts with: one that wrote since the epoch given, or
// -1, and the site of that.
func (c *cell) reads(lane int32, epoch, since uint32, at int32) (with, where int32) {
	with = -1
	if c.write >= since && c.writer >= 0 && c.writer != lane {
		with, where = c.writer, c.writeSite
	}
	switch {
	case c.read < since:
		c.reader, c.other, c.readSite = lane, -1, at
	case c.reader != lane:
		c.other = lane
	}
	c.read = epoch
	return with, where
}

// writes is reads for one that writes.
func (c *cell) writes(lane int32, epoch, since uint32, at int32) (with, where int32) {
	with = -1
	switch {
	case c.write >= since && c.writer >= 0 && c.writer != lane:
		with, where = c.writer, c.writeSite
	case c.read >= since && c.reader != lane:
		with, where = c.reader, c.readSite
	case c.read >= since && c.other >= 0 && c.other != lane:
		with, where = c.other, c.readSite
	}
	c.write, c.writer, c.writeSite = epoch, lane, at
	return with, where
}

// groupCell is a cell for the workgroups of a dispatch. It knows the two with the smallest numbers that wrote and the two that read, so
// that what is told of them is the same in whatever order they ran.
type groupCell struct {
	dispatch    uint32 // in which it was touched last
	write, read [2]groupAccess
	told        bool // its conflicts are to be reported
}

// groupAccess is what a workgroup did to a location.
type groupAccess struct {
	group uint32 // its number plus 1; 0 is none
	lane  int32
	site  int32
}

// smallest keeps an access if it is one of the two with the smallest numbers.
func smallest(list *[2]groupAccess, a groupAccess) {
	switch {
	case list[0].group == a.group: // by two bindings of one buffer
	case list[0].group == 0 || a.group < list[0].group:
		list[1], list[0] = list[0], a
	case list[1].group == 0 || a.group < list[1].group:
		list[1] = a
	}
}

// conflict reports whether a workgroup wrote what another touched.
func (c *groupCell) conflict() bool {
	_, other := c.reader()
	return c.write[1].group != 0 || other
}

// reader returns the first that read what another, the first that wrote, wrote.
func (c *groupCell) reader() (groupAccess, bool) {
	for _, r := range c.read {
		if r.group != 0 && c.write[0].group != 0 && r.group != c.write[0].group {
			return r, true
		}
	}
	return groupAccess{}, false
}

// groupShadow has a buffer's cells.
type groupShadow struct{ pages []*[pageCells]groupCell }

func (s *groupShadow) at(location, words int, dispatch uint32) *groupCell {
	if s.pages == nil {
		s.pages = make([]*[pageCells]groupCell, (2*words+pageCells-1)/pageCells)
	}
	p := s.pages[location/pageCells]
	if p == nil {
		p = new([pageCells]groupCell)
		s.pages[location/pageCells] = p
	}
	c := &p[location%pageCells]
	if c.dispatch != dispatch {
		*c = groupCell{dispatch: dispatch}
	}
	return c
}
