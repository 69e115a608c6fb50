package main

import (
	"context"
	"crypto"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"log"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/cyberphone/json-canonicalization/go/src/webpki.org/jsoncanonicalizer"
	"github.com/go-openapi/runtime"
	"github.com/go-openapi/strfmt"
	ct "github.com/google/certificate-transparency-go"
	cttls "github.com/google/certificate-transparency-go/tls"
	ctx509 "github.com/google/certificate-transparency-go/x509"
	"github.com/google/go-containerregistry/pkg/registry"
	"github.com/sigstore/rekor/pkg/generated/models"
	"github.com/sigstore/rekor/pkg/types"
	_ "github.com/sigstore/rekor/pkg/types/dsse/v0.0.1"
	_ "github.com/sigstore/rekor/pkg/types/hashedrekord/v0.0.1"
	_ "github.com/sigstore/rekor/pkg/types/intoto/v0.0.1"
	_ "github.com/sigstore/rekor/pkg/types/intoto/v0.0.2"
	"github.com/sigstore/rekor/pkg/util"
	"github.com/sigstore/sigstore/pkg/cryptoutils"
	"github.com/sigstore/sigstore/pkg/signature"
	"github.com/transparency-dev/merkle/rfc6962"
	"github.com/transparency-dev/merkle/testonly"
)

// serveServices serves a registry with the referrers API and, with --logs, a Rekor 1 and a CT log, whose public keys are written into a folder.
func serveServices(arguments []string) error {
	flags := flag.NewFlagSet("serve", flag.ExitOnError)
	registryAt := flags.String("registry", "localhost:5055", "address of the registry")
	rekorAt := flags.String("rekor", "", "address of Rekor 1")
	ctAt := flags.String("ct", "", "address of the CT log")
	folder := flags.String("keys", ".", "folder for rekor1.pub and ct.pub")
	if err := flags.Parse(arguments); err != nil {
		return err
	}
	failed := make(chan error)
	listen := func(at string, handler http.Handler) {
		failed <- (&http.Server{Addr: at, Handler: handler, ReadHeaderTimeout: 5 * time.Second}).ListenAndServe()
	}
	quiet := registry.Logger(log.New(io.Discard, "", 0))
	if *rekorAt != "" {
		key, err := newLogKey(filepath.Join(*folder, "rekor1.pub"))
		if err != nil {
			return err
		}
		handler, err := newRekor(key)
		if err != nil {
			return err
		}
		go listen(*rekorAt, handler)
	}
	if *ctAt != "" {
		key, err := newLogKey(filepath.Join(*folder, "ct.pub"))
		if err != nil {
			return err
		}
		go listen(*ctAt, http.HandlerFunc(certificateLog{key}.add))
	}
	if *registryAt != "" {
		go listen(*registryAt, withArtifactTypes(registry.New(registry.WithReferrersSupport(true), quiet)))
	}
	return <-failed
}

func newLogKey(file string) (*ecdsa.PrivateKey, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, err
	}
	text, err := cryptoutils.MarshalPublicKeyToPEM(key.Public())
	if err != nil {
		return nil, err
	}
	return key, os.WriteFile(file, text, 0o644)
}

func answer(response http.ResponseWriter, status int, value any) {
	response.Header().Set("content-type", "application/json")
	response.WriteHeader(status)
	_ = json.NewEncoder(response).Encode(value)
}

func refuse(response http.ResponseWriter, err error) {
	log.Print(err)
	answer(response, http.StatusBadRequest, map[string]any{"code": http.StatusBadRequest, "message": err.Error()})
}

// certificateLog answers certificates with signed timestamps (RFC 6962, 4.1 and 4.2).
type certificateLog struct{ key *ecdsa.PrivateKey }

