package main

import (
	"context"
	"crypto/x509"
	"encoding/json"
	"flag"
	"os"
	"strings"
	"time"

	"github.com/notaryproject/notation-core-go/revocation"
	"github.com/notaryproject/notation-core-go/revocation/purpose"
	"github.com/notaryproject/notation-core-go/signature"
	"github.com/notaryproject/notation-core-go/signature/cose"
	"github.com/notaryproject/notation-core-go/signature/jws"
	corex509 "github.com/notaryproject/notation-core-go/x509"
	"github.com/notaryproject/notation-go"
	"github.com/notaryproject/notation-go/registry"
	"github.com/notaryproject/notation-go/signer"
	"github.com/notaryproject/notation-go/verifier"
	"github.com/notaryproject/notation-go/verifier/trustpolicy"
	"github.com/notaryproject/notation-go/verifier/truststore"
	"github.com/notaryproject/tspclient-go"
	ocispec "github.com/opencontainers/image-spec/specs-go/v1"
	"oras.land/oras-go/v2/registry/remote"
)

func repositoryOf(reference string) (registry.Repository, error) {
	name, _, _ := strings.Cut(reference, "@")
	repository, err := remote.NewRepository(name)
	if err != nil {
		return nil, err
	}
	repository.PlainHTTP = true
	return registry.NewRepository(repository), nil
}

// oddSigner signs as notation does not by itself: by another scheme, or with a critical attribute.
type oddSigner struct {
	signer   signature.Signer
	scheme   signature.SigningScheme
	critical string
}

func newOddSigner(keyFile, chainFile, scheme, critical string) (notation.Signer, error) {
	key, err := corex509.ReadPrivateKeyFile(keyFile)
	if err != nil {
		return nil, err
	}
	chain, err := corex509.ReadCertificateFile(chainFile)
	if err != nil {
		return nil, err
	}
	local, err := signature.NewLocalSigner(chain, key)
	if err != nil {
		return nil, err
	}
	if scheme == "" {
		scheme = string(signature.SigningSchemeX509)
	}
	return oddSigner{local, signature.SigningScheme(scheme), critical}, nil
}

func (s oddSigner) Sign(ctx context.Context, target ocispec.Descriptor, options notation.SignerSignOptions) ([]byte, *signature.SignerInfo, error) {
	target = ocispec.Descriptor{MediaType: target.MediaType, Digest: target.Digest, Size: target.Size}
	content, err := json.Marshal(map[string]any{"targetArtifact": target})
	if err != nil {
		return nil, nil, err
	}
	request := &signature.SignRequest{
		Payload:       signature.Payload{ContentType: "application/vnd.cncf.notary.payload.v1+json", Content: content},
		Signer:        s.signer,
		SigningTime:   time.Now(),
		SigningScheme: s.scheme,
		SigningAgent:  "image-golden",
	}
	if s.critical != "" {
		request.ExtendedSignedAttributes = []signature.Attribute{{Key: s.critical, Critical: true, Value: "x"}}
	}
	envelope, err := signature.NewEnvelope(options.SignatureMediaType)
	if err != nil {
		return nil, nil, err
	}
	signed, err := envelope.Sign(request.WithContext(ctx))
	if err != nil {
		return nil, nil, err
	}
	verified, err := envelope.Verify()
	if err != nil {
		return nil, nil, err
	}
	return signed, &verified.SignerInfo, nil
}

