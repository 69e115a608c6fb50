/** Values of ASN.1 made at random: texts of all types with what they do not allow, times, numbers, identifiers. */
import { der, oid } from "../x509/pkcs10/requests.js";
import { pick, type Random } from "./random.js";

/** Up to so many. */
export const some = <T>(next: Random, most: number, make: () => T): T[] => Array.from({ length: next(most + 1) }, make);
export const octets = (text: string): Buffer => Buffer.from(text, "latin1");
/** Up to so many random octets. */
export const noise = (next: Random, most: number): Buffer => Buffer.from(some(next, most, () => next(256)));

export const OIDS = [
  "2.5.4.3",
  "2.5.4.5",
  "2.5.4.6",
  "2.5.4.10",
  "2.5.4.11",
  "1.2.840.113549.1.9.1",
  "0.9.2342.19200300.100.1.25",
];
const ODD_OIDS = ["2.999", "0.0", "1.39", "2.5.4.128", "1.2.2147483647", "2.2147483567", "2.5.29.17", "1.2.3.4.5.6.7"];

/** An object identifier, now and then one that is none. */
export const randomOid = (next: Random): Buffer => {
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

/** Octets that are often no text. */
export const text = (next: Random): Buffer =>
  Buffer.concat(
    some(next, 6, () => (next(5) === 0 ? Buffer.from(pick(next, RAW), "hex") : Buffer.from(pick(next, PIECES)))),
  );
export const ascii = (next: Random): Buffer =>
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

/** An element of any type that Go reads into a name's value. */
export function value(next: Random): Buffer {
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
