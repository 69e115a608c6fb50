// Makes data/time-zones.json: the names of time zones as Go knows them, and the offsets before 1970 that `Intl` has not.
//
//     node scripts/generate-zones.mjs <lib/time/zoneinfo.zip of a Go distribution>
//
// Go's file is the IANA time zone database (public domain) with the histories that its `backzone` file keeps: zones whose clocks agree since
// 1970 are one zone to `Intl`, with one history, and two to Go. It must be of the release that this Node has, lest news be taken for history.
import { createHash } from "node:crypto";
import { readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const archive = process.argv[2];
if (archive === undefined) {
  console.error("usage: node scripts/generate-zones.mjs <zoneinfo.zip>");
  process.exit(2);
}
// The script that made the archive lies beside it, and names the release.
const release = /^DATA=(\w+)$/m.exec(readFileSync(join(dirname(archive), "update.bash"), "utf8"))?.[1];
if (release !== process.versions.tz) {
  console.error(`the archive is of release ${release}, this Node has ${process.versions.tz}`);
  process.exit(1);
}

/** The files of a ZIP archive that is not compressed, as Go's is. */
function* filesOf(zip) {
  let at = zip.lastIndexOf(Buffer.from("PK\x05\x06", "latin1"));
  const count = zip.readUInt16LE(at + 10);
  at = zip.readUInt32LE(at + 16);
  for (let index = 0; index < count; index += 1) {
    const nameEnd = at + 46 + zip.readUInt16LE(at + 28);
    const name = zip.toString("utf8", at + 46, nameEnd);
    if (zip.readUInt16LE(at + 10) !== 0) throw new Error(`${name} is compressed`);
    const local = zip.readUInt32LE(at + 42);
    const start = local + 30 + zip.readUInt16LE(local + 26) + zip.readUInt16LE(local + 28);
    if (!name.endsWith("/")) yield [name, zip.subarray(start, start + zip.readUInt32LE(at + 24))];
    at = nameEnd + zip.readUInt16LE(at + 30) + zip.readUInt16LE(at + 32);
  }
}

/** The second, 64-bit part of a TZif file (RFC 9636): the offset at the beginning, and [Unix seconds, offset from then on]. */
function historyOf(file) {
  const countsAt = (at) => Array.from({ length: 6 }, (_, index) => file.readUInt32BE(at + 20 + 4 * index));
  const [isUt, isStandard, leaps, times, types, letters] = countsAt(0);
  const second = 44 + times * 5 + types * 6 + letters + leaps * 8 + isStandard + isUt;
  const [, , , count] = countsAt(second);
  const start = second + 44;
  const offset = (type) => file.readInt32BE(start + count * 9 + type * 6);
  const transitions = Array.from({ length: count }, (_, index) => [
    Number(file.readBigInt64BE(start + index * 8)),
    offset(file[start + count * 8 + index]),
  ]);
  return { first: offset(0), transitions };
}

function offsetAt({ first, transitions }, seconds) {
  return transitions.findLast(([from]) => from <= seconds)?.[1] ?? first;
}

function intlOffsets(timeZone) {
  const format = new Intl.DateTimeFormat("en-US", { timeZone, timeZoneName: "longOffset" });
  return (seconds) => {
    const [, sign, hours, minutes, rest = 0] =
      /GMT([+-])(\d\d):(\d\d)(?::(\d\d))?$/.exec(format.format(seconds * 1000)) ?? [];
    return sign === undefined ? 0 : Number(`${sign}1`) * (hours * 3600 + minutes * 60 + Number(rest));
  };
}

const zip = readFileSync(archive);
const histories = new Map([...filesOf(zip)].map(([name, file]) => [name, historyOf(file)]));
const names = [...histories.keys()].sort();
// Offsets change, here and in `Intl`, when some zone's do: one second before each change and at it is everything there is to compare.
const changes = [...histories.values()].flatMap(({ transitions }) => transitions.map(([from]) => from));
const instants = [...new Set(changes.filter((from) => from < 0))]
  .sort((a, b) => a - b)
  .flatMap((from) => [from - 1, from]);

const early = {};
// `Factory` is the offset of a machine that was not set up: nothing to `Intl`, UTC here.
for (const name of names.filter((each) => each !== "Factory")) {
  const history = histories.get(name);
  const later = intlOffsets(name);
  const last = instants.findLast((seconds) => later(seconds) !== offsetAt(history, seconds));
  if (last === undefined) continue;
  const end = last + 1;
  const transitions = history.transitions.filter(([from]) => from < end);
  early[name] = [history.first, ...transitions.flat(), end, offsetAt(history, end)];
}

const sha256 = (data) => createHash("sha256").update(data).digest("hex");
const data = { names: names.join(" "), early };
const header = {
  generatedBy: "scripts/generate-zones.mjs; do not edit",
  source: `IANA time zone database ${release} with backzone, as in Go's lib/time/zoneinfo.zip`,
  sourceSha256: sha256(zip),
  sha256: sha256(JSON.stringify(data)),
};
const file = fileURLToPath(new URL("../data/time-zones.json", import.meta.url));
writeFileSync(file, `${JSON.stringify({ ...header, ...data })}\n`);
console.log(`${names.length} names, ${Object.keys(early).length} early histories`);
