// The parts of the maker of test/fixtures/images that need Go's packages: certificates, logs, a registry, and notation's signatures. See README.md.
package main

import (
	"fmt"
	"os"
)

var commands = map[string]func(arguments []string) error{
	"certificates":   makeCertificates,
	"serve":          serveServices,
	"sign-notation":  signNotation,
	"check-notation": checkNotation,
	"check-bundle":   checkBundles,
}

func main() {
	if len(os.Args) < 2 || commands[os.Args[1]] == nil {
		fmt.Fprintln(os.Stderr, "usage: image-golden certificates | serve | sign-notation | check-notation | check-bundle")
		os.Exit(2)
	}
	if err := commands[os.Args[1]](os.Args[2:]); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}