func (l certificateLog) add(response http.ResponseWriter, request *http.Request) {
	kind := ct.X509LogEntryType
	if strings.HasSuffix(request.URL.Path, "/add-pre-chain") {
		kind = ct.PrecertLogEntryType
	} else if !strings.HasSuffix(request.URL.Path, "/add-chain") {
		http.NotFound(response, request)
		return
	}
	result, err := l.sign(request.Body, kind)
	if err != nil {
		refuse(response, err)
		return
	}
	answer(response, http.StatusOK, result)
}

func (l certificateLog) sign(body io.Reader, kind ct.LogEntryType) (*ct.AddChainResponse, error) {
	var asked ct.AddChainRequest
	if err := json.NewDecoder(body).Decode(&asked); err != nil {
		return nil, err
	}
	var chain []*ctx509.Certificate
	for _, der := range asked.Chain {
		certificate, err := ctx509.ParseCertificate(der)
		if ctx509.IsFatal(err) {
			return nil, err
		}
		chain = append(chain, certificate)
	}
	leaf, err := ct.MerkleTreeLeafFromChain(chain, kind, uint64(time.Now().UnixMilli()))
	if err != nil {
		return nil, err
	}
	timestamp := leaf.TimestampedEntry.Timestamp
	input, err := ct.SerializeSCTSignatureInput(ct.SignedCertificateTimestamp{SCTVersion: ct.V1, Timestamp: timestamp}, ct.LogEntry{Leaf: *leaf})
	if err != nil {
		return nil, err
	}
	signed, err := cttls.CreateSignature(*l.key, cttls.SHA256, input)
	if err != nil {
		return nil, err
	}
	bytes, err := cttls.Marshal(signed)
	if err != nil {
		return nil, err
	}
	id, err := keyHash(l.key.Public())
	if err != nil {
		return nil, err
	}
	return &ct.AddChainResponse{SCTVersion: ct.V1, ID: id, Timestamp: timestamp, Signature: bytes}, nil
}

func keyHash(key crypto.PublicKey) ([]byte, error) {
	der, err := cryptoutils.MarshalPublicKeyToDER(key)
	if err != nil {
		return nil, err
	}
	hash := sha256.Sum256(der)
	return hash[:], nil
}

const (
	rekorHost = "rekor1.test"
	rekorTree = int64(1193050959916656506)
)

// rekor speaks what cosign asks of Rekor 1, over a tree in memory.
type rekor struct {
	lock    sync.Mutex
	signer  signature.Signer
	public  []byte
	logID   string
	tree    *testonly.Tree
	entries map[string]models.LogEntryAnon
}

func newRekor(key *ecdsa.PrivateKey) (http.Handler, error) {
	signer, err := signature.LoadECDSASigner(key, crypto.SHA256)
	if err != nil {
		return nil, err
	}
	id, err := keyHash(key.Public())
	if err != nil {
		return nil, err
	}
	public, err := cryptoutils.MarshalPublicKeyToPEM(key.Public())
	if err != nil {
		return nil, err
	}
	one := &rekor{signer: signer, public: public, logID: hex.EncodeToString(id), tree: testonly.New(rfc6962.DefaultHasher), entries: map[string]models.LogEntryAnon{}}
	routes := http.NewServeMux()
	routes.HandleFunc("POST /api/v1/log/entries", one.add)
	routes.HandleFunc("GET /api/v1/log/entries/{id}", one.get)
	routes.HandleFunc("GET /api/v1/log/publicKey", func(response http.ResponseWriter, _ *http.Request) {
		response.Header().Set("content-type", "application/x-pem-file")
		_, _ = response.Write(one.public)
	})
	routes.HandleFunc("GET /api/v1/log", one.info)
	return routes, nil
}

func (r *rekor) checkpoint() (string, error) {
	text, err := util.CreateAndSignCheckpoint(context.Background(), rekorHost, rekorTree, r.tree.Size(), r.tree.Hash(), r.signer)
	return string(text), err
}

