package main

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"reflect"
	"regexp"
	"sort"
	"strings"

	"k8s.io/apimachinery/pkg/runtime"
	utiljson "k8s.io/apimachinery/pkg/util/json"
	kjson "sigs.k8s.io/json"
)

// A way to fill the members of an object.
type mode int

const (
	null mode = iota
	empty
	zero
	full
	nullsWithin
	mixed
	odd
	modes
)

var modeNames = [...]string{"null", "empty", "zero", "full", "nulls-within", "mixed", "odd"}

// deepest nesting of structs that is filled: some hold themselves.
const deepest = 12

// aCase is one object and what Go makes of it.
type aCase struct {
	ID     string          `json:"id"`
	Kind   string          `json:"kind"`
	Object json.RawMessage `json:"object"`
	// Converter: read and printed by the server's converter between structs and values.
	Converter *outcome `json:"converter,omitempty"`
	// JSON: read by the decoder of requests, then printed by the converter; left out where it is the same.
	JSON *outcome `json:"json,omitempty"`
	// Strict: the error of the strict decoder; left out where the object is taken.
	Strict string `json:"strict,omitempty"`
}

type outcome struct {
	Object any    `json:"object,omitempty"`
	Error  string `json:"error,omitempty"`
}

func same(a, b *outcome) bool { return reflect.DeepEqual(a, b) }

// generate makes objects of every kind: one for each way to fill all of its members, and random ones.
func generate(seed uint64, random int, only *regexp.Regexp, emit func(aCase)) {
	all := kinds()
	names := []string{}
	for n := range all {
		if only.MatchString(n) {
			names = append(names, n)
		}
	}
	sort.Strings(names)
	for _, n := range names {
		f := &filler{r: rand.New(rand.NewPCG(seed, 0))}
		emit(decide(n+"/absent", n, all[n], header(n, map[string]any{})))
		for m := null; m < mixed; m++ {
			emit(decide(n+"/"+modeNames[m], n, all[n], header(n, f.fill(all[n], m, 0).(map[string]any))))
		}
		for i := range random {
			m := mixed + mode(i%2)
			emit(decide(fmt.Sprintf("%s/%s-%d", n, modeNames[m], i), n, all[n], header(n, f.fill(all[n], m, 0).(map[string]any))))
		}
	}
}

func header(kind string, o map[string]any) map[string]any {
	at := strings.LastIndexByte(kind, '/')
	o["apiVersion"], o["kind"] = kind[:at], kind[at+1:]
	return o
}

// decide asks Go about one object.
func decide(id, kind string, t reflect.Type, o map[string]any) aCase {
	text, err := json.Marshal(o)
	if err != nil {
		panic(err)
	}
	c := aCase{ID: id, Kind: kind, Object: text}
	var values map[string]any
	if err := utiljson.Unmarshal(text, &values); err != nil {
		panic(err)
	}
	into := reflect.New(t).Interface()
	c.Converter = printed(into, runtime.DefaultUnstructuredConverter.FromUnstructured(values, into))
	into = reflect.New(t).Interface()
	c.JSON = printed(into, kjson.UnmarshalCaseSensitivePreserveInts(text, into))
	if same(c.Converter, c.JSON) {
		c.JSON = nil
	}
	strict, err := kjson.UnmarshalStrict(text, reflect.New(t).Interface())
	if err != nil {
		c.Strict = err.Error()
	} else if len(strict) > 0 {
		c.Strict = runtime.NewStrictDecodingError(strict).Error()
	}
	return c
}

func printed(o any, err error) *outcome {
	if err != nil {
		return &outcome{Error: err.Error()}
	}
	u, err := runtime.DefaultUnstructuredConverter.ToUnstructured(o)
	if err != nil {
		return &outcome{Error: err.Error()}
	}
	return &outcome{Object: u}
}

// filler makes values of a type.
type filler struct{ r *rand.Rand }

func pick[T any](f *filler, values ...T) T { return values[f.r.IntN(len(values))] }

