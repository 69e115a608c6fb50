/** Certification requests made at random from parts that are odd but often sound. */
import {
  alternativeNames,
  attribute,
  bits,
  der,
  EC_KEY,
  extension,
  extensionRequest,
  oid,
  type RequestParts,
  request,
  SEQUENCE,
  SET,
} from "../x509/pkcs10/requests.js";
import { pick, type Random } from "./random.js";
import { ascii, noise, OIDS, octets, randomOid, some, text, value } from "./random-values.js";

const SCHEMES = ["", "", "http:", "HTTPS:", "spiffe:", "urn:", "1:", "a+b-c.1:", ":", "*:", "mailto:", "é:", "a_b:"];
const AUTHORITIES = [
  ...[
    "",
    "",
    "//",
    "//a",
    "//A.b",
    "//a.",
    "//.a",
    "//a..b",
    "//a:1",
    "//a:",
    "//a:x",
    "//a:1:2",
    "//u@a",
    "//u:p@a",
    "//u:p@b@a",
    "//@a",
  ],
  ...[
    "//u%41@a",
    "//u%zz@a",
    "//u\\@a",
    "//[::1]",
    "//[::1]:80",
    "//[::1%25en0]",
    "//[fe80::1%25%20]",
    "//[1.2.3.4]",
    "//[::1",
    "//a[::1]",
    "//[]",
  ],
  ...[
    "//a%25b",
    "//a%41",
    "//a%c3%a9",
    "//a b",
    '//a"b',
    "//a<b>",
    "//a%",
    "//a%2",
    "///a",
    "////",
    "//[::ffff:1.2.3.4]",
    "//a,b:1",
    "//a:1,b:2",
  ],
  ...[
    "//[::1%25]",
    "//[::1%25%41]",
    "//[::1]x",
    "//[::1]:x",
    "//!$&'()*+,;=",
    "//a^b",
    "//a|b",
    "//a`b",
    "//u[@a",
    "//u/@a",
  ],
];
const PATHS = [
  "",
  "/",
  "/a",
  "/a b",
  "/a%20b",
  "/%zz",
  "/%",
  "/a\\b",
  "/a[b]",
  "/a%2fb",
  "/a%2Fb",
  "/a:b",
  "a:b",
  "a/b:c",
  "*",
  "/*",
  "/a;b",
  "/é",
];
const MORE_PATHS = [
  "/!",
  "/'",
  "/(a)",
  "/%21",
  "/a^b",
  '/"',
  "/<",
  "/a|b",
  "/a`b",
  "/{}",
  "//",
  "/.//",
  "/a/../b",
  "/%41",
  "/\u0001",
  "/\u007f",
];
const QUERIES = ["", "", "", "?", "?a", "?a=b&c", "??", "?a?", "?%zz", "? ", '?"', "?é"];
const FRAGMENTS = [
  "",
  "",
  "",
  "#",
  "#a",
  "#a b",
  "#%zz",
  "#a#b",
  "#%41",
  "#!",
  "#'",
  '#"',
  "#[a]",
  "#a/?",
  "#\u0001",
  "#a^",
  "#%21",
];

const uri = (next: Random): Buffer =>
  octets(
    [SCHEMES, AUTHORITIES, [...PATHS, ...MORE_PATHS], QUERIES, FRAGMENTS].map((from) => pick(next, from)).join(""),
  );

const ADDRESSES = [
  "7f000001",
  "00000000000000000000ffff7f000001",
  "00000000000000000000000000000000",
  "20010db8000000000000000000000001",
];
const MORE_ADDRESSES = [
  "20010db8000100000000000000010000",
  "00010000000200000003000000040005",
  "fe800000000000000000000000000000",
  "0000",
];
const IN_NAMES = [
  "0a",
  "0a0b0c0d0e",
  "00000000000000000000fffe7f000001",
  "00010002000300040005000600070000",
  "ffff0000ffff0000ffff0000ffff0000",
];

function generalName(next: Random): Buffer {
  switch (next(11)) {
    case 0:
      return der(
        0xa0,
        randomOid(next),
        der(next(8) === 0 ? 0x80 : 0xa0, ...(next(6) === 0 ? [] : [value(next)])),
        ...some(next, 1, () => value(next)),
      );
    case 1:
      return der(0x81, next(5) === 0 ? text(next) : octets("a@b.example"));
    case 2:
    case 3:
      return der(0x82, next(6) === 0 ? text(next) : ascii(next));
    case 4:
    case 5:
      return der(0x86, uri(next));
    case 6:
      return der(0x87, Buffer.from(pick(next, [...ADDRESSES, ...MORE_ADDRESSES, ...IN_NAMES]), "hex"));
    case 7:
      return der(0xa4, ...some(next, 2, () => names(next)));
    case 8:
      return der(
        0xa5,
        ...some(next, 1, () => der(0x80, ascii(next))),
        ...(next(5) === 0 ? [] : [der(0x81, next(3) === 0 ? text(next) : ascii(next))]),
      );
    case 9:
      return next(2) === 0 ? der(0x88, noise(next, 3)) : der(0xa3, noise(next, 3));
    default:
      return der(
        pick(next, [0x80, 0x83, 0x84, 0xa1, 0xa2, 0xa6, 0xa7, 0xa8, 0x41, 0x02, 0x07, 0x08, 0x89, 0x9f, 0x30]),
        next(2) === 0 ? ascii(next) : noise(next, 5),
      );
  }
}

