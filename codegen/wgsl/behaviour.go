package wgsl

// ways are how a statement can end, the behaviours of the WGSL specification.
type ways struct {
	next      bool // what follows runs
	breaks    bool // the loop or switch around ends
	continues bool // the loop around goes on
	returns   bool // the function ends
}

func (w ways) or(x ways) ways {
	return ways{w.next || x.next, w.breaks || x.breaks, w.continues || x.continues, w.returns || x.returns}
}

// behaviour returns how a list of statements can end. What can't be reached doesn't count.
func behaviour(list []Stmt) ways {
	all := ways{next: true}
	for _, s := range list {
		if !all.next {
			break
		}
		all.next = false
		all = all.or(behaviourOf(s))
	}
	return all
}

func behaviourOf(s Stmt) ways {
	switch s := s.(type) {
	case *Block:
		return behaviour(s.List)
	case *Return:
		return ways{returns: true}
	case *Break:
		return ways{breaks: true}
	case *Continue:
		return ways{continues: true}
	case *If:
		w := behaviour(s.Then.List)
		if s.Else == nil {
			return w.or(ways{next: true})
		}
		return w.or(behaviour(s.Else.List))
	case *Switch:
		w := ways{}
		for _, c := range s.Cases {
			w = w.or(behaviour(c.Body.List))
		}
		return ways{w.next || w.breaks, false, w.continues, w.returns}
	case *For:
		w := behaviour(s.Body.List)
		return ways{next: s.Cond != nil || w.breaks, returns: w.returns}
	case *While:
		return ways{next: true, returns: behaviour(s.Body.List).returns}
	case *Loop:
		w := behaviour(s.Body.List)
		return ways{next: w.breaks || s.BreakIf != nil, returns: w.returns}
	}
	return ways{next: true}
}
