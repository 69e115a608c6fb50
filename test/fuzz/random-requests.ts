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

const some = <T>(next: Random, most: number, make: () => T): T[] => Array.from({ length: next(most + 1) }, make);
const octets = (text: string): Buffer => Buffer.from(text, "latin1");
const noise = (next: Random, most: number): Buffer => Buffer.from(some(next, most, () => next(256)));

const OIDS = [
  "2.5.4.3",
  "2.5.4.5",
  "2.5.4.6",
  "2.5.4.10",
  "2.5.4.11",
  "1.2.840.113549.1.9.1",
  "0.9.2342.19200300.100.1.25",
];
const ODD_OIDS = ["2.999", "0.0", "1.39", "2.5.4.128", "1.2.2147483647", "2.2147483567", "2.5.29.17", "1.2.3.4.5.6.7"];

const randomOid = (next: Random): Buffer => {
  const kind = next(12);
  if (kind === 0) return der(6, noise(next, 6));
  return oid(pick(next, kind < 4 ? ODD_OIDS : OIDS));
};

const PIECES = [
  "a",
  "Z",
  "0",
  " ",
  "*",
  "&",
  "@",
  "'",
  "_",
  "é",
  "\u0000",
  "\u007f",
  "ü",
  "€",
  "😀",
  "\ufeff",
  "\ufffd",
  "-",
  ".",
];
const RAW = ["80", "c0af", "e28082", "eda080", "edbfbf", "f08080", "f4908080", "f0908d88", "c280", "ff", "e282", "fe"];

const text = (next: Random): Buffer =>
  Buffer.concat(
    some(next, 6, () => (next(5) === 0 ? Buffer.from(pick(next, RAW), "hex") : Buffer.from(pick(next, PIECES)))),
  );
const ascii = (next: Random): Buffer =>
  octets(some(next, 8, () => pick(next, ["a", "Z", "9", " ", "-", ".", "*"])).join(""));

const BMP = [
  "0041",
  "00e9",
  "d800",
  "dfff",
  "fdcf",
  "fdd0",
  "fdef",
  "fdf0",
  "fffd",
  "fffe",
  "ffff",
  "0000",
  "feff",
  "20ac",
];
const YEARS = ["00", "49", "50", "68", "69", "99"];
const ZONES = [
  "Z",
  "z",
  "+0000",
  "-0000",
  "+0100",
  "-2359",
  "+2400",
  "+2401",
  "+2500",
  "+0060",
  "+01",
  "+010",
  "",
  "+0059",
  "-0001",
  "+00:30",
];
const DAYS = ["0101", "0229", "0228", "1231", "0431", "0400", "0001", "1301", "0630", "0132"];
const HOURS = ["0000", "2359", "2400", "2360", "1212"];
const FRACTIONS = ["", "", ".5", ".50", ".123456789", ".1234567891", ",5", ".", ".0", ".000000001", ".000000000"];

const time = (next: Random, year: string): Buffer =>
  octets(
    `${year}${pick(next, DAYS)}${pick(next, HOURS)}${pick(next, ["", "00", "59", "60"])}${pick(next, FRACTIONS)}${pick(next, ZONES)}`,
  );

function value(next: Random): Buffer {
  switch (next(14)) {
    case 0:
      return der(0x0c, text(next));
    case 1:
      return der(0x13, next(2) === 0 ? ascii(next) : text(next));
    case 2:
      return der(0x16, next(2) === 0 ? ascii(next) : text(next));
    case 3:
      return der(0x14, text(next));
    case 4:
      return der(
        0x1e,
        Buffer.from(some(next, 4, () => pick(next, BMP)).join("") + pick(next, ["", "", "", "00"]), "hex"),
      );
    case 5:
      return der(
        0x12,
        octets(some(next, 4, () => pick(next, ["0", "9", " ", "1", next(9) === 0 ? "x" : "5"])).join("")),
      );
    case 6:
      return der(0x17, time(next, pick(next, YEARS)));
    case 7:
      return der(0x18, time(next, `${pick(next, ["00", "19", "20", "99"])}${pick(next, YEARS)}`));
    case 8:
      return der(
        2,
        pick(next, [noise(next, 10), Buffer.from([0, 0x7f]), Buffer.from([0xff, 0x80]), Buffer.from([0, 0x80])]),
      );
    case 9:
      return der(1, pick(next, [noise(next, 2), Buffer.from([0xff]), Buffer.from([0])]));
    case 10:
      return der(3, noise(next, 3));
    case 11:
      return randomOid(next);
    case 12:
      return der(pick(next, [0x04, 0x05, 0x1a, 0x1b, 0x1c, 0x0a, 0x30, 0x2c, 0x80, 0x41, 0x1d]), noise(next, 4));
    default:
      return der(0x0c, ascii(next));
  }
}

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
