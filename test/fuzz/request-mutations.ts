/** Certification requests with something wrong: in single octets, in their elements, in their PEM; and such that are made at random and may be sound. */
import { lengthOctets, pem } from "../x509/pkcs10/requests.js";
import { pick, type Random } from "./random.js";
import { randomRequest } from "./random-requests.js";

/** An element of a request as a tree, so that it can be written with parts changed. */
interface Node {
  readonly identifier: readonly number[];
  /** Octets, or elements; what stands in front of elements in a bit string. */
  readonly content: Buffer | { readonly before: Buffer; readonly nodes: readonly Node[] };
  /** Its length as it shall be written, whatever it is. */
  readonly length?: readonly number[];
}

/** The elements of octets; `undefined` when they are something else. */
function treeOf(octets: Buffer): readonly Node[] | undefined {
  const nodes: Node[] = [];
  for (let at = 0; at < octets.length; ) {
    const identifier = octets[at] ?? 0;
    let length = octets[at + 1] ?? 0x80;
    let start = at + 2;
    if (length >= 0x80) {
      const size = length - 0x80;
      if (size < 1 || size > 3 || start + size > octets.length) return undefined;
      length = octets.readUIntBE(start, size);
      start += size;
    }
    at = start + length;
    if (at > octets.length) return undefined;
    nodes.push({ identifier: [identifier], content: contentOf(identifier, octets.subarray(start, at)) });
  }
  return nodes;
}

function contentOf(identifier: number, octets: Buffer): Node["content"] {
  const skipped = identifier === 3 ? 1 : 0;
  if ((identifier & 0x20) === 0 && identifier !== 3 && identifier !== 4) return octets;
  const nodes = octets.length > skipped ? treeOf(octets.subarray(skipped)) : undefined;
  return nodes === undefined ? octets : { before: octets.subarray(0, skipped), nodes };
}

function written({ identifier, content, length }: Node): Buffer {
  const octets = Buffer.isBuffer(content) ? content : Buffer.concat([content.before, ...content.nodes.map(written)]);
  return Buffer.concat([Buffer.from([...identifier, ...(length ?? lengthOctets(octets.length))]), octets]);
}

const all = (nodes: readonly Node[]): readonly Node[] =>
  nodes.flatMap((node) => [node, ...(Buffer.isBuffer(node.content) ? [] : all(node.content.nodes))]);

/** The nodes with one of them, at some depth, replaced. */
function replaced(nodes: readonly Node[], old: Node, by: readonly Node[]): readonly Node[] {
  return nodes.flatMap((node): readonly Node[] => {
    if (node === old) return by;
    if (Buffer.isBuffer(node.content)) return [node];
    return [{ ...node, content: { ...node.content, nodes: replaced(node.content.nodes, old, by) } }];
  });
}

const IDENTIFIERS = [
  ...[
    0x01, 0x02, 0x03, 0x04, 0x05, 0x06, 0x0a, 0x0c, 0x10, 0x11, 0x12, 0x13, 0x14, 0x16, 0x17, 0x18, 0x1a, 0x1b, 0x1c,
    0x1e,
  ],
  ...[
    0x30, 0x31, 0x24, 0x2c, 0x80, 0x81, 0x82, 0x83, 0x86, 0x87, 0x88, 0x89, 0xa0, 0xa1, 0xa2, 0xa3, 0xa4, 0xa5, 0xa6,
    0xa8,
  ],
  ...[0x41, 0x42, 0x47, 0x60, 0xc2, 0xe0],
];

const noise = (next: Random, length: number): Buffer => Buffer.from(Array.from({ length }, () => next(256)));

/** What becomes of one element. */
function changedNode(next: Random, node: Node, others: readonly Node[]): readonly Node[] {
  const { content } = node;
  switch (next(12)) {
    case 0:
      return [];
    case 1:
      return [node, node];
    case 2:
      return [{ ...node, identifier: [pick(next, IDENTIFIERS)] }];
    case 3:
      return [{ ...node, identifier: [(node.identifier[0] ?? 0) ^ pick(next, [0x20, 0x80, 0x40, 0xc0, 1])] }];
    case 4: {
      // A number of a tag in octets of its own.
      const number = pick(next, [
        [0x1f],
        [0x1e],
        [0x20],
        [0x81, 0x00],
        [0x80, 0x20],
        [0xff, 0x7f],
        [0x8f, 0xff, 0xff, 0xff, 0x7f],
      ]);
      return [{ ...node, identifier: [(node.identifier[0] ?? 0) | 0x1f, ...number] }];
    }
    case 5: {
      const size = written(node).length;
      const wrong = [
        [0x81, size & 0x7f],
        [0x80],
        [0x82, 0, size & 0xff],
        [0x84, 0x7f, 0xff, 0xff, 0xff],
        [0x83, 0x80, 0, 0],
        [0x7f],
      ];
      return [{ ...node, length: pick(next, wrong) }];
    }
    case 6:
      return [
        { ...node, length: lengthOctets(Math.max(0, written({ ...node, identifier: [] }).length - 1 + next(5) - 2)) },
      ];
    case 7:
      return [pick(next, others)];
    case 8:
      return next(2) === 0 ? [node, pick(next, others)] : [pick(next, others), node];
    case 9:
      return [{ ...node, content: noise(next, next(6)) }];
    case 10:
      return [{ identifier: [pick(next, IDENTIFIERS)], content: { before: Buffer.alloc(0), nodes: [node] } }];
    default:
      if (Buffer.isBuffer(content)) return [{ ...node, content: changedOctets(next, content) }];
      return [{ ...node, content: { ...content, nodes: shuffled(next, content.nodes) } }];
  }
}