func (f *filler) fill(t reflect.Type, m mode, depth int) any {
	if t.Kind() == reflect.Pointer {
		return f.fill(t.Elem(), m, depth)
	}
	if m == odd && depth > 0 && f.r.IntN(60) == 0 {
		return pick[any](f, "text", 3, true, 2.5, []any{}, map[string]any{}, []any{"a"}, map[string]any{"a": "b"}, int64(1)<<40, "", nil, 0)
	}
	if kind, ok := special[t]; ok {
		return f.special(kind, m)
	}
	switch t.Kind() {
	case reflect.String:
		switch m {
		case empty, zero:
			return ""
		case mixed, odd:
			return pick(f, "", "a", "<&>\u2028", "é")
		}
		return "text"
	case reflect.Bool:
		return m == full || m == nullsWithin || (m >= mixed && f.r.IntN(2) == 0)
	case reflect.Int32, reflect.Int64:
		switch m {
		case full, nullsWithin:
			return 3
		case mixed:
			return pick(f, 0, 1, -5, 2147483647)
		case odd:
			return pick[any](f, 0, 1, -2147483648, 2147483648, int64(1)<<60, 1e30, 0.5)
		}
		return 0
	case reflect.Slice:
		return f.list(t, m, depth)
	case reflect.Map:
		return f.entries(t, m, depth)
	case reflect.Struct:
		if depth > deepest || (depth > 3 && m >= mixed && f.r.IntN(3) == 0) {
			return map[string]any{}
		}
		o := map[string]any{}
		f.members(t, m, depth, o)
		return o
	}
	panic(t.String())
}

func (f *filler) list(t reflect.Type, m mode, depth int) any {
	if t.Elem().Kind() == reflect.Uint8 {
		switch m {
		case empty, zero:
			return ""
		case mixed:
			return pick(f, "", "YQ==", "YR==", "YW\nJj", "YWI=\r\n")
		case odd:
			return pick[any](f, "YQ==", "YQ", "Y", "Y===", "YQ==x", "YQ=x", "*", "YWJj*", []any{1, 2, 255}, []any{256}, []any{nil}, []any{"a"}, "YQ=", "YQ=\n=", "é", "YW=j", "YWJ=YQ==", "=", "YQ==\n")
		}
		return "YWJj"
	}
	switch {
	case m == zero || m == full:
		return []any{f.fill(t.Elem(), m, depth+1)}
	case m == nullsWithin:
		return []any{nil, f.fill(t.Elem(), m, depth+1)}
	case m >= mixed:
		list := []any{}
		for range f.r.IntN(3) {
			if f.r.IntN(4) == 0 {
				list = append(list, nil)
			} else {
				list = append(list, f.fill(t.Elem(), m, depth+1))
			}
		}
		return list
	}
	return []any{}
}

func (f *filler) entries(t reflect.Type, m mode, depth int) any {
	o := map[string]any{}
	switch {
	case m == zero || m == full || m == nullsWithin:
		o["k"] = f.fill(t.Elem(), m, depth+1)
	case m >= mixed:
		for range f.r.IntN(3) {
			o[pick(f, "k", "l", "", "a.b/c", "__proto__")] = f.fill(t.Elem(), m, depth+1)
		}
	}
	if m == nullsWithin || (m >= mixed && f.r.IntN(4) == 0) {
		o["n"] = nil
	}
	return o
}

func (f *filler) members(t reflect.Type, m mode, depth int, o map[string]any) {
	for i := range t.NumField() {
		field := t.Field(i)
		n, _, _ := strings.Cut(field.Tag.Get("json"), ",")
		if field.Anonymous && n == "" {
			f.members(field.Type, m, depth, o)
			continue
		}
		if m == null {
			o[n] = nil
			// Structs within are filled, too, or nobody would see theirs.
			if of := field.Type; of.Kind() == reflect.Struct && special[of] == "" && depth < 2 {
				o[n] = f.fill(of, m, depth+1)
			}
			continue
		}
		if m >= mixed {
			switch f.r.IntN(8) {
			case 0:
				o[n] = nil
				continue
			case 1, 2:
				continue
			}
			if m == odd && f.r.IntN(80) == 0 {
				n = pick(f, strings.ToUpper(n[:1])+n[1:], strings.ToUpper(n), n+"x", "colour", "a\"b")
			}
		}
		o[n] = f.fill(field.Type, m, depth+1)
	}
}

