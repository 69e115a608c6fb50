import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { labelOf, layoutOf, type RailBox, type RailDrawing } from "../../../../src/page/browser/model/rail-layout.js";
import { expressionTree } from "../../../../src/page/expression-tree.js";

const NAMES = ["a", "b", "c", "d"];

function drawn(expression: string, available?: number): RailDrawing {
  return layoutOf(expressionTree(expression, NAMES), expression, available);
}

function box(drawing: RailDrawing, label: string): RailBox {
  const found = drawing.boxes.find((each) => each.label === label);
  assert.ok(found, label);
  return found;
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
    assert.equal(a.y + a.height / 2, drawing.axis);
    assertSound(drawing);
  });

  test("a negation and a conditional have a frame around what they hold", () => {
    const drawing = drawn("!(a() || b()) && (c() ? d() : !a())");
    assert.deepEqual(
      drawing.frames.map(({ word }) => word),
      ["! not", "? :", "! not"],
    );
    assert.ok(["true", "false", "?"].every((text) => drawing.words.some((word) => word.text === text)));
    const [not] = drawing.frames;
    const b = box(drawing, "b");
    assert.ok(not && b.x > not.x && b.x + b.width < not.x + not.width && b.y + b.height < not.y + not.height);
    assertSound(drawing);
  });

  test("a row that is too long goes on in the next one", () => {
    const wide = drawn("a() && b() && c() && d()");
    const narrow = drawn("a() && b() && c() && d()", 320);
    assert.ok(wide.width > 320 && narrow.width <= 340);
    assert.ok(box(narrow, "c").y > box(narrow, "a").y + box(narrow, "a").height);
    assert.equal(narrow.words.length, 3);
    assert.ok(narrow.end.y > narrow.axis);
    assertSound(narrow);
    assertSound(drawn("a() && b()", 10));
  });

  test("what is no member is a box with its text, cut where it is long", () => {
    const expression = `a() && object.spec.containers.all(c,\n  c.image.startsWith("registry.example.com/"))`;
    const [, cel] = drawn(expression).boxes;
    assert.equal(cel?.node.kind, "cel");
    assert.match(cel?.label ?? "", /^object\.spec\.containers\.all\(c, c.*…$/);
    assert.equal(labelOf({ kind: "member", from: 0, to: 3, name: "a", parts: [] }, expression), "a");
  });

  test("deep nesting is drawn whole", () => {
    const expression = `${"!(a() || ".repeat(20)}b()${")".repeat(20)}`;
    const drawing = drawn(expression);
    assert.equal(drawing.frames.length, 20);
    assertSound(drawing);
  });
});