function shuffled(next: Random, nodes: readonly Node[]): readonly Node[] {
  const [a, b] = [next(nodes.length + 1), next(nodes.length + 1)];
  return nodes.map((node, i) => (i === a ? (nodes[b] ?? node) : i === b ? (nodes[a] ?? node) : node));
}

/** Octets with one to three of them changed, added or gone, or cut off. */
function changedOctets(next: Random, octets: Buffer): Buffer {
  let changed = octets;
  for (let i = next(3); i >= 0; i--) {
    const at = next(changed.length + 1);
    const [before, after] = [changed.subarray(0, at), changed.subarray(at)];
    const kind = next(16);
    if (kind === 0) changed = Buffer.from(before);
    else if (kind < 4) changed = Buffer.concat([before, after.subarray(1 + next(3))]);
    else if (kind < 7) changed = Buffer.concat([before, noise(next, 1 + next(3)), after]);
    else if (kind < 11)
      changed = Buffer.concat([before, Buffer.from([(after[0] ?? 0) ^ (1 << next(8))]), after.subarray(1)]);
    else {
      const octet = pick(next, [0, 1, 0x7f, 0x80, 0xff, 0x1f, 0x30, ...IDENTIFIERS]);
      changed = Buffer.concat([before, Buffer.from([octet]), after.subarray(1)]);
    }
  }
  return changed;
}

const LABELS = ["CERTIFICATE REQUEST", "NEW CERTIFICATE REQUEST", "X", "", "A-B", "-----", "CERTIFICATE REQUEST ", "é"];
const LINES = [
  ...[
    "",
    " ",
    "\t",
    "Proc-Type: 4,ENCRYPTED",
    ":",
    "a:b",
    "x",
    "-----BEGIN X-----",
    "-----END X-----",
    "-----BEGIN ",
    "-----END ",
  ],
  ...[
    "-----END CERTIFICATE REQUEST-----",
    "-----BEGIN CERTIFICATE REQUEST-----",
    "=",
    "==",
    "AAAA",
    "\u0000",
    "-",
    "\r",
  ],
];

/** A text of PEM with lines, ends of lines, its label or its base64 changed. */
function changedPem(next: Random, octets: Buffer, other: Buffer): Buffer {
  const block = pem(octets, next(4) === 0 ? pick(next, LABELS) : undefined).toString("latin1");
  let lines = block.split("\n");
  for (let i = next(3); i >= 0; i--) {
    const at = next(lines.length + 1);
    const line = lines[at] ?? "";
    switch (next(9)) {
      case 0:
        lines.splice(at, 0, pick(next, LINES));
        break;
      case 1:
        lines.splice(at, 1);
        break;
      case 2:
        lines.splice(at, 1, `${line}${pick(next, [" ", "\t", "\r", " x", "=", " \r", "\u000b", "-"])}`);
        break;
      case 3:
        lines.splice(at, 1, `${pick(next, [" ", "\t", "x", "=", "-", "\r"])}${line}`);
        break;
      case 4: {
        const cut = next(line.length + 1);
        lines.splice(
          at,
          1,
          `${line.slice(0, cut)}${pick(next, ["\n", "\r", " ", "\t", "\n\n", "=", "-", "_", ":", "*", "A"])}${line.slice(cut)}`,
        );
        break;
      }
      case 5: {
        const cut = next(line.length + 1);
        lines.splice(at, 1, line.slice(0, cut) + line.slice(cut + 1));
        break;
      }
      case 6:
        lines = [...lines, ...pem(other).toString("latin1").split("\n")];
        break;
      case 7:
        lines = [
          ...pem(other, pick(next, LABELS))
            .toString("latin1")
            .split("\n")
            .slice(next(3), -next(4) || undefined),
          ...lines,
        ];
        break;
      default:
        if (at > 0 && at < lines.length) lines.splice(at - 1, 2, (lines[at - 1] ?? "") + line);
    }
  }
  return Buffer.from(lines.join(pick(next, ["\n", "\n", "\n", "\r\n", "\r"])), "latin1");
}

/**
 * Texts with certification requests, one a call.
 *
 * @param seeds sound requests, as DER
 */
export function* brokenRequests(next: Random, seeds: readonly Buffer[]): Generator<Buffer, never> {
  const trees = seeds.map((seed) => treeOf(seed) ?? []);
  const parts = trees.flatMap(all);
  for (;;) {
    const chosen = next(seeds.length);
    const seed = seeds[chosen] ?? Buffer.alloc(0);
    const kind = next(20);
    if (kind < 3) yield pem(changedOctets(next, seed));
    else if (kind < 10) yield pem(changedTree(next, trees[chosen] ?? [], parts));
    else if (kind < 12) yield changedPem(next, seed, pick(next, seeds));
    else if (kind < 18) yield pem(randomRequest(next));
    else yield pem(changedTree(next, treeOf(randomRequest(next)) ?? [], parts));
  }
}

function changedTree(next: Random, tree: readonly Node[], others: readonly Node[]): Buffer {
  let changed = tree;
  for (let i = next(3) === 0 ? 2 : 1; i > 0; i--) {
    const nodes = all(changed);
    if (nodes.length === 0) break;
    const node = pick(next, nodes);
    changed = replaced(changed, node, changedNode(next, node, others));
  }
  return Buffer.concat(changed.map(written));
}
