import type { GroupNode } from "../../api.js";

/**
 * A group's expression as rails along which a request runs: parts in a row must all hold, of parts below each other one suffices. The top way
 * is evaluated first. Pure geometry in CSS pixels; the drawing code decides the rest.
 */

/** Width of a character of the labels, which are set in a monospaced font of 13 px. */
const CHARACTER = 8;
const BOX = { height: 44, padding: 12, least: 118, longest: 40, lines: 4 } as const;
/** Height of a further line of a label. */
export const LABEL_LINE = 16;
/** Gaps between parts in a row, with room for the operator; between rows; from a fork to its branches. */
const GAP = { row: 34, column: 14, fork: 26, case: 52 } as const;
/** Padding around a negated or conditional part, with room for the frame's word. */
const FRAME = { side: 14, top: 22, bottom: 12 } as const;
const END = 22;
/** Gap between two rows of parts that must all hold, with room for the way back. */
const ROW_GAP = 40;
/** Gap between a drawing and a part that is drawn below it. */
const BETWEEN_PARTS = 22;

/** A member or another part of the expression. */
export interface RailBox {
  readonly node: GroupNode;
  readonly label: readonly string[];
  readonly x: number;
  readonly y: number;
  readonly width: number;
  readonly height: number;
}

/** A frame around a negation or a conditional. */
export interface RailFrame extends Omit<RailBox, "label"> {
  readonly word: string;
}

/** A word on the rails: an operator, or the name of a branch. */
export interface RailWord {
  readonly x: number;
  readonly y: number;
  readonly text: string;
}

/** Where rails begin or end. A part that is drawn below, because it has no room in its place, begins with the name of its box. */
export interface RailEnd {
  readonly kind: "start" | "end";
  readonly x: number;
  readonly y: number;
}

/** The whole drawing. */
export interface RailDrawing {
  readonly width: number;
  readonly height: number;
  /** Where rails begin and end: of the whole, then of the parts that are drawn by themselves. */
  readonly ends: readonly RailEnd[];
  readonly boxes: readonly RailBox[];
  readonly frames: readonly RailFrame[];
  readonly words: readonly RailWord[];
  /** Paths, in SVG's notation. */
  readonly rails: readonly string[];
}

interface Canvas {
  readonly ends: RailEnd[];
  readonly boxes: RailBox[];
  readonly frames: RailFrame[];
  readonly words: RailWord[];
  readonly rails: string[];
}

/** A rectangle: `axis` is where the rail enters and leaves it, from the top. */
interface Block {
  readonly width: number;
  readonly height: number;
  readonly axis: number;
  readonly draw: (x: number, y: number, canvas: Canvas) => void;
}

/** The label of a part in lines, cut where it is too long; the whole stands in its title. */
export function labelOf(
  node: GroupNode,
  expression: string,
  longest: number = BOX.longest,
  before = "",
): readonly string[] {
  const text = node.kind === "member" && node.name !== undefined ? node.name : expression.slice(node.from, node.to);
  const all = `${before}${text.replace(/\s+/g, " ").trim()}`;
  // Lines end behind a sign if there is one, or anywhere.
  const lines = all.match(new RegExp(`.{1,${longest}}(?:(?<=[ .,(_])|$)|.{1,${longest}}`, "gu")) ?? [""];
  const shown = lines.slice(0, BOX.lines).map((each) => each.trim());
  const last = shown.length - 1;
  return lines.length === shown.length ? shown : shown.with(last, `${shown[last]?.slice(0, longest - 1)}…`);
}

/** The parts of `a && (b && c)` as one row. */
function flattened(node: GroupNode): GroupNode[] {
  return node.parts.flatMap((part) => (part.kind === node.kind ? flattened(part) : [part]));
}

function line(canvas: Canvas, from: number, to: number, y: number): void {
  if (to > from) canvas.rails.push(`M${from} ${y}H${to}`);
}

/** Padding of a box, and room for the sign of its outcome. */
const BESIDE_LABEL = 2 * BOX.padding + 18;

function leaf(node: GroupNode, expression: string, available: number, name = ""): Block {
  const room = Math.floor((Math.max(BOX.least, available) - BESIDE_LABEL) / CHARACTER);
  const label = labelOf(node, expression, Math.min(BOX.longest, room), name);
  const width = Math.max(BOX.least, Math.max(...label.map(({ length }) => length)) * CHARACTER + BESIDE_LABEL);
  const height = BOX.height + (label.length - 1) * LABEL_LINE;
  const draw: Block["draw"] = (x, y, canvas) => canvas.boxes.push({ node, label, x, y, width, height });
  return { width, height, axis: BOX.height / 2, draw };
}

