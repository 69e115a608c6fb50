import assert from "node:assert/strict";
import { describe, test } from "node:test";
import {
  type CertificationRequest,
  LARGEST_REQUEST,
  MalformedRequest,
  readCertificationRequest,
} from "../../../src/x509/pkcs10/index.js";
import {
  alternativeNames,
  attribute,
  bits,
  der,
  EC_KEY,
  extension,
  extensionRequest,
  oid,
  pem,
  type RequestParts,
  request,
  SEQUENCE,
  SET,
} from "./requests.js";

const hex = (text: string): Buffer => Buffer.from(text, "hex");
const octets = (text: string): Buffer => Buffer.from(text, "latin1");

function read(parts: RequestParts): CertificationRequest {
  const answer = readCertificationRequest(pem(request(parts)));
  assert.ok(!(answer instanceof MalformedRequest), answer instanceof MalformedRequest ? answer.message : "");
  return answer;
}

function refused(pemText: Buffer | RequestParts): string {
  const answer = readCertificationRequest(Buffer.isBuffer(pemText) ? pemText : pem(request(pemText)));
  assert.ok(answer instanceof MalformedRequest, "it was read");
  return answer.message;
}

describe("the text of a request (spec certificate-request-policy.md 1.2, 1 to 3)", () => {
  const sound = pem(request({}));
  const padded = (length: number): Buffer => Buffer.concat([Buffer.alloc(length - sound.length, "\n"), sound]);

  test("has 36500 octets at most", () => {
    assert.ok(!(readCertificationRequest(padded(LARGEST_REQUEST)) instanceof MalformedRequest));
    assert.equal(
      refused(padded(LARGEST_REQUEST + 1)),
      "error decoding certificate request PEM block: provided PEM data was larger than the maximum 36500B",
    );
  });

  test("has a block of PEM, whatever its label is", () => {
    assert.equal(
      refused(octets("x")),
      "error decoding certificate request PEM block: no PEM data was found in given input",
    );
    assert.ok(!(readCertificationRequest(pem(request({}), "SOMETHING ELSE")) instanceof MalformedRequest));
  });
});

describe("the structure of a request (spec certificate-request-policy.md 1.2, 4 and 5)", () => {
  test("ends where it says, and has attributes", () => {
    assert.match(refused(pem(Buffer.concat([request({}), hex("00")]))), /trailing data/);
    const info = der(SEQUENCE, der(2, hex("00")), der(SEQUENCE), EC_KEY);
    refused(pem(der(SEQUENCE, info, der(SEQUENCE, oid("1.2.3")), bits(hex("00")))));
  });

  test("has a version that is any number", () => {
    read({ version: der(2, hex("ff")) });
    refused({ version: der(2, hex("0001")) });
    refused({ version: der(2, hex("010000000000000000")) });
  });

  test("may have attributes that cannot be read, but no extension twice", () => {
    const names = alternativeNames(der(0x82, octets("a.example")));
    const odd = [
      der(5),
      der(SEQUENCE, oid("1.2.840.113549.1.9.14"), der(SET)),
      der(SEQUENCE, oid("1.2.840.113549.1.9.7")),
    ];
    assert.deepEqual(read({ attributes: [...odd, extensionRequest(names)] }).dnsNames, ["a.example"]);
    const twice = "x509: certificate request contains duplicate requested extensions";
    assert.equal(refused({ attributes: [extensionRequest(names, names)] }), twice);
    assert.equal(refused({ attributes: [extensionRequest(names), extensionRequest(names)] }), twice);
  });

  test("has extensions in the first value of their attribute only", () => {
    const [first, second] = ["a", "b"].map((name) => der(SEQUENCE, alternativeNames(der(0x82, octets(name)))));
    assert.ok(first !== undefined && second !== undefined);
    const attributes = [der(SEQUENCE, oid("1.2.840.113549.1.9.14"), der(SET, first, second))];
    assert.deepEqual(read({ attributes }).dnsNames, ["a"]);
  });

  test("may say that extensions are critical, in exactly one way", () => {
    const names = der(SEQUENCE, der(0x82, octets("a")));
    const critical = (value: string): RequestParts => ({
      attributes: [extensionRequest(der(SEQUENCE, oid("2.5.29.17"), der(1, hex(value)), der(4, names)))],
    });
    assert.deepEqual(read(critical("ff")).dnsNames, ["a"]);
    refused(critical("01"));
  });
});

