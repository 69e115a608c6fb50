/** Values of about 2 MB, as a request may bring them, each shaped to hurt some way of walking through values. */
import { BOOL, DYN, INT, listType, mapType, STRING, type Type } from "../../src/cel/types.js";
import type { Value } from "../../src/cel/values/value.js";

/** A variable with its type and value. */
export interface HostileVariable {
  readonly name: string;
  readonly type: Type;
  readonly value: Value;
}

const times = <T>(count: number, make: (index: number) => T): T[] => Array.from({ length: count }, (_, i) => make(i));

const nested = (depth: number): Value => {
  let value: Value = times(2_000, (i) => i);
  for (let i = 0; i < depth; i++) value = [value];
  return value;
};

const text = (name: string, value: string): HostileVariable => ({ name, type: STRING, value });
const list = (name: string, element: Type, value: Value): HostileVariable => ({ name, type: listType(element), value });

const wide = (): Value => Object.fromEntries(times(100_000, (i) => [`key-${i}`, i]));
const rows = (last: number): Value => times(200, (row) => times(1_000, (i) => (i === 999 ? last + row : i)));

/** All of them. Texts that look like something of theirs go on to be that for their whole length. */
export const hostileVariables: readonly HostileVariable[] = [
  text("letters", "a".repeat(2_000_000)),
  text("almost", `${"a".repeat(1_999_999)}b`),
  text("mixed", times(1_000_000, (i) => "ab c1-.é"[Math.imul(i, 2_654_435_761) >>> 29]).join("")),
  text("beyond", '😀é\u0001"'.repeat(300_000)),
  text("capitals", "Aä".repeat(660_000)),
  text("quotes", '"'.repeat(1_000_000)),
  text("ideographs", "\u3000".repeat(660_000)),
  text("faces", "😀a".repeat(400_000)),
  text("digits", "9".repeat(1_800_000)),
  text("zeros", `${"0".repeat(1_000_000)}x`),
  text("dots", "1.".repeat(900_000)),
  text("blanks", " ".repeat(2_000_000)),
  text("escapes", `https://h/${"%41".repeat(600_000)}`),
  text("userinfo", `https://${"[%".repeat(10_000)}@h:1/`),
  text("version", `1.2.3-${"a.".repeat(16_000)}b`),
  text("address", `1:${"::".repeat(900_000)}`),
  text("instant", `2024-01-01T00:00:00.${"1".repeat(1_900_000)}`),
  text("span", "1h".repeat(900_000)),
  text("number", "1".repeat(2_000_000)),
  text("amount", `1${"0".repeat(4_000)}.5`),
  text("formats", "%s%.9999f%e%d".repeat(150_000)),
  text("short", "abc-123"),
  text("pattern", "(a|b)*a(a|b){50}[^ab]"),
  text("classes", "[\\pL\\pN]".repeat(220)),
  text("repeated", "(?i)(a{0,30}b?){30}z"),
  text("alternatives", times(20_000, (i) => i.toString(36)).join("|")),
  list(
    "numbers",
    INT,
    times(300_000, (i) => (i * 7_919) % 300_007),
  ),
  list(
    "large",
    DYN,
    times(100_000, (i) => 2n ** 62n + BigInt(i)),
  ),
  list(
    "fractions",
    DYN,
    times(100_000, (i) => i + 0.1),
  ),
  list(
    "texts",
    STRING,
    times(100_000, (i) => `text-${(i * 7_919) % 100_003}`),
  ),
  list(
    "long",
    STRING,
    times(20, (i) => `${"a".repeat(100_000)}${i}`),
  ),
  list(
    "same",
    STRING,
    times(400, (i) => `${"a".repeat(5_000)}${i}`),
  ),
  list(
    "bools",
    BOOL,
    times(400_000, (i) => i % 2 === 0),
  ),
  list(
    "maps",
    mapType(STRING, INT),
    times(50_000, (i) => ({ name: i, other: 1 })),
  ),
  list(
    "few",
    mapType(STRING, DYN),
    times(500, (i) => ({ name: "n", list: times(500, (j) => (j === 499 ? i : j)) })),
  ),
  list("rows", listType(INT), rows(0)),
  list("others", listType(INT), rows(1_000)),
  list("deep", DYN, nested(400)),
  { name: "wide", type: mapType(STRING, INT), value: wide() },
  { name: "wider", type: mapType(STRING, INT), value: wide() },
  { name: "object", type: DYN, value: { wide: wide(), rows: rows(0), text: "a".repeat(1_000_000), list: nested(300) } },
  { name: "one", type: INT, value: 1 },
  { name: "many", type: INT, value: 1_000_000 },
  { name: "yes", type: BOOL, value: true },
];
