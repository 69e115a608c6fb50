// Command go-types writes what Go's reflection knows of the built-in kinds: `go run . types` the types, `go run . cases` objects of every
// kind with the form that they have once they have been through their struct. See README.md.
package main

import (
	"bufio"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"regexp"
)

func main() {
	out := bufio.NewWriter(os.Stdout)
	defer out.Flush()
	encoder := json.NewEncoder(out)
	encoder.SetEscapeHTML(false)
	command := ""
	if len(os.Args) > 1 {
		command = os.Args[1]
	}
	switch command {
	case "types":
		writeTypes(encoder)
	case "cases":
		flags := flag.NewFlagSet("cases", flag.ExitOnError)
		seed := flags.Uint64("seed", 1, "of the random objects")
		random := flags.Int("random", 20, "random objects of each kind")
		only := flags.String("kind", "", "only kinds whose apiVersion/kind matches this regular expression")
		flags.Parse(os.Args[2:])
		generate(*seed, *random, regexp.MustCompile(*only), func(c aCase) {
			if err := encoder.Encode(c); err != nil {
				panic(err)
			}
		})
	default:
		fmt.Fprintln(os.Stderr, "usage: go run . types|cases")
		os.Exit(2)
	}
}