func (f *filler) special(kind string, m mode) any {
	if m == null {
		return nil
	}
	random := m >= mixed
	switch kind {
	case "Time":
		if m == odd {
			return pick[any](f, "2020-02-30T00:00:00Z", "2020-01-01T00:00:00", "x", "", "2020-01-01t00:00:00Z", "2020-13-01T00:00:00Z", "2020-01-01T25:00:00Z",
				"2020-01-01T5:00:00Z", "2020-01-01T00:60:00Z", "2020-01-01T00:00:61Z", "2020-01-01T00:00:00+24:00", "2020-01-01T00:00:00+25:00", "2020-01-01T00:00:00 01:00",
				"2020-01-01T00:00:00Zé\"", "2020-01-01T00:00:00,5Z", "0000-01-01T00:00:00+01:00", "2020-1-01T00:00:00Z", "20", "202a-01-01T00:00:00Z", 3, true, nil, []any{})
		}
		if random {
			return pick(f, "2020-01-01T00:00:00Z", "2020-01-01T01:02:03.999999999+02:00", "0001-01-01T00:00:00Z", "1969-12-31T23:59:59-05:30", "9999-12-31T23:59:59Z", "2024-02-29T12:00:00.5Z")
		}
		if m == full || m == nullsWithin {
			return "2020-01-01T01:02:03.5+02:00"
		}
		return "0001-01-01T00:00:00Z"
	case "MicroTime":
		if m == odd {
			return pick[any](f, "2020-01-01T00:00:00Z", "2020-01-01T00:00:00.1Z", "2020-01-01T00:00:00.1234567Z", "2020-01-01T00:00:00.000001Z", 3, "2020-01-01T00:00:00,123456-01:00")
		}
		if random || m == full || m == nullsWithin {
			return pick(f, "2020-01-01T01:02:03.123456+02:00", "2020-01-01T01:02:03.000000Z")
		}
		return "0001-01-01T00:00:00.000000Z"
	case "Quantity":
		switch {
		case m == odd:
			return pick[any](f, "", "x", "1Kx", ".", "+", "m", "1e", "1 Gi", " 1Gi ", "1.5.2", "1KK", "1ki", "--1", "0x1", true, map[string]any{}, f.quantity(), f.quantity())
		case random:
			return pick[any](f, f.quantity(), f.quantity(), f.quantity(), f.quantity(), f.r.IntN(5000), 0.1, 1.5, 1e21, -2)
		case m == empty || m == zero:
			return "0"
		}
		return "1000m"
	case "IntOrString":
		if m == odd {
			return pick[any](f, 1.5, true, int64(1)<<40, []any{}, "", "50%", -1)
		}
		if random {
			return pick[any](f, 0, 80, "http", "50%", "")
		}
		if m == full || m == nullsWithin {
			return "50%"
		}
		return 0
	default: // RawExtension, FieldsV1
		if random {
			return pick[any](f, map[string]any{}, map[string]any{"a": 1, "b": []any{nil, 2.5, "x"}}, "text", 3, []any{}, true)
		}
		if m == full || m == nullsWithin {
			return map[string]any{"a": nil, "b": []any{1, 2.5}}
		}
		return map[string]any{}
	}
}

// quantity makes a random text that is a quantity.
func (f *filler) quantity() string {
	b := &strings.Builder{}
	b.WriteString(pick(f, "", "", "", "-", "+"))
	b.WriteString(pick(f, "", "", "0", "00"))
	for range f.r.IntN(pick(f, 4, 4, 8, 22)) {
		b.WriteByte(pick(f, byte('0'), '0', '1', '2', '5', '7', '8'))
	}
	if f.r.IntN(3) == 0 {
		b.WriteByte('.')
		for range f.r.IntN(pick(f, 4, 12)) {
			b.WriteByte(pick(f, byte('0'), '0', '1', '2', '5'))
		}
	}
	b.WriteString(pick(f, "", "", "m", "u", "n", "k", "M", "G", "T", "P", "E", "Ki", "Mi", "Gi", "Ti", "Pi", "Ei", "e3", "E2", "e-3", "E+1", "e6"))
	return b.String()
}