describe("the key of a request (spec certificate-request-policy.md 1.2)", () => {
  const key = (algorithm: string, parameters: readonly Buffer[], content: Buffer): RequestParts => ({
    key: der(SEQUENCE, der(SEQUENCE, oid(algorithm), ...parameters), bits(content)),
  });
  const RSA = "1.2.840.113549.1.1.1";
  const numbers = (modulus: string, exponent: string): Buffer =>
    der(SEQUENCE, der(2, hex(modulus)), der(2, hex(exponent)));

  test("is one of RSA with the bits of its modulus, of any size", () => {
    assert.deepEqual(read(key(RSA, [der(5)], numbers("00c1", "03"))).publicKey, { algorithm: "RSA", bits: 8 });
    const large = numbers(`00${"ff".repeat(2_048)}`, "010001");
    assert.deepEqual(read(key(RSA, [der(5)], large)).publicKey, { algorithm: "RSA", bits: 16_384 });
    assert.equal(refused(key(RSA, [], numbers("00c1", "03"))), "x509: RSA key missing NULL parameters");
    assert.equal(refused(key(RSA, [der(5)], numbers("00", "03"))), "x509: RSA modulus is not a positive number");
    assert.equal(refused(key(RSA, [der(5)], numbers("c1", "03"))), "x509: RSA modulus is not a positive number");
  });

  test("is one of an elliptic curve of NIST, a point on it", () => {
    assert.deepEqual(read({}).publicKey, { algorithm: "ECDSA", bits: 256 });
    const EC = "1.2.840.10045.2.1";
    const p256 = oid("1.2.840.10045.3.1.7");
    assert.equal(refused(key(EC, [p256], Buffer.alloc(65, 4))), "P256 point not on curve");
    assert.equal(refused(key(EC, [oid("1.3.132.0.10")], Buffer.alloc(65, 4))), "x509: unsupported elliptic curve");
    assert.equal(refused(key(EC, [], Buffer.alloc(65, 4))), "x509: invalid ECDSA parameters");
    refused(key(EC, [p256], Buffer.alloc(33, 2)));
  });

  test("is one of Ed25519 with 32 octets and no parameters", () => {
    const ED = "1.3.101.112";
    assert.deepEqual(read(key(ED, [], Buffer.alloc(32))).publicKey, { algorithm: "Ed25519" });
    refused(key(ED, [der(5)], Buffer.alloc(32)));
    refused(key(ED, [], Buffer.alloc(33)));
  });

  test("is one of DSA with four positive numbers", () => {
    const numbersOf = (g: string): Buffer => der(SEQUENCE, der(2, hex("07")), der(2, hex("03")), der(2, hex(g)));
    const DSA = "1.2.840.10040.4.1";
    assert.deepEqual(read(key(DSA, [numbersOf("02")], der(2, hex("04")))).publicKey, { algorithm: "DSA" });
    refused(key(DSA, [numbersOf("00")], der(2, hex("04"))));
  });

  test("is unknown where its algorithm is", () => {
    for (const algorithm of ["1.3.101.110", "1.3.101.113", "1.2.840.113549.1.1.10"]) {
      assert.deepEqual(read(key(algorithm, [], Buffer.alloc(1))).publicKey, { algorithm: "unknown" });
    }
  });
});

