package main

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/google/go-containerregistry/pkg/registry"
	policiesv1beta1 "github.com/kyverno/api/api/policies.kyverno.io/v1beta1"
	tuf "github.com/theupdateframework/go-tuf"
)

// The ports that cases name. 5059 stays closed.
const (
	plain   = 5055
	slow    = 5056
	silent  = 5057
	private = 5058
	broken  = 5060
	half    = 5061
	trusted = 5062
)

func listen(port int, h http.Handler) error {
	l, err := net.Listen("tcp", fmt.Sprintf("127.0.0.1:%d", port))
	if err != nil {
		return err
	}
	go func() { _ = http.Serve(l, h) }()
	return nil
}

func isManifest(r *http.Request) bool { return strings.Contains(r.URL.Path, "/manifests/") }

// serveImages serves the layouts' images: as they are, one second late, never, to the user reader:secret only, not at all (503), and without signatures (503).
func serveImages(layouts []string) error {
	store := registry.New(registry.Logger(log.New(io.Discard, "", 0)))
	referrers := map[string][]listed{}
	images := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		path, digest, ok := strings.Cut(r.URL.Path, "/referrers/")
		if !ok {
			store.ServeHTTP(w, r)
			return
		}
		all := referrers[strings.TrimPrefix(path, "/v2/")+"@"+digest]
		if all == nil {
			all = []listed{}
		}
		w.Header().Set("Content-Type", "application/vnd.oci.image.index.v1+json")
		_ = json.NewEncoder(w).Encode(map[string]any{"schemaVersion": 2, "mediaType": "application/vnd.oci.image.index.v1+json", "manifests": all})
	})
	for _, folder := range layouts {
		if folder == "" {
			continue
		}
		if err := fill(store, referrers, folder); err != nil {
			return fmt.Errorf("%s: %w", folder, err)
		}
	}
	wrap := func(before func(http.ResponseWriter, *http.Request) bool) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if before(w, r) {
				images.ServeHTTP(w, r)
			}
		})
	}
	unavailable := func(w http.ResponseWriter) bool {
		http.Error(w, `{"errors":[{"code":"UNAVAILABLE","message":"out of order"}]}`, http.StatusServiceUnavailable)
		return false
	}
	for port, handler := range map[int]http.Handler{
		plain: images,
		slow: wrap(func(_ http.ResponseWriter, r *http.Request) bool {
			if isManifest(r) {
				time.Sleep(300 * time.Millisecond)
			}
			return true
		}),
		silent: wrap(func(_ http.ResponseWriter, r *http.Request) bool {
			if isManifest(r) {
				<-r.Context().Done()
			}
			return true
		}),
		private: wrap(func(w http.ResponseWriter, r *http.Request) bool {
			if user, password, ok := r.BasicAuth(); ok && user == "reader" && password == "secret" {
				return true
			}
			w.Header().Set("WWW-Authenticate", `Basic realm="images"`)
			http.Error(w, `{"errors":[{"code":"UNAUTHORIZED","message":"authentication required"}]}`, http.StatusUnauthorized)
			return false
		}),
		broken: wrap(func(w http.ResponseWriter, r *http.Request) bool {
			return r.URL.Path == "/v2/" || unavailable(w)
		}),
		half: wrap(func(w http.ResponseWriter, r *http.Request) bool {
			signatures := strings.Contains(r.URL.Path, "/referrers/") || strings.Contains(r.URL.Path, "/manifests/sha256-")
			return !signatures || unavailable(w)
		}),
	} {
		if err := listen(port, handler); err != nil {
			return err
		}
	}
	return nil
}

type descriptor struct {
	MediaType   string            `json:"mediaType"`
	Digest      string            `json:"digest"`
	Annotations map[string]string `json:"annotations"`
}

// listed is a referrer as the registry lists it: with the artifact's type, which go-containerregistry's registry takes from the configuration.
type listed struct {
	MediaType    string            `json:"mediaType"`
	Digest       string            `json:"digest"`
	Size         int               `json:"size"`
	ArtifactType string            `json:"artifactType"`
	Annotations  map[string]string `json:"annotations,omitempty"`
}

type manifest struct {
	Manifests    []descriptor      `json:"manifests"`
	Config       *descriptor       `json:"config"`
	Layers       []descriptor      `json:"layers"`
	Subject      *descriptor       `json:"subject"`
	ArtifactType string            `json:"artifactType"`
	Annotations  map[string]string `json:"annotations"`
}