func (r *rekor) info(response http.ResponseWriter, _ *http.Request) {
	r.lock.Lock()
	defer r.lock.Unlock()
	checkpoint, err := r.checkpoint()
	if err != nil {
		refuse(response, err)
		return
	}
	answer(response, http.StatusOK, map[string]any{
		"rootHash": hex.EncodeToString(r.tree.Hash()), "treeSize": r.tree.Size(), "signedTreeHead": checkpoint, "treeID": fmt.Sprint(rekorTree),
	})
}

func (r *rekor) add(response http.ResponseWriter, request *http.Request) {
	id, entry, err := r.append(request.Context(), request.Body)
	if err != nil {
		refuse(response, err)
		return
	}
	response.Header().Set("location", "/api/v1/log/entries/"+id)
	response.Header().Set("etag", id)
	answer(response, http.StatusCreated, models.LogEntry{id: *entry})
}

func (r *rekor) append(ctx context.Context, body io.Reader) (string, *models.LogEntryAnon, error) {
	proposed, err := models.UnmarshalProposedEntry(body, runtime.JSONConsumer())
	if err != nil {
		return "", nil, err
	}
	version, err := types.CreateVersionedEntry(proposed)
	if err != nil {
		return "", nil, err
	}
	leaf, err := types.CanonicalizeEntry(ctx, version)
	if err != nil {
		return "", nil, err
	}
	r.lock.Lock()
	defer r.lock.Unlock()
	index, now := int64(r.tree.Size()), time.Now().Unix()
	r.tree.AppendData(leaf)
	id := fmt.Sprintf("%016x%s", rekorTree, hex.EncodeToString(rfc6962.DefaultHasher.HashLeaf(leaf)))
	promise, err := r.promise(models.LogEntryAnon{Body: leaf, IntegratedTime: &now, LogID: &r.logID, LogIndex: &index})
	if err != nil {
		return "", nil, err
	}
	entry, err := r.prove(models.LogEntryAnon{
		Body: base64.StdEncoding.EncodeToString(leaf), IntegratedTime: &now, LogID: &r.logID, LogIndex: &index,
		Verification: &models.LogEntryAnonVerification{SignedEntryTimestamp: strfmt.Base64(promise)},
	})
	if err != nil {
		return "", nil, err
	}
	r.entries[id] = *entry
	return id, entry, nil
}

// promise makes the signed entry timestamp: a signature over the canonical form of the entry.
func (r *rekor) promise(entry models.LogEntryAnon) ([]byte, error) {
	text, err := entry.MarshalBinary()
	if err != nil {
		return nil, err
	}
	canonical, err := jsoncanonicalizer.Transform(text)
	if err != nil {
		return nil, err
	}
	return r.signer.SignMessage(strings.NewReader(string(canonical)))
}

// prove adds a proof against the tree as it is now.
func (r *rekor) prove(entry models.LogEntryAnon) (*models.LogEntryAnon, error) {
	size := r.tree.Size()
	proof, err := r.tree.InclusionProof(uint64(*entry.LogIndex), size)
	if err != nil {
		return nil, err
	}
	hashes := []string{}
	for _, hash := range proof {
		hashes = append(hashes, hex.EncodeToString(hash))
	}
	checkpoint, err := r.checkpoint()
	if err != nil {
		return nil, err
	}
	root, treeSize := hex.EncodeToString(r.tree.Hash()), int64(size)
	entry.Verification = &models.LogEntryAnonVerification{
		SignedEntryTimestamp: entry.Verification.SignedEntryTimestamp,
		InclusionProof:       &models.InclusionProof{Checkpoint: &checkpoint, Hashes: hashes, LogIndex: entry.LogIndex, RootHash: &root, TreeSize: &treeSize},
	}
	return &entry, nil
}

func (r *rekor) get(response http.ResponseWriter, request *http.Request) {
	r.lock.Lock()
	defer r.lock.Unlock()
	id := request.PathValue("id")
	known, ok := r.entries[id]
	if !ok {
		http.NotFound(response, request)
		return
	}
	entry, err := r.prove(known)
	if err != nil {
		refuse(response, err)
		return
	}
	answer(response, http.StatusOK, models.LogEntry{id: *entry})
}
