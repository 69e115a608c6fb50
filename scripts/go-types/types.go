package main

import (
	"encoding"
	"encoding/json"
	"fmt"
	"reflect"
	"sort"
	"strings"

	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/intstr"
	clientscheme "k8s.io/client-go/kubernetes/scheme"
)

// Types that read and write themselves. Everything else must be what reflection shows.
var special = map[reflect.Type]string{
	reflect.TypeFor[metav1.Time]():          "Time",
	reflect.TypeFor[metav1.MicroTime]():     "MicroTime",
	reflect.TypeFor[metav1.Duration]():      "Duration",
	reflect.TypeFor[metav1.FieldsV1]():      "FieldsV1",
	reflect.TypeFor[resource.Quantity]():    "Quantity",
	reflect.TypeFor[intstr.IntOrString]():   "IntOrString",
	reflect.TypeFor[runtime.RawExtension](): "RawExtension",
}

var (
	marshaler       = reflect.TypeFor[json.Marshaler]()
	unmarshaler     = reflect.TypeFor[json.Unmarshaler]()
	textUnmarshaler = reflect.TypeFor[encoding.TextUnmarshaler]()
)

// Flags of a member.
const (
	omitEmpty = 1
	omitZero  = 2
)

// options are what the API server makes of the parameters of a request: no kinds of their own.
var options = []any{metav1.CreateOptions{}, metav1.UpdateOptions{}, metav1.DeleteOptions{}, metav1.PatchOptions{}}

// kinds are the kinds of the client's scheme that are objects: their struct by "apiVersion/Kind".
func kinds() map[string]reflect.Type {
	found := map[string]reflect.Type{}
	for kind, t := range clientscheme.Scheme.AllKnownTypes() {
		if kind.Version == runtime.APIVersionInternal || !isObject(t) {
			continue
		}
		found[name(kind)] = t
	}
	for _, o := range options {
		t := reflect.TypeOf(o)
		found["meta.k8s.io/v1/"+t.Name()] = t
	}
	return found
}

// isObject leaves out lists and what only watches and versions use: policies never get them.
func isObject(t reflect.Type) bool {
	if strings.HasSuffix(t.Name(), "List") || t.PkgPath() == reflect.TypeFor[metav1.Time]().PkgPath() {
		return false
	}
	return true
}

func name(kind schema.GroupVersionKind) string {
	return kind.GroupVersion().String() + "/" + kind.Kind
}

// table numbers the types in the order in which they are first met.
type table struct {
	numbers map[reflect.Type]int
	entries []any
}

func writeTypes(encoder *json.Encoder) {
	all := kinds()
	names := make([]string, 0, len(all))
	for n := range all {
		names = append(names, n)
	}
	sort.Strings(names)
	t := &table{numbers: map[reflect.Type]int{}}
	numbered := map[string]int{}
	for _, n := range names {
		numbered[n] = t.number(all[n])
	}
	if err := encoder.Encode(map[string]any{"kinds": numbered, "types": t.entries}); err != nil {
		panic(err)
	}
}

func (t *table) number(of reflect.Type) int {
	if n, ok := t.numbers[of]; ok {
		return n
	}
	n := len(t.entries)
	t.numbers[of] = n
	t.entries = append(t.entries, nil)
	t.entries[n] = t.entry(of)
	return n
}

// entry describes a type: what it is, its name in Go's messages, and what it is made of.
func (t *table) entry(of reflect.Type) any {
	if kind, ok := special[of]; ok {
		return []any{kind, of.String()}
	}
	if of.Kind() != reflect.Pointer {
		p := reflect.PointerTo(of)
		if p.Implements(marshaler) || p.Implements(unmarshaler) || p.Implements(textUnmarshaler) {
			panic(fmt.Sprintf("%v reads or writes itself", of))
		}
	}
	switch of.Kind() {
	case reflect.String, reflect.Bool, reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64,
		reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64, reflect.Float32, reflect.Float64:
		if of.String() == of.Kind().String() {
			return of.Kind().String()
		}
		return []any{of.Kind().String(), of.String()}
	case reflect.Pointer:
		return []any{"pointer", t.number(of.Elem())}
	case reflect.Slice:
		if of.Elem().Kind() == reflect.Uint8 {
			return []any{"bytes", of.String()}
		}
		return []any{"slice", of.String(), t.number(of.Elem())}
	case reflect.Map:
		if of.Key().Kind() != reflect.String {
			panic(fmt.Sprintf("keys of %v", of))
		}
		return []any{"map", of.String(), t.number(of.Elem())}
	case reflect.Struct:
		members := []any{}
		t.members(of, "", &members)
		return []any{"struct", of.String(), members}
	}
	panic(fmt.Sprintf("%v", of))
}

// members lists name, type and flags of each, those of embedded structs among them with the way to them in front of the name, as Go's
// messages show it: `VolumeSource.emptyDir`.
func (t *table) members(of reflect.Type, way string, members *[]any) {
	for i := range of.NumField() {
		f := of.Field(i)
		tag, tagged := f.Tag.Lookup("json")
		n, flags, _ := strings.Cut(tag, ",")
		if tag == "-" || !f.IsExported() {
			panic(fmt.Sprintf("%v.%s is left out", of, f.Name))
		}
		if f.Anonymous && n == "" {
			if f.Type.Kind() != reflect.Struct {
				panic(fmt.Sprintf("%v embeds %v", of, f.Type))
			}
			t.members(f.Type, way+f.Name+".", members)
			continue
		}
		if !tagged || n == "" {
			panic(fmt.Sprintf("%v.%s has no name", of, f.Name))
		}
		set := 0
		for _, flag := range strings.Split(flags, ",") {
			switch flag {
			case "":
			case "omitempty":
				set |= omitEmpty
			case "omitzero":
				set |= omitZero
				if special[f.Type] != "Time" {
					panic(fmt.Sprintf("%v.%s is left out when it is zero", of, f.Name))
				}
			default:
				panic(fmt.Sprintf("%v.%s: %s", of, f.Name, flag))
			}
		}
		*members = append(*members, way+n, t.number(f.Type), set)
	}
}