describe("the subject of a request (spec certificate-request-policy.md 1.2)", () => {
  const CN = "2.5.4.3";
  const valueIn = (value: Buffer): string | undefined => read({ names: [attribute(CN, value)] }).subject[0]?.value;

  test("has its attributes in the order of their sets, with repetitions", () => {
    const pair = (id: string, text: string): Buffer => der(SEQUENCE, oid(id), der(0x0c, octets(text)));
    const names = [
      der(SET, pair(CN, "a"), pair("2.5.4.10", "b")),
      der(SET),
      der(SET, pair(CN, "a")),
      der(SET, pair("2.999.1", "c")),
    ];
    assert.deepEqual(
      read({ names }).subject.map(({ oid, value }) => `${oid}=${value}`),
      ["2.5.4.3=a", "2.5.4.10=b", "2.5.4.3=a", "2.999.1=c"],
    );
  });

  test("has text of six types", () => {
    assert.equal(valueIn(der(0x0c, Buffer.from("ä€😀"))), "ä€😀");
    assert.equal(valueIn(der(0x13, octets("a*b&c"))), "a*b&c");
    assert.equal(valueIn(der(0x16, octets("a@b"))), "a@b");
    assert.equal(valueIn(der(0x12, octets("1 2"))), "1 2");
    assert.equal(valueIn(der(0x14, octets("\xe9"))), "é");
    assert.equal(valueIn(der(0x1e, hex("0041ffe00000"))), "A\uffe0");
  });

  test("has no text that its type does not allow", () => {
    const bad = [der(0x0c, hex("ff")), der(0x13, octets("@")), der(0x12, octets("x")), der(0x16, hex("80"))];
    for (const value of [...bad, der(0x1e, hex("d800")), der(0x1e, hex("00")), der(0x1e, hex("fffe"))]) {
      refused({ names: [attribute(CN, value)] });
    }
  });

  test("may have values that are no text, well-formed where Go knows their type", () => {
    const others = [
      der(0x1c, octets("\0\0\0a")),
      der(0x1b, octets("a")),
      der(0x04),
      der(5),
      der(SEQUENCE),
      der(0x17, octets("260101000000Z")),
    ];
    for (const value of others) assert.equal(valueIn(value), undefined);
    const bad = [
      der(0x17, octets("260229000000Z")),
      der(0x18, octets("nope")),
      der(1, hex("01")),
      der(2),
      der(6, hex("80")),
      der(3),
    ];
    for (const value of bad) refused({ names: [attribute(CN, value)] });
  });
});

describe("the alternative names of a request (spec certificate-request-policy.md 1.2)", () => {
  test("stand in four lists in the order of the encoding, odd ones too", () => {
    const names = ["", ".", "-a.b", "a\0", "a", "a"].map((name) => der(0x82, octets(name)));
    const { dnsNames, emailAddresses } = read({ alternatives: [...names, der(0x81, octets("a@b"))] });
    assert.deepEqual(dnsNames, ["", ".", "-a.b", "a\0", "a", "a"]);
    assert.deepEqual(emailAddresses, ["a@b"]);
  });

  test("are a sequence of ASCII texts, URIs and addresses", () => {
    assert.equal(refused({ alternatives: [der(0x82, hex("e9"))] }), "x509: SAN dNSName is malformed");
    assert.equal(refused({ alternatives: [der(0x81, hex("e9"))] }), "x509: SAN rfc822Name is malformed");
    assert.equal(refused({ alternatives: [der(0x86, hex("e9"))] }), "x509: SAN uniformResourceIdentifier is malformed");
    assert.equal(refused({ alternatives: [der(0x87, Buffer.alloc(5))] }), "x509: cannot parse IP address of length 5");
    const asked = extensionRequest(extension("2.5.29.17", der(SET)));
    assert.equal(refused({ attributes: [asked] }), "x509: invalid subject alternative names");
    assert.deepEqual(read({ alternatives: [] }).dnsNames, []);
  });

  test("have addresses as Go prints them", () => {
    const addresses = [
      "01020304",
      "00000000000000000000ffff01020304",
      "20010db8000000000000000000000001",
      "00".repeat(16),
    ];
    assert.deepEqual(read({ alternatives: addresses.map((address) => der(0x87, hex(address))) }).ipAddresses, [
      ...["1.2.3.4", "1.2.3.4", "2001:db8::1", "::"],
    ]);
  });

  test("have URIs as Go prints them", () => {
    const uris = ["HTTP://A.b/C", "http://a/b c\\d", "urn:A", "a/b:c", "", "http://a/%2f", "spiffe://t/ns/a?b#c"];
    assert.deepEqual(read({ alternatives: uris.map((uri) => der(0x86, octets(uri))) }).uris, [
      ...["http://A.b/C", "http://a/b%20c%5Cd", "urn:A", "a/b:c", "", "http://a/%2f", "spiffe://t/ns/a?b#c"],
    ]);
    for (const uri of [
      "\x01",
      "http://a/%zz",
      "1:b",
      "*://x",
      "http://a b",
      "http://a:x/",
      "http://a./",
      "http://a%25\x7f/",
    ]) {
      refused({ alternatives: [der(0x86, octets(uri))] });
    }
  });
});

