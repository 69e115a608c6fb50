package main

import (
	"crypto"
	"encoding/hex"
	"encoding/json"
	"errors"
	"flag"
	"os"
	"strings"
	"time"

	"github.com/google/go-containerregistry/pkg/name"
	"github.com/google/go-containerregistry/pkg/v1/remote"
	"github.com/sigstore/sigstore-go/pkg/bundle"
	"github.com/sigstore/sigstore-go/pkg/root"
	"github.com/sigstore/sigstore-go/pkg/verify"
	"github.com/sigstore/sigstore/pkg/cryptoutils"
	"github.com/sigstore/sigstore/pkg/signature"
)

// checkBundles verifies a bundle that refers to REGISTRY/NAME@DIGEST by sigstore-go, for bundles that cosign does not read: of old versions, and with
// message signatures. It prints what checkNotation prints.
func checkBundles(arguments []string) error {
	flags := flag.NewFlagSet("check-bundle", flag.ExitOnError)
	trust := flags.String("trusted-root", "trusted-root.json", "trust root")
	key := flags.String("key", "", "public key")
	identity := flags.String("certificate-identity", "", "name in the certificate")
	issuer := flags.String("certificate-oidc-issuer", "", "issuer in the certificate")
	if err := flags.Parse(arguments); err != nil {
		return err
	}
	trusted, err := root.NewTrustedRootFromPath(*trust)
	if err != nil {
		return err
	}
	material := root.TrustedMaterialCollection{trusted}
	options := []verify.VerifierOption{verify.WithTransparencyLog(1), verify.WithObserverTimestamps(1)}
	var who verify.PolicyOption
	if *key != "" {
		verifier, err := readKey(*key)
		if err != nil {
			return err
		}
		expiring := root.NewExpiringKey(verifier, time.Time{}, time.Time{})
		material = append(material, root.NewTrustedPublicKeyMaterial(func(string) (root.TimeConstrainedVerifier, error) { return expiring, nil }))
		who = verify.WithKey()
	} else {
		wanted, err := verify.NewShortCertificateIdentity(*issuer, "", *identity, "")
		if err != nil {
			return err
		}
		options = append(options, verify.WithSignedCertificateTimestamps(1))
		who = verify.WithCertificateIdentity(wanted)
	}
	verifier, err := verify.NewVerifier(material, options...)
	if err != nil {
		return err
	}
	digest, err := name.NewDigest(flags.Arg(0))
	if err != nil {
		return err
	}
	algorithm, value, _ := strings.Cut(digest.DigestStr(), ":")
	bytes, err := hex.DecodeString(value)
	if err != nil {
		return err
	}
	policy := verify.NewPolicy(verify.WithArtifactDigest(algorithm, bytes), who)
	reasons := []string{}
	failure := errors.New("no bundle verifies")
	bundles, err := bundlesOf(digest)
	if err != nil {
		return err
	}
	for _, one := range bundles {
		if _, err := verifier.Verify(one, policy); err != nil {
			reasons = append(reasons, err.Error())
		} else {
			failure = nil
		}
	}
	if len(bundles) == 0 {
		reasons = append(reasons, "no bundle refers to the image")
	}
	if err := json.NewEncoder(os.Stdout).Encode(map[string]any{"verified": failure == nil, "reasons": reasons}); err != nil {
		return err
	}
	return failure
}

func readKey(file string) (signature.Verifier, error) {
	text, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	key, err := cryptoutils.UnmarshalPEMToPublicKey(text)
	if err != nil {
		return nil, err
	}
	return signature.LoadVerifier(key, crypto.SHA256)
}

func bundlesOf(subject name.Digest) ([]*bundle.Bundle, error) {
	index, err := remote.Referrers(subject)
	if err != nil {
		return nil, err
	}
	list, err := index.IndexManifest()
	if err != nil {
		return nil, err
	}
	var bundles []*bundle.Bundle
	for _, one := range list.Manifests {
		image, err := remote.Image(subject.Context().Digest(one.Digest.String()))
		if err != nil {
			return nil, err
		}
		layers, err := image.Layers()
		if err != nil {
			return nil, err
		}
		reader, err := layers[0].Uncompressed()
		if err != nil {
			return nil, err
		}
		read := &bundle.Bundle{}
		if err := json.NewDecoder(reader).Decode(read); err != nil {
			return nil, err
		}
		bundles = append(bundles, read)
	}
	return bundles, nil
}
