import type { GroupNode } from "../../api.js";

/**
 * A group's expression as rails along which a request runs: parts in a row must all hold, of parts below each other one suffices. The top way
 * is evaluated first. Pure geometry in CSS pixels; the drawing code decides the rest.
 */

/** Width of a character of the labels, which are set in a monospaced font of 13 px. */
const CHARACTER = 8;
const BOX = { height: 44, padding: 12, least: 118, longest: 40 } as const;
/** Gaps between parts in a row, with room for the operator; between rows; from a fork to its branches. */
const GAP = { row: 34, column: 14, fork: 26, branch: 58 } as const;
/** Padding around a negated or conditional part, with room for the frame's word. */
const FRAME = { side: 14, top: 22, bottom: 12 } as const;
const END = 22;
/** Gap between two rows of parts that must all hold, with room for the way back. */
const ROW_GAP = 40;

/** A member or another part of the expression. */
export interface RailBox {
  readonly node: GroupNode;
  readonly label: string;
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

/** The whole drawing. */
export interface RailDrawing {
  readonly width: number;
  readonly height: number;
  /** The height at which the rails begin, at the left, and end. */
  readonly axis: number;
  readonly end: { readonly x: number; readonly y: number };
  readonly boxes: readonly RailBox[];
  readonly frames: readonly RailFrame[];
  readonly words: readonly RailWord[];
  /** Paths, in SVG's notation. */
  readonly rails: readonly string[];
}

interface Canvas {
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

/** The label of a part, cut to the width of a box; the whole stands in its title. */
export function labelOf(node: GroupNode, expression: string): string {
  const text = node.kind === "member" && node.name !== undefined ? node.name : expression.slice(node.from, node.to);
  const line = text.replace(/\s+/g, " ").trim();
  return line.length > BOX.longest ? `${line.slice(0, BOX.longest - 1)}…` : line;
}

/** The parts of `a && (b && c)` as one row. */
function flattened(node: GroupNode): GroupNode[] {
  return node.parts.flatMap((part) => (part.kind === node.kind ? flattened(part) : [part]));
}

function line(canvas: Canvas, from: number, to: number, y: number): void {
  if (to > from) canvas.rails.push(`M${from} ${y}H${to}`);
}

function leaf(node: GroupNode, expression: string): Block {
  const label = labelOf(node, expression);
  const width = Math.max(BOX.least, label.length * CHARACTER + 2 * BOX.padding + 18);
  const { height } = BOX;
  const draw: Block["draw"] = (x, y, canvas) => canvas.boxes.push({ node, label, x, y, width, height });
  return { width, height, axis: height / 2, draw };
}

function row(blocks: readonly Block[], operator: string): Block {
  const axis = Math.max(...blocks.map((block) => block.axis));
  const below = Math.max(...blocks.map((block) => block.height - block.axis));
  const width = blocks.reduce((sum, block) => sum + block.width, 0) + GAP.row * (blocks.length - 1);
  const draw: Block["draw"] = (left, top, canvas) => {
    let x = left;
    blocks.forEach((block, index) => {
      if (index > 0) {
        line(canvas, x, x + GAP.row, top + axis);
        canvas.words.push({ x: x + GAP.row / 2, y: top + axis, text: operator });
        x += GAP.row;
      }
      block.draw(x, top + axis - block.axis, canvas);
      x += block.width;
    });
  };
  return { width, height: axis + below, axis, draw };
}

function column(blocks: readonly Block[], words: readonly string[], fork: number): Block {
  const widest = Math.max(...blocks.map((block) => block.width));
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
        );
        canvas.rails.push(
          `M${inner + block.width} ${at}H${back - 10}Q${back} ${at} ${back} ${at - 10}V${first + 10}Q${back} ${first} ${right} ${first}`,
        );
      }
      const word = words[Math.min(index, words.length - 1)] ?? "";
      const between = word === "||";
      if (!between) canvas.words.push({ x: left + fork / 2 + 6, y: at, text: word });
      else if (index > 0) canvas.words.push({ x: left + 10, y: y - GAP.column / 2, text: word });
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

function blockOf(node: GroupNode, expression: string): Block {
  const blocks = () => flattened(node).map((part) => blockOf(part, expression));
  if (node.kind === "and" && node.parts.length > 0) return row(blocks(), "&&");
  if (node.kind === "or" && node.parts.length > 0) return column(blocks(), ["||"], GAP.fork);
  const [first, second, third] = node.parts;
  if (node.kind === "not" && first !== undefined) return framed(node, "! not", blockOf(first, expression));
  if (node.kind === "if" && first !== undefined && second !== undefined && third !== undefined) {
    const branches = column([blockOf(second, expression), blockOf(third, expression)], ["true", "false"], GAP.branch);
    return framed(node, "? :", row([blockOf(first, expression), branches], "?"));
  }
  return leaf(node, expression);
}

/** The blocks in as many rows as needed; a block wider than a row stands by itself. */
function wrapped(blocks: readonly Block[], available: number): Block[][] {
  const rows: Block[][] = [];
  let width = 0;
  for (const block of blocks) {
    width += GAP.row + block.width;
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
function wayBack(canvas: Canvas, right: number, from: number, middle: number, to: number): void {
  const left = 10;
  canvas.rails.push(
    `M${right - 10} ${from}Q${right} ${from} ${right} ${from + 10}V${middle - 10}Q${right} ${middle} ${right - 10} ${middle}H${left + 10}`,
    `M${left + 10} ${middle}Q${left} ${middle} ${left} ${middle + 10}V${to - 10}Q${left} ${to} ${left + 10} ${to}H${END}`,
  );
  canvas.words.push({ x: (left + right) / 2, y: middle, text: "&&" });
}

/** Lays a group's expression out. Parts that must all hold continue in a second row where `available` pixels are too few for one. */
export function layoutOf(tree: GroupNode, expression: string, available = Number.POSITIVE_INFINITY): RailDrawing {
  const canvas: Canvas = { boxes: [], frames: [], words: [], rails: [] };
  const parts = tree.kind === "and" && tree.parts.length > 0 ? flattened(tree) : [tree];
  const blocks = parts.map((part) => blockOf(part, expression));
  const rows = wrapped(blocks, available - 2 * END).map((each) => row(each, "&&"));
  const right = END + Math.max(...rows.map(({ width }) => width));
  let [y, axis, end] = [2, 0, { x: 0, y: 0 }];
  rows.forEach((block, index) => {
    const at = y + block.axis;
    if (index === 0) {
      axis = at;
      line(canvas, 8, END, at);
    } else wayBack(canvas, right + 14, end.y, y - ROW_GAP / 2, at);
    block.draw(END, y, canvas);
    y += block.height + ROW_GAP;
    const last = index === rows.length - 1;
    end = { x: last ? END + block.width + 16 : right + 4, y: at };
    line(canvas, END + block.width, end.x, at);
  });
  return { width: right + END, height: y - ROW_GAP + 2, axis, end, ...canvas };
}
