import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { labelOf, layoutOf, type RailBox, type RailDrawing } from "../../../../src/page/browser/model/rail-layout.js";
import { expressionTree } from "../../../../src/page/expression-tree.js";

const NAMES = ["a", "b", "c", "d"];

function drawn(expression: string, available?: number): RailDrawing {
  return layoutOf(expressionTree(expression, NAMES), expression, available);
}

function box(drawing: RailDrawing, label: string): RailBox {
  const found = drawing.boxes.find((each) => each.label.join(" ") === label);
  assert.ok(found, label);
  return found;
}

/** Numbers from 0 to 1 that are the same in every run. */
function seeded(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state * 1_103_515_245 + 12_345) % 2 ** 31;
    return state / 2 ** 31;
  };
}

/** An expression of all that a drawing has, nested up to a depth. */
function anyExpression(random: () => number, depth: number): string {
  const inner = () => anyExpression(random, depth - 1);
  const many = (operator: string) =>
    Array.from({ length: 2 + Math.floor(random() * 4) }, () => `(${inner()})`).join(operator);
  const kind = depth === 0 ? 0 : Math.floor(random() * 6);
  if (kind === 1) return many(" && ");
  if (kind === 2) return many(" || ");
  if (kind === 3) return `!(${inner()})`;
  if (kind >= 4) return `(${inner()}) ? (${inner()}) : ${inner()}`;
  return random() < 0.8 ? `${NAMES[Math.floor(random() * 4)]}()` : "object.spec.containers.all(c, c.image == 'x')";
}

/** Nothing overlaps, and nothing is outside. */
function assertSound({ boxes, frames, width, height }: RailDrawing): void {
  for (const each of [...boxes, ...frames]) {
    assert.ok(each.x >= 0 && each.y >= 0 && each.x + each.width <= width && each.y + each.height <= height);
  }
  for (const one of boxes) {
    for (const other of boxes) {
      const apart =
        one === other ||
        one.x + one.width <= other.x ||
        other.x + other.width <= one.x ||
        one.y + one.height <= other.y ||
        other.y + other.height <= one.y;
      assert.ok(apart, `${one.label} over ${other.label}`);
    }
  }
}