// fill pushes what a layout holds. A name is REGISTRY/REPOSITORY:TAG or REGISTRY/REPOSITORY@DIGEST; what has none stands beside each named image.
func fill(images http.Handler, referrers map[string][]listed, folder string) error {
	ask := func(method, path, mediaType string, body []byte) error {
		r := httptest.NewRequest(method, "http://localhost"+path, strings.NewReader(string(body)))
		if mediaType != "" {
			r.Header.Set("Content-Type", mediaType)
		}
		w := httptest.NewRecorder()
		images.ServeHTTP(w, r)
		if w.Code >= 300 {
			return fmt.Errorf("%s %s: %d %s", method, path, w.Code, w.Body)
		}
		return nil
	}
	blob := func(digest string) ([]byte, error) {
		return os.ReadFile(filepath.Join(folder, "blobs", strings.Replace(digest, ":", "/", 1)))
	}
	var push func(repository, reference string, d descriptor) error
	push = func(repository, reference string, d descriptor) error {
		raw, err := blob(d.Digest)
		if err != nil {
			// A layout may hold one platform of an index.
			return nil
		}
		m := manifest{}
		if err := json.Unmarshal(raw, &m); err != nil {
			return err
		}
		for _, child := range m.Manifests {
			if err := push(repository, child.Digest, child); err != nil {
				return err
			}
		}
		if m.Subject != nil {
			kind := m.ArtifactType
			if kind == "" && m.Config != nil {
				kind = m.Config.MediaType
			}
			of := repository + "@" + m.Subject.Digest
			referrers[of] = append(referrers[of], listed{d.MediaType, d.Digest, len(raw), kind, m.Annotations})
		}
		if m.Config != nil {
			m.Layers = append(m.Layers, *m.Config)
		}
		for _, layer := range m.Layers {
			if body, err := blob(layer.Digest); err == nil {
				if err := ask("POST", "/v2/"+repository+"/blobs/uploads/?digest="+layer.Digest, "application/octet-stream", body); err != nil {
					return err
				}
			}
		}
		return ask("PUT", "/v2/"+repository+"/manifests/"+reference, d.MediaType, raw)
	}
	raw, err := os.ReadFile(filepath.Join(folder, "index.json"))
	if err != nil {
		return err
	}
	index := manifest{}
	if err := json.Unmarshal(raw, &index); err != nil {
		return err
	}
	repositories := map[string]bool{}
	var unnamed []descriptor
	for _, d := range index.Manifests {
		name := d.Annotations["org.opencontainers.image.ref.name"]
		if name == "" {
			name = d.Annotations["io.containerd.image.name"]
		}
		if name == "" || !strings.Contains(name, "/") {
			unnamed = append(unnamed, d)
			continue
		}
		_, path, _ := strings.Cut(name, "/")
		repository, reference := path, d.Digest
		if before, digest, ok := strings.Cut(path, "@"); ok {
			repository, reference = before, digest
		}
		if at := strings.LastIndex(repository, ":"); at > 0 {
			reference = repository[at+1:]
			repository = repository[:at]
		}
		repositories[repository] = true
		if err := push(repository, reference, d); err != nil {
			return err
		}
	}
	for _, d := range unnamed {
		for repository := range repositories {
			if err := push(repository, d.Digest, d); err != nil {
				return err
			}
		}
	}
	return nil
}

var trustRoot string

// privateTrust is what an attestor names to be judged by this program's trusted root.
func privateTrust() *policiesv1beta1.TUF {
	t := &policiesv1beta1.TUF{Mirror: fmt.Sprintf("http://localhost:%d", trusted)}
	t.Root.Data = trustRoot
	return t
}

// serveTrust makes a TUF repository with one trusted root, and serves it.
func serveTrust(file, home string) error {
	raw := []byte(`{"mediaType":"application/vnd.dev.sigstore.trustedroot+json;version=0.1"}`)
	if file != "" {
		var err error
		if raw, err = os.ReadFile(file); err != nil {
			return err
		}
		both := struct{ TrustedRoot json.RawMessage }{}
		if json.Unmarshal(raw, &both) == nil && both.TrustedRoot != nil {
			raw = both.TrustedRoot
		}
	}
	folder := filepath.Join(home, "tuf")
	targets := filepath.Join(folder, "staged", "targets")
	if err := os.MkdirAll(targets, 0o755); err != nil {
		return err
	}
	contents := map[string][]byte{"trusted_root.json": raw}
	root := map[string]json.RawMessage{}
	_ = json.Unmarshal(raw, &root)
	// Kyverno demands keys of both sorts of logs, of the trusted root or as files, also where none is used.
	for name, logs := range map[string]string{"ctfe.pub": "ctlogs", "rekor.pub": "tlogs"} {
		if len(root[logs]) < 3 {
			contents[name] = []byte(someKey)
		}
	}
	store := tuf.FileSystemStore(folder, nil)
	repo, err := tuf.NewRepo(store)
	if err != nil {
		return err
	}
	if err := repo.Init(true); err != nil {
		return err
	}
	until := time.Now().AddDate(1, 0, 0)
	for _, role := range []string{"root", "targets", "snapshot", "timestamp"} {
		if _, err := repo.GenKeyWithExpires(role, until); err != nil {
			return err
		}
	}
	for name, content := range contents {
		if err := os.WriteFile(filepath.Join(targets, name), content, 0o644); err != nil {
			return err
		}
		if err := repo.AddTargetWithExpires(name, nil, until); err != nil {
			return err
		}
	}
	if err := repo.SnapshotWithExpires(until); err != nil {
		return err
	}
	if err := repo.TimestampWithExpires(until); err != nil {
		return err
	}
	if err := repo.Commit(); err != nil {
		return err
	}
	published := filepath.Join(folder, "repository")
	signed, err := os.ReadFile(filepath.Join(published, "root.json"))
	if err != nil {
		return err
	}
	trustRoot = base64.StdEncoding.EncodeToString(signed)
	return listen(trusted, http.FileServer(http.Dir(published)))
}

const someKey = `-----BEGIN PUBLIC KEY-----
MFkwEwYHKoZIzj0CAQYIKoZIzj0DAQcDQgAE3E0/dXEqIvrATDihqt33TUGwTlfM
BVkoPfZtE9B85xHbD1UX/bTLM/fN4kQkFzqO3QHHKJf8EEL3T2iZaAemDg==
-----END PUBLIC KEY-----
`