describe("the generic look at alternative names (spec certificate-request-policy.md 1.2)", () => {
  const UPN = "1.3.6.1.4.1.311.20.2.3";
  const otherName = (value: Buffer): Buffer => der(0xa0, oid(UPN), der(0xa0, value));
  const namesOf = (...alternatives: Buffer[]) => {
    const { generalNames } = read({ alternatives });
    assert.ok(!("undecodable" in generalNames), "undecodable" in generalNames ? generalNames.undecodable : "");
    return generalNames;
  };
  const valueIn = (value: Buffer): string | undefined => namesOf(otherName(value)).otherNames[0]?.value;

  test("finds other names, their text or what they are made of", () => {
    assert.deepEqual(namesOf(otherName(der(0x0c, octets("u@t")))).otherNames, [{ oid: UPN, value: "u@t" }]);
    assert.equal(valueIn(der(0x1e, hex("0041"))), "1e020041");
    assert.equal(valueIn(der(SEQUENCE)), "3000");
    assert.equal(valueIn(der(0x14, Buffer.from("é\ufffd\ufeff"))), "é\ufffd\ufeff");
  });

  test("fails where the text of one is not UTF-8: nothing here sees what Go sees of it", () => {
    for (const tag of [0x0c, 0x13, 0x14, 0x16]) {
      for (const value of ["e9", "e282eda08041ff", "c080", "f4908080"]) {
        const { generalNames } = read({ alternatives: [otherName(der(tag, hex(value)))] });
        assert.deepEqual(generalNames, { undecodable: "the value of an otherName is not valid UTF-8" });
      }
    }
  });

  test("counts the names that no list holds", () => {
    const names = namesOf(der(0xa3), der(0x83), der(0xa4), der(0xa5, der(0x81, octets("a"))), der(0x88, hex("2a")));
    assert.deepEqual(names, {
      otherNames: [],
      x400Addresses: 2,
      directoryNames: 1,
      ediPartyNames: 1,
      registeredIds: 1,
    });
    assert.deepEqual(read({}).generalNames, {
      ...names,
      x400Addresses: 0,
      directoryNames: 0,
      ediPartyNames: 0,
      registeredIds: 0,
    });
  });

  test("fails, and the request is read all the same", () => {
    const directory = der(0xa4, der(SEQUENCE, attribute("2.5.4.3", der(0x0c, octets("a")))));
    const undecodable = [
      der(0x89),
      hex("9f1f00"),
      directory,
      der(0x88),
      der(0xa0),
      der(0xa2, hex("e9")),
      der(0xa7),
      der(0xa5),
    ];
    for (const name of undecodable.filter((each) => !each.equals(hex("9f1f00")))) {
      const { generalNames, dnsNames } = read({ alternatives: [der(0x82, octets("a")), name] });
      assert.ok("undecodable" in generalNames);
      assert.deepEqual(dnsNames, ["a"]);
    }
    const trailing = extension("2.5.29.17", Buffer.concat([der(SEQUENCE), hex("00")]));
    assert.ok("undecodable" in read({ attributes: [extensionRequest(trailing)] }).generalNames);
  });

  test("does not see what the strict one refuses", () => {
    refused({ alternatives: [hex("9f1f00")] });
  });
});