const names = (next: Random): Buffer =>
  next(3) === 0
    ? der(
        SET,
        ...some(next, 3, () => der(SEQUENCE, randomOid(next), value(next), ...(next(9) === 0 ? [value(next)] : []))),
      )
    : attribute(pick(next, OIDS), value(next));

const CURVES = ["1.3.132.0.33", "1.2.840.10045.3.1.7", "1.3.132.0.34", "1.3.132.0.35", "1.3.132.0.10"];
const KEYS = [
  "1.2.840.113549.1.1.1",
  "1.2.840.10045.2.1",
  "1.3.101.112",
  "1.2.840.10040.4.1",
  "1.3.101.110",
  "1.2.840.113549.1.1.10",
];
const INTEGERS = [
  "01",
  "00",
  "ff",
  "0080",
  "7f",
  "010001",
  "00ff",
  "ff7f",
  "8000",
  "7fffffffffffffff",
  "008000000000000000",
  "0100000000000000",
  "",
  "0001",
];

const integer = (next: Random): Buffer => der(2, Buffer.from(pick(next, INTEGERS), "hex"));

function key(next: Random): Buffer {
  const algorithm = oid(pick(next, KEYS));
  const parameters = pick(next, [
    () => [],
    () => [der(5)],
    () => [oid(pick(next, CURVES))],
    () => [der(SEQUENCE, integer(next), integer(next), integer(next))],
    () => [value(next)],
    () => [der(5), der(5)],
  ])();
  const point = (size: number): Buffer =>
    Buffer.from([pick(next, [4, 4, 2, 0]), ...some(next, 0, () => 0), ...Buffer.alloc(size, pick(next, [0, 1, 0xff]))]);
  const content = pick(next, [
    () => der(SEQUENCE, integer(next), integer(next)),
    () => der(SEQUENCE, der(2, Buffer.from([next(2), 0x80 | next(128), next(256), 3])), integer(next)),
    () => integer(next),
    () => Buffer.alloc(pick(next, [31, 32, 33]), 7),
    () => point(pick(next, [0, 56, 64, 96, 132, 65])),
  ])();
  // Some lack bits, so that the octets are moved.
  const string =
    next(6) === 0 ? der(3, Buffer.from([next(9)]), content, Buffer.from([pick(next, [0, 0x80])])) : bits(content);
  return der(SEQUENCE, der(SEQUENCE, algorithm, ...parameters), string, ...(next(20) === 0 ? [der(5)] : []));
}

function attributes(next: Random): readonly Buffer[] {
  const asked = alternativeNames(...some(next, 3, () => generalName(next)));
  const others = some(next, 1, () =>
    pick(next, [
      () => extension(pick(next, ["2.5.29.15", "2.5.29.17", "2.5.29.19"]), noise(next, 4)),
      () =>
        der(
          SEQUENCE,
          oid("2.5.29.37"),
          der(1, pick(next, [Buffer.from([0xff]), Buffer.from([0]), Buffer.from([1])])),
          der(4, noise(next, 3)),
        ),
      () => der(SEQUENCE, oid("2.5.29.19"), der(4, noise(next, 3)), value(next)),
      () => alternativeNames(generalName(next)),
    ])(),
  );
  const extensions = extensionRequest(...(next(2) === 0 ? [asked, ...others] : [...others, asked]));
  const more = some(next, 1, () =>
    pick(next, [
      () => der(SEQUENCE, oid("1.2.840.113549.1.9.7"), der(SET, value(next))),
      () => der(SEQUENCE, oid("1.2.840.113549.1.9.14"), der(SET)),
      () => extensionRequest(alternativeNames(generalName(next))),
      () => der(SEQUENCE, oid("1.2.840.113549.1.9.14"), der(SET, value(next))),
      () => der(SEQUENCE, oid("1.2.840.113549.1.9.14"), der(SET, der(SEQUENCE), value(next))),
      () => der(SEQUENCE, oid("1.2.840.113549.1.9.14"), value(next)),
      () => value(next),
    ])(),
  );
  return next(2) === 0 ? [extensions, ...more] : [...more, extensions];
}

/** The DER of a request; most are sound. */
export function randomRequest(next: Random): Buffer {
  const parts: RequestParts = {
    names: some(next, 2, () => names(next)),
    key: next(4) === 0 ? key(next) : EC_KEY,
    attributes: attributes(next),
    ...(next(12) === 0 && { version: integer(next) }),
    ...(next(12) === 0 && { subject: value(next) }),
    ...(next(12) === 0 && { algorithm: der(SEQUENCE, randomOid(next), ...some(next, 2, () => value(next))) }),
    ...(next(12) === 0 && { signature: der(3, noise(next, 3)) }),
  };
  return request(parts);
}