/** Blocks along one rail. The word stands between them; a longer one takes more room. */
function row(blocks: readonly Block[], word: string): Block {
  const gap = word.length > 2 ? GAP.case : GAP.row;
  const axis = Math.max(...blocks.map((block) => block.axis));
  const below = Math.max(...blocks.map((block) => block.height - block.axis));
  const width = blocks.reduce((sum, block) => sum + block.width, 0) + gap * (blocks.length - 1);
  const draw: Block["draw"] = (left, top, canvas) => {
    let x = left;
    blocks.forEach((block, index) => {
      if (index > 0) {
        line(canvas, x, x + gap, top + axis);
        canvas.words.push({ x: x + gap / 2, y: top + axis, text: word });
        x += gap;
      }
      block.draw(x, top + axis - block.axis, canvas);
      x += block.width;
    });
  };
  return { width, height: axis + below, axis, draw };
}

/** Blocks below each other, the word between them: the rail takes the first that serves. */
function column(blocks: readonly Block[], word: string): Block {
  const widest = Math.max(...blocks.map((block) => block.width));
  const fork = word.length > 2 ? GAP.case : GAP.fork;
  const height = blocks.reduce((sum, block) => sum + block.height, 0) + GAP.column * (blocks.length - 1);
  const axis = blocks[0]?.axis ?? 0;
  const draw: Block["draw"] = (left, top, canvas) => {
    const right = left + widest + fork + GAP.fork;
    let y = top;
    blocks.forEach((block, index) => {
      const at = y + block.axis;
      const inner = left + fork;
      if (index === 0) {
        line(canvas, left, inner, at);
        line(canvas, inner + block.width, right, at);
      } else {
        const first = top + axis;
        const [turn, back] = [left + 10, right - 10];
        canvas.rails.push(
          `M${left} ${first}Q${turn} ${first} ${turn} ${first + 10}V${at - 10}Q${turn} ${at} ${turn + 10} ${at}H${inner}`,
          `M${inner + block.width} ${at}H${back - 10}Q${back} ${at} ${back} ${at - 10}V${first + 10}Q${back} ${first} ${right} ${first}`,
        );
        canvas.words.push({
          x: left + (word.length > 2 ? 30 : 10),
          y: word.length > 2 ? at : y - GAP.column / 2,
          text: word,
        });
      }
      block.draw(inner, y, canvas);
      y += block.height + GAP.column;
    });
  };
  return { width: widest + fork + GAP.fork, height, axis, draw };
}

function framed(node: GroupNode, word: string, inner: Block): Block {
  const width = inner.width + 2 * FRAME.side;
  const height = inner.height + FRAME.top + FRAME.bottom;
  const axis = inner.axis + FRAME.top;
  const draw: Block["draw"] = (x, y, canvas) => {
    canvas.frames.push({ node, word, x, y, width, height });
    line(canvas, x, x + FRAME.side, y + axis);
    line(canvas, x + width - FRAME.side, x + width, y + axis);
    inner.draw(x + FRAME.side, y + FRAME.top, canvas);
  };
  return { width, height, axis, draw };
}

/** The conditions of `a ? b : c ? d : e` with what they lead to, then what is left. */
function casesOf(node: GroupNode): readonly (readonly GroupNode[])[] {
  const [condition, then, otherwise] = node.parts;
  if (node.kind !== "if" || condition === undefined || then === undefined || otherwise === undefined) return [[node]];
  return [[condition, then], ...casesOf(otherwise)];
}

/** Lays parts out. Those that have no room in their place are boxes with a number there, and `apart` gets them. */
class Layout {
  readonly #expression: string;
  readonly apart: GroupNode[] = [];

  constructor(expression: string) {
    this.#expression = expression;
  }