describe("a group's expression as rails", () => {
  test("what must all hold stands in a row, of one line", () => {
    const drawing = drawn("a() && b() && c()");
    const [a, b, c] = ["a", "b", "c"].map((label) => box(drawing, label));
    assert.ok(a && b && c && a.x < b.x && b.x < c.x && a.y === b.y && b.y === c.y);
    assert.deepEqual(
      drawing.words.map(({ text }) => text),
      ["&&", "&&"],
    );
    assertSound(drawing);
  });

  test("alternatives stand below each other, the first on the straight way", () => {
    const drawing = drawn("a() || b() || c()");
    const [a, b, c] = ["a", "b", "c"].map((label) => box(drawing, label));
    assert.ok(a && b && c && a.x === b.x && a.y < b.y && b.y < c.y);
    assert.equal(a.y + a.height / 2, drawing.ends[0]?.y);
    assertSound(drawing);
  });

  test("a negation and a conditional have a frame around what they hold", () => {
    const drawing = drawn("!(a() || b()) && (c() ? d() : !a())");
    assert.deepEqual(
      drawing.frames.map(({ word }) => word),
      ["! not", "? :", "! not"],
    );
    assert.ok(["true", "false"].every((text) => drawing.words.some((word) => word.text === text)));
    const [not] = drawing.frames;
    const b = box(drawing, "b");
    assert.ok(not && b.x > not.x && b.x + b.width < not.x + not.width && b.y + b.height < not.y + not.height);
    assertSound(drawing);
  });

  test("a row that is too long goes on in the next one", () => {
    const wide = drawn("a() && b() && c() && d()");
    const narrow = drawn("a() && b() && c() && d()", 320);
    assert.ok(wide.width > 320 && narrow.width <= 320);
    assert.ok(box(narrow, "c").y > box(narrow, "a").y + box(narrow, "a").height);
    assert.equal(narrow.words.length, 3);
    assertSound(narrow);
    assertSound(drawn("a() && b()", 10));
  });

  test("what is no member is a box with its text, in lines, cut where it is long", () => {
    const expression = `a() && object.spec.containers.all(c,\n  c.image.startsWith("registry.example.com/${"x".repeat(190)}"))`;
    const [a, cel] = drawn(expression).boxes;
    assert.equal(cel?.node.kind, "cel");
    assert.deepEqual(cel?.label.slice(0, 2), [
      "object.spec.containers.all(c, c.image.",
      'startsWith("registry.example.',
    ]);
    assert.match(cel?.label.at(-1) ?? "", /^x+…$/);
    assert.ok(a !== undefined && cel !== undefined && cel.height > a.height && cel.y === a.y);
    assert.deepEqual(labelOf({ kind: "member", from: 0, to: 3, name: "a", parts: [] }, expression), ["a"]);
  });

  test("the cases of a chain of conditionals stand below each other, each condition before what it leads to", () => {
    const drawing = drawn("a() ? b() : c() ? d() : !a()", 466);
    assert.equal(drawing.frames.filter(({ word }) => word === "? :").length, 1);
    const [a, b, c, d] = NAMES.map((label) => box(drawing, label));
    assert.ok(a && b && c && d && a.x < b.x && a.y === b.y && a.x === c.x && c.y > a.y && c.x < d.x && c.y === d.y);
    assert.deepEqual(
      drawing.words.map(({ text }) => text),
      ["true", "false", "true", "false"],
    );
    assertSound(drawing);
  });

  test("what has no room in its place is a box with a number, and is drawn below by that number", () => {
    const expression = `${"!(a() || ".repeat(6)}(b() && c())${")".repeat(6)}`;
    const drawing = drawn(expression, 320);
    const named = drawing.boxes.filter(({ node }) => node.parts.length > 0);
    assert.ok(named.length > 0);
    named.forEach(({ label, y }, index) => {
      assert.match(label.join(" "), new RegExp(`^${index + 1}: `));
      assert.ok(drawing.words.some((word) => word.text === `${index + 1}:` && word.y > y));
    });
    assert.equal(drawing.ends.length, 2 * (named.length + 1));
    for (const label of ["b", "c"])
      assert.equal(drawing.boxes.filter((each) => each.label.join(" ") === label).length, 1);
    assertSound(drawing);
  });

  test("no expression is wider than its place, however deep or wide, and each member is drawn once for each time that it stands there", () => {
    const random = seeded(47);
    for (let times = 0; times < 200; times += 1) {
      const expression = anyExpression(random, 1 + (times % 6));
      // A longer one is a box.
      if (expression.length > 10_000) continue;
      // What a window of 360, 390 and 1,280 pixels leaves, and more.
      for (const available of [328, 358, 466, 700]) {
        const drawing = drawn(expression, available);
        assert.ok(drawing.width <= available, `${drawing.width} of ${available}: ${expression}`);
        assertSound(drawing);
        const members = drawing.boxes.filter(({ node }) => node.kind === "member");
        assert.equal(members.length, expression.match(/[a-d]\(\)/g)?.length ?? 0, expression);
      }
    }
  });

  test("sixty conditionals within each other are laid out at once", () => {
    const expression = `${"(a() ? b() : ".repeat(20)}${"!(c() || ".repeat(20)}d()${")".repeat(40)}`;
    const start = performance.now();
    const drawing = drawn(expression, 328);
    assert.ok(drawing.width <= 328 && performance.now() - start < 1000);
    assertSound(drawing);
  });

  test("deep nesting is drawn whole", () => {
    const expression = `${"!(a() || ".repeat(20)}b()${")".repeat(20)}`;
    const drawing = drawn(expression);
    assert.equal(drawing.frames.length, 20);
    assertSound(drawing);
  });
});
