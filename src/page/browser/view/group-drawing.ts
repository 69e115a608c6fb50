import type { ExplainedAnswer } from "../../../kinds/explanation/types.js";
import type { PageGroup } from "../../api.js";
import { policyAddress } from "../dom/addresses.js";
import { h, put, svg } from "../dom/element.js";
import { type NodeOutcome, outcomeOf } from "../model/group-outcomes.js";
import { LABEL_LINE, layoutOf, type RailBox, type RailDrawing, type RailFrame } from "../model/rail-layout.js";

/** Whether a policy has a page of its own: members that are defined in place have none. */
export type Linked = (policy: string) => boolean;

function boxOf(box: RailBox, group: PageGroup, linked: Linked, outcome: NodeOutcome | undefined): SVGElement {
  const { node, x, y, width, height, label } = box;
  const member = group.members.find(({ name }) => node.kind === "member" && name === node.name);
  const source = group.expression.slice(node.from, node.to);
  const names = member !== undefined && member.policy !== "" && member.policy !== member.name ? member.policy : "";
  const detail = outcome?.detail ?? names;
  const most = Math.floor((width - 24) / 6.6);
  const shape = svg(
    "g",
    { class: `box ${node.kind} ${outcome?.tone ?? "plain"}` },
    svg("title", {}, [source, names, outcome?.word].filter(Boolean).join(" – ")),
    svg("rect", { x, y, width, height, rx: 6 }),
    ...label.map((line, index) =>
      svg("text", { class: "label", x: x + 12, y: y + (detail === "" ? 27 : 19) + index * LABEL_LINE }, line),
    ),
    outcome !== undefined &&
      svg("text", { class: "symbol", x: x + width - 12, y: y + 19, "text-anchor": "end" }, outcome.symbol),
    detail !== "" &&
      svg(
        "text",
        { class: "detail", x: x + 12, y: y + height - 9 },
        detail.length > most ? `${detail.slice(0, most - 1)}…` : detail,
      ),
  );
  if (member === undefined || !linked(member.policy)) return shape;
  return svg("a", { href: policyAddress(member.policy) }, shape);
}

function frameOf({ x, y, width, height, word, node }: RailFrame, outcome: NodeOutcome | undefined): SVGElement {
  return svg(
    "g",
    { class: `frame ${node.kind}` },
    svg("rect", { x, y, width, height, rx: 8 }),
    svg(
      "text",
      { x: x + 12, y: y + 15 },
      outcome === undefined || outcome.tone === "unasked" ? word : `${word}  ${outcome.symbol} ${outcome.word}`,
    ),
  );
}

function pictureOf(
  group: PageGroup,
  drawing: RailDrawing,
  linked: Linked,
  answer: ExplainedAnswer | undefined,
): SVGElement {
  const outcome = (part: RailBox | RailFrame) => (answer === undefined ? undefined : outcomeOf(part.node, answer));
  const { width, height } = drawing;
  return svg(
    "svg",
    {
      class: "rails",
      width,
      height,
      viewBox: `0 0 ${width} ${height}`,
      role: "group",
      "aria-label": `Drawing of ${group.expression}`,
    },
    ...drawing.rails.map((d) => svg("path", { d })),
    ...drawing.ends.map(({ kind, x, y }) => svg("circle", { class: kind, cx: x, cy: y, r: 4 })),
    ...drawing.frames.map((frame) => frameOf(frame, outcome(frame))),
    ...drawing.words.map(({ x, y, text }) =>
      svg(
        "g",
        { class: "word" },
        svg("rect", { x: x - text.length * 4 - 2, y: y - 8, width: text.length * 8 + 4, height: 16 }),
        svg("text", { x, y: y + 4, "text-anchor": "middle" }, text),
      ),
    ),
    ...drawing.boxes.map((box) => boxOf(box, group, linked, outcome(box))),
  );
}

/** A group's expression as rails, its members linked, and coloured once it was evaluated. */
export function groupDrawing(group: PageGroup, linked: Linked, answer?: ExplainedAnswer): HTMLElement {
  const scroll = h("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": "The group as a drawing" });
  const caption = h("figcaption");
  let drawn: number | undefined;
  // Called with the first width before anything is painted, and when the window changes.
  new ResizeObserver(() => {
    if (drawn === scroll.clientWidth || scroll.clientWidth === 0) return;
    drawn = scroll.clientWidth;
    const drawing = layoutOf(group.tree, group.expression, drawn);
    put(scroll, pictureOf(group, drawing, linked, answer));
    put(
      caption,
      "In a row: all must hold. Below each other: one is enough, the upper is asked first.",
      drawing.frames.some(({ node }) => node.kind === "if") &&
        " In a frame ? : the condition comes first; where it is false, what stands below it counts.",
      drawing.ends.length > 2 && " What has a number is drawn below by that number.",
    );
  }).observe(scroll);
  return h("figure", { class: "drawing" }, scroll, caption);
}
