package main

import (
	"bytes"
	"crypto"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/asn1"
	"encoding/pem"
	"flag"
	"fmt"
	"math/big"
	"net/url"
	"os"
	"path/filepath"
	"time"
)

var (
	start = time.Date(2020, 1, 1, 0, 0, 0, 0, time.UTC)
	end   = time.Date(2099, 1, 1, 0, 0, 0, 0, time.UTC)
)

type issued struct {
	certificate *x509.Certificate
	key         crypto.Signer
	// The chain up from this certificate, itself first.
	chain []*x509.Certificate
}

func newKey(kind string) (crypto.Signer, error) {
	switch kind {
	case "rsa2048":
		return rsa.GenerateKey(rand.Reader, 2048)
	case "rsa3072":
		return rsa.GenerateKey(rand.Reader, 3072)
	case "p384":
		return ecdsa.GenerateKey(elliptic.P384(), rand.Reader)
	case "p521":
		return ecdsa.GenerateKey(elliptic.P521(), rand.Reader)
	case "ed25519":
		_, key, err := ed25519.GenerateKey(rand.Reader)
		return key, err
	}
	return ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
}

// issue makes a certificate of a new key, signed by a parent or, without one, by itself.
func issue(kind, name string, parent *issued, change func(*x509.Certificate)) (*issued, error) {
	key, err := newKey(kind)
	if err != nil {
		return nil, err
	}
	serial, err := rand.Int(rand.Reader, new(big.Int).Lsh(big.NewInt(1), 120))
	if err != nil {
		return nil, err
	}
	template := &x509.Certificate{
		SerialNumber:          serial,
		Subject:               pkix.Name{Country: []string{"US"}, Province: []string{"WA"}, Organization: []string{"test"}, CommonName: name},
		NotBefore:             start,
		NotAfter:              end,
		BasicConstraintsValid: true,
	}
	change(template)
	signer, above := key, template
	var chain []*x509.Certificate
	if parent != nil {
		signer, above, chain = parent.key, parent.certificate, parent.chain
	}
	der, err := x509.CreateCertificate(rand.Reader, template, above, key.Public(), signer)
	if err != nil {
		return nil, fmt.Errorf("certificate %s: %w", name, err)
	}
	certificate, err := x509.ParseCertificate(der)
	if err != nil {
		return nil, err
	}
	return &issued{certificate, key, append([]*x509.Certificate{certificate}, chain...)}, nil
}

func authority(pathLength int, uses ...x509.ExtKeyUsage) func(*x509.Certificate) {
	return func(template *x509.Certificate) {
		template.IsCA = true
		template.MaxPathLen = pathLength
		template.MaxPathLenZero = pathLength == 0
		template.KeyUsage = x509.KeyUsageCertSign | x509.KeyUsageCRLSign
		template.ExtKeyUsage = uses
	}
}

func codeSigning(template *x509.Certificate) {
	template.KeyUsage = x509.KeyUsageDigitalSignature
	template.ExtKeyUsage = []x509.ExtKeyUsage{x509.ExtKeyUsageCodeSigning}
}

// timestamping makes the extended key usage critical, as RFC 3161 demands.
func timestamping(template *x509.Certificate) {
	template.KeyUsage = x509.KeyUsageDigitalSignature
	value, _ := asn1.Marshal([]asn1.ObjectIdentifier{{1, 3, 6, 1, 5, 5, 7, 3, 8}})
	template.ExtraExtensions = []pkix.Extension{{Id: asn1.ObjectIdentifier{2, 5, 29, 37}, Critical: true, Value: value}}
}

func pems(certificates []*x509.Certificate) []byte {
	var text bytes.Buffer
	for _, one := range certificates {
		_ = pem.Encode(&text, &pem.Block{Type: "CERTIFICATE", Bytes: one.Raw})
	}
	return text.Bytes()
}

// makeCertificates writes, for each leaf and authority, NAME.pem (the chain, itself first) and NAME.key (PKCS 8).
func makeCertificates(arguments []string) error {
	flags := flag.NewFlagSet("certificates", flag.ExitOnError)
	folder := flags.String("to", ".", "folder")
	short := flags.Duration("short", time.Minute, "validity of the certificate that is to expire")
	if err := flags.Parse(arguments); err != nil {
		return err
	}
	made := map[string]*issued{}
	var failure error
	add := func(file, kind, name, parent string, change func(*x509.Certificate)) {
		if failure == nil {
			made[file], failure = issue(kind, name, made[parent], change)
		}
	}
	add("fulcio-root", "p256", "test-fulcio-root", "", authority(1))
	add("fulcio", "p256", "test-fulcio-intermediate", "fulcio-root", authority(0, x509.ExtKeyUsageCodeSigning))

	identity := func(template *x509.Certificate) {
		codeSigning(template)
		template.EmailAddresses = []string{"builder@example.org"}
	}
	add("own-root", "p256", "test-own-root", "", authority(1))
	add("own-intermediate", "p256", "test-own-intermediate", "own-root", authority(0, x509.ExtKeyUsageCodeSigning))
	add("own-leaf", "p256", "test-own-signer", "own-intermediate", identity)
	add("own-two-leaf", "p256", "test-own-two-names", "own-intermediate", func(template *x509.Certificate) {
		identity(template)
		uri, _ := url.Parse("https://example.org/builder")
		template.URIs = []*url.URL{uri}
	})
	add("own-expired-leaf", "p256", "test-own-expired-signer", "own-intermediate", func(template *x509.Certificate) {
		identity(template)
		template.NotAfter = time.Now().Add(*short)
	})

	add("tsa-root", "p256", "test-tsa-root", "", authority(1))
	add("tsa-intermediate", "p256", "test-tsa-intermediate", "tsa-root", authority(0, x509.ExtKeyUsageTimeStamping))
	add("tsa", "p256", "test-tsa", "tsa-intermediate", timestamping)

	add("other-fulcio", "p256", "test-other-fulcio", "", authority(0))
	add("other-tsa", "p256", "test-other-tsa", "", timestamping)
	add("notation-root", "p384", "test-notation-root", "", authority(1))
	add("notation-intermediate", "p384", "test-notation-intermediate", "notation-root", authority(0))
	for _, kind := range []string{"rsa2048", "rsa3072", "p256", "p384", "p521"} {
		add("notation-"+kind, kind, "test-notation-"+kind, "notation-intermediate", codeSigning)
	}
	add("notation-expired", "p256", "test-notation-expired", "notation-intermediate", func(template *x509.Certificate) {
		codeSigning(template)
		template.NotAfter = time.Now().Add(*short)
	})
	add("notation-self-signed", "p256", "test-notation-self-signed", "", codeSigning)
	add("notation-other-root", "rsa2048", "test-other-notation-root", "", authority(0))
	add("notation-other", "rsa2048", "test-other-notation-signer", "notation-other-root", codeSigning)
	if failure != nil {
		return failure
	}
	for name, one := range made {
		if err := os.WriteFile(filepath.Join(*folder, name+".pem"), pems(one.chain), 0o644); err != nil {
			return err
		}
		der, err := x509.MarshalPKCS8PrivateKey(one.key)
		if err != nil {
			return err
		}
		text := pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: der})
		if err := os.WriteFile(filepath.Join(*folder, name+".key"), text, 0o600); err != nil {
			return err
		}
	}
	return nil
}
