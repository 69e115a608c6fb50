// Command image-verdicts answers what a released Kyverno makes of ImageValidatingPolicies, and cosign of the same images: cases as JSON lines in, the
// same lines with answers out. The images stand in image layouts and are served on loopback, keyless trust comes from a TUF repository made at the start.
package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"log"
	"os"
	"os/exec"
	"strings"
	"time"

	"github.com/go-logr/logr"
	"github.com/kyverno/kyverno/pkg/logging"
	reportutils "github.com/kyverno/kyverno/pkg/utils/report"
	"k8s.io/klog/v2"
)

// Case is one line. Whatever else the line carries is kept as it is.
type Case struct {
	ID         string            `json:"id"`
	Policies   []json.RawMessage `json:"policies"`
	Exceptions []json.RawMessage `json:"exceptions"`
	Namespaces []json.RawMessage `json:"namespaces"`
	// Objects stand in the cluster: Secrets for credentials, others for resource.Get.
	Objects []json.RawMessage `json:"objects"`
	// Resources are objects to create, Requests whole requests.
	Resources []json.RawMessage `json:"resources"`
	Requests  []json.RawMessage `json:"requests"`
	UserInfo  json.RawMessage   `json:"userInfo"`
	Payload   json.RawMessage   `json:"payload"`
	Pin       bool              `json:"pin"`
	Cosign    [][]string        `json:"cosign"`
}

var (
	limit  = flag.Duration("limit", 20*time.Second, "time for one case")
	tools  = flag.String("cosign", "cosign", "the cosign command")
	layout = flag.String("layout", "", "image layouts to serve, with commas between")
	trust  = flag.String("trust", "", "trusted root or client trust configuration of the keyless signatures")
	files  = flag.String("files", ".", "folder in which cosign runs, for the keys that its arguments name")
)

type verdict struct {
	Pass  bool   `json:"pass"`
	Error string `json:"error,omitempty"`
}

// askCosign runs cosign as it is, and keeps the line that says why not.
func askCosign(args []string) verdict {
	c := exec.Command(*tools, args...)
	c.Dir = *files
	out, err := c.CombinedOutput()
	if err == nil {
		return verdict{Pass: true}
	}
	if _, ended := err.(*exec.ExitError); !ended {
		fail("cosign does not run: %v", err)
	}
	for _, line := range strings.Split(string(out), "\n") {
		if strings.HasPrefix(line, "Error: ") {
			return verdict{Error: strings.TrimPrefix(line, "Error: ")}
		}
	}
	return verdict{Error: strings.TrimSpace(string(out))}
}

func answer(line []byte) []byte {
	c := &Case{}
	kept := map[string]json.RawMessage{}
	if err := json.Unmarshal(line, c); err != nil {
		fail("a case can't be read: %v: %.60s", err, line)
	}
	_ = json.Unmarshal(line, &kept)
	done := make(chan *Answer, 1)
	started := time.Now()
	go func() {
		a := &Answer{}
		defer func() {
			if r := recover(); r != nil {
				a.Failed = fmt.Sprintf("panic: %v", r)
			}
			done <- a
		}()
		if err := run(c, a); err != nil {
			a.Failed = err.Error()
		}
	}()
	var a *Answer
	select {
	case a = <-done:
	case <-time.After(*limit):
		a = &Answer{Failed: fmt.Sprintf("no answer within %s", *limit)}
	}
	fmt.Fprintf(os.Stderr, "%s %s\n", c.ID, time.Since(started).Round(time.Millisecond))
	set := func(key string, value any) {
		var b bytes.Buffer
		e := json.NewEncoder(&b)
		e.SetEscapeHTML(false)
		if err := e.Encode(value); err != nil {
			panic(err)
		}
		kept[key] = bytes.TrimSpace(b.Bytes())
	}
	set("kyverno", a)
	delete(kept, "cosignVerdicts")
	if len(c.Cosign) > 0 {
		verdicts := []verdict{}
		for _, args := range c.Cosign {
			verdicts = append(verdicts, askCosign(args))
		}
		set("cosignVerdicts", verdicts)
	}
	return ordered(line, kept)
}

// ordered writes a line's members in the line's order, answers last.
func ordered(line []byte, members map[string]json.RawMessage) []byte {
	var b bytes.Buffer
	write := func(key string) {
		value, ok := members[key]
		if !ok {
			return
		}
		delete(members, key)
		if b.Len() > 0 {
			b.WriteByte(',')
		}
		fmt.Fprintf(&b, "%q:%s", key, value)
	}
	d := json.NewDecoder(bytes.NewReader(line))
	_, _ = d.Token()
	for d.More() {
		key, err := d.Token()
		if err != nil {
			break
		}
		var skipped json.RawMessage
		if d.Decode(&skipped) != nil {
			break
		}
		if key != "kyverno" && key != "cosignVerdicts" {
			write(key.(string))
		}
	}
	write("kyverno")
	write("cosignVerdicts")
	return []byte("{" + b.String() + "}\n")
}

func fail(format string, values ...any) {
	fmt.Fprintf(os.Stderr, format+"\n", values...)
	os.Exit(2)
}

func main() {
	flag.Parse()
	log.SetOutput(io.Discard)
	if os.Getenv("VERBOSE") != "" {
		_ = logging.Setup(logging.TextFormat, "rfc3339", 6, false)
	} else {
		klog.SetLogger(logr.Discard())
	}
	reportutils.ReportingCfg = reportutils.NewReportingConfig(nil)
	home, err := os.MkdirTemp("", "image-verdicts-")
	if err != nil {
		panic(err)
	}
	defer os.RemoveAll(home)
	for _, name := range []string{"HOME", "TUF_ROOT", "DOCKER_CONFIG"} {
		_ = os.Setenv(name, home)
	}
	if err := serveImages(strings.Split(*layout, ",")); err != nil {
		fail("the images can't be served: %v", err)
	}
	if err := serveTrust(*trust, home); err != nil {
		fail("the trusted root can't be served: %v", err)
	}
	s := bufio.NewScanner(os.Stdin)
	s.Buffer(make([]byte, 1<<20), 1<<26)
	for s.Scan() {
		if len(bytes.TrimSpace(s.Bytes())) > 0 {
			_, _ = os.Stdout.Write(answer(s.Bytes()))
		}
	}
}