// signNotation signs REGISTRY/NAME@DIGEST and pushes the signature as a referrer.
func signNotation(arguments []string) error {
	flags := flag.NewFlagSet("sign-notation", flag.ExitOnError)
	key := flags.String("key", "", "file of the key (PKCS 8)")
	chain := flags.String("chain", "", "file of the chain, the signer's certificate first")
	form := flags.String("form", "jws", "jws or cose")
	expiry := flags.Duration("expiry", 0, "validity of the signature")
	authority := flags.String("tsa", "", "address of a timestamp authority")
	authorityRoot := flags.String("tsa-root", "", "file of the authority's root")
	metadata := flags.String("metadata", "", "NAME=VALUE to sign")
	scheme := flags.String("scheme", "", "another signing scheme")
	critical := flags.String("critical", "", "name of a critical attribute")
	if err := flags.Parse(arguments); err != nil {
		return err
	}
	reference := flags.Arg(0)
	var one notation.Signer
	one, err := signer.NewGenericSignerFromFiles(*key, *chain)
	if err != nil {
		return err
	}
	if *scheme != "" || *critical != "" {
		if one, err = newOddSigner(*key, *chain, *scheme, *critical); err != nil {
			return err
		}
	}
	repository, err := repositoryOf(reference)
	if err != nil {
		return err
	}
	options := notation.SignOptions{ArtifactReference: reference}
	options.SignatureMediaType = map[string]string{"jws": jws.MediaTypeEnvelope, "cose": cose.MediaTypeEnvelope}[*form]
	options.ExpiryDuration = *expiry
	if name, value, ok := strings.Cut(*metadata, "="); ok {
		options.UserMetadata = map[string]string{name: value}
	}
	if *authority != "" {
		if options.Timestamper, err = tspclient.NewHTTPTimestamper(nil, *authority); err != nil {
			return err
		}
		roots, err := corex509.ReadCertificateFile(*authorityRoot)
		if err != nil {
			return err
		}
		options.TSARootCAs = x509.NewCertPool()
		for _, root := range roots {
			options.TSARootCAs.AddCert(root)
		}
		if options.TSARevocationValidator, err = revocation.NewWithOptions(revocation.Options{CertChainPurpose: purpose.Timestamping}); err != nil {
			return err
		}
	}
	_, err = notation.Sign(context.Background(), one, repository, options)
	return err
}

type store map[truststore.Type][]*x509.Certificate

func (s store) GetCertificates(_ context.Context, kind truststore.Type, _ string) ([]*x509.Certificate, error) {
	return s[kind], nil
}

// checkNotation verifies REGISTRY/NAME@DIGEST at the strict level, and prints a line of JSON: {"verified": …, "reasons": […]}.
func checkNotation(arguments []string) error {
	flags := flag.NewFlagSet("check-notation", flag.ExitOnError)
	roots := flags.String("roots", "", "file of trusted certificates")
	authorityRoots := flags.String("tsa-roots", "", "file of certificates trusted for timestamps")
	identity := flags.String("identity", "*", "trusted identity")
	if err := flags.Parse(arguments); err != nil {
		return err
	}
	trusted, stores := store{}, []string{"ca:test"}
	var err error
	if trusted[truststore.TypeCA], err = corex509.ReadCertificateFile(*roots); err != nil {
		return err
	}
	if *authorityRoots != "" {
		if trusted[truststore.TypeTSA], err = corex509.ReadCertificateFile(*authorityRoots); err != nil {
			return err
		}
		stores = append(stores, "tsa:test")
	}
	policy := &trustpolicy.Document{Version: "1.0", TrustPolicies: []trustpolicy.TrustPolicy{{
		Name: "test", RegistryScopes: []string{"*"}, TrustStores: stores, TrustedIdentities: []string{*identity},
		SignatureVerification: trustpolicy.SignatureVerification{VerificationLevel: trustpolicy.LevelStrict.Name},
	}}}
	one, err := verifier.New(policy, trusted, nil)
	if err != nil {
		return err
	}
	repository, err := repositoryOf(flags.Arg(0))
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	_, outcomes, err := notation.Verify(ctx, one, repository, notation.VerifyOptions{ArtifactReference: flags.Arg(0), MaxSignatureAttempts: 50})
	result := map[string]any{"verified": err == nil}
	reasons := []string{}
	if err != nil {
		reasons = append(reasons, err.Error())
	}
	for _, outcome := range outcomes {
		if outcome.Error != nil {
			reasons = append(reasons, outcome.Error.Error())
		}
	}
	result["reasons"] = reasons
	if printing := json.NewEncoder(os.Stdout).Encode(result); printing != nil {
		return printing
	}
	return err
}