  /** A block of at most this width, if that can be. */
  part(node: GroupNode, available: number): Block {
    const before = this.apart.length;
    const block = this.whole(node, available);
    if (block.width <= available || node.parts.length === 0 || available < BOX.least) return block;
    // Its own parts are drawn with it.
    this.apart.length = before;
    this.apart.push(node);
    return leaf(node, this.#expression, available, `${this.apart.length}: `);
  }

  /** The same, drawn here although it may be too wide. */
  whole(node: GroupNode, available: number): Block {
    const [first] = node.parts;
    if (first === undefined) return leaf(node, this.#expression, available);
    if (node.kind === "and") return this.#rows(flattened(node), "&&", available);
    if (node.kind === "or") {
      const inner = available - 2 * GAP.fork;
      return column(
        flattened(node).map((part) => this.part(part, inner)),
        "||",
      );
    }
    const inner = available - 2 * FRAME.side;
    if (node.kind === "not") return framed(node, "! not", this.part(first, inner));
    const cases = casesOf(node).map((parts) => this.#rows(parts, "true", inner - GAP.case - GAP.fork));
    return framed(node, "? :", column(cases, "false"));
  }

  /** Parts in a row; in several where one would be too wide, with a rail back between them. */
  #rows(parts: readonly GroupNode[], word: string, available: number): Block {
    const blocks = parts.map((part) => this.part(part, available - (parts.length > 1 ? 2 * END : 0)));
    const whole = row(blocks, word);
    if (whole.width <= available || blocks.length === 1) return whole;
    const rows = wrapped(blocks, available - 2 * END).map((each) => row(each, word));
    const [first] = rows;
    const widest = Math.max(...rows.map(({ width }) => width));
    const height = rows.reduce((sum, each) => sum + each.height + ROW_GAP, -ROW_GAP);
    const draw: Block["draw"] = (x, top, canvas) => {
      const right = x + END + widest;
      let y = top;
      let before = 0;
      rows.forEach((each, index) => {
        const at = y + each.axis;
        if (index === 0) line(canvas, x, x + END, at);
        else wayBack(canvas, x, right + 12, before, y - ROW_GAP / 2, at, word);
        each.draw(x + END, y, canvas);
        const isLast = index === rows.length - 1;
        line(canvas, x + END + each.width, right + (isLast ? 8 : 2), at);
        // The end of the last row goes up to where the first began.
        if (isLast) {
          const [out, axis] = [right + 18, top + (first?.axis ?? 0)];
          canvas.rails.push(
            `M${right + 8} ${at}Q${out} ${at} ${out} ${at - 10}V${axis + 4}Q${out} ${axis} ${out + 4} ${axis}`,
          );
        }
        before = at;
        y += each.height + ROW_GAP;
      });
    };
    return { width: widest + 2 * END, height, axis: first?.axis ?? 0, draw };
  }
}

/** The blocks in as many rows as needed; a block wider than a row stands by itself. */
function wrapped(blocks: readonly Block[], available: number): Block[][] {
  const rows: Block[][] = [];
  let width = 0;
  for (const block of blocks) {
    width += GAP.case + block.width;
    const last = rows.at(-1);
    if (last !== undefined && width <= available) last.push(block);
    else {
      rows.push([block]);
      width = block.width;
    }
  }
  return rows;
}

/** The rail from the end of a row back to the beginning of the next. */
function wayBack(
  canvas: Canvas,
  x: number,
  right: number,
  from: number,
  middle: number,
  to: number,
  word: string,
): void {
  const left = x + 6;
  canvas.rails.push(
    `M${right - 10} ${from}Q${right} ${from} ${right} ${from + 10}V${middle - 10}Q${right} ${middle} ${right - 10} ${middle}H${left + 10}`,
    `M${left + 10} ${middle}Q${left} ${middle} ${left} ${middle + 10}V${to - 10}Q${left} ${to} ${left + 10} ${to}H${x + END}`,
  );
  canvas.words.push({ x: (left + right) / 2, y: middle, text: word });
}

/**
 * Lays a group's expression out in `available` pixels: rows that are too long go on below, and parts that are nested too deep for their place stand below
 * the drawing, by the number of their box.
 */
export function layoutOf(tree: GroupNode, expression: string, available = Number.POSITIVE_INFINITY): RailDrawing {
  const canvas: Canvas = { ends: [], boxes: [], frames: [], words: [], rails: [] };
  const layout = new Layout(expression);
  let [y, width] = [2, 0];
  for (let index = -1; index < layout.apart.length; index += 1) {
    const block = layout.whole(layout.apart[index] ?? tree, available - 2 * END);
    if (index >= 0) canvas.words.push({ x: END / 2, y: y + 8, text: `${index + 1}:` });
    if (index >= 0) y += BETWEEN_PARTS;
    const [at, right] = [y + block.axis, END + block.width];
    line(canvas, 8, END, at);
    block.draw(END, y, canvas);
    line(canvas, right, right + 14, at);
    canvas.ends.push({ kind: "start", x: 6, y: at }, { kind: "end", x: right + 16, y: at });
    width = Math.max(width, right + END);
    y += block.height + BETWEEN_PARTS;
  }
  return { width, height: y - BETWEEN_PARTS + 2, ...canvas };
}
