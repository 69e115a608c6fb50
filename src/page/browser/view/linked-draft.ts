import { draftAddress } from "../dom/addresses.js";
import { type Child, h, sign } from "../dom/element.js";
import { LONGEST_LINK, type Written } from "../model/draft-link.js";

function titled(...children: Child[]): HTMLElement {
  return h(
    "section",
    { class: "details", "aria-labelledby": "link-name" },
    h("h2", { id: "link-name", tabindex: "-1" }, "A draft from a link"),
    ...children,
  );
}

const text = (words: string) => h("pre", { class: "source", tabindex: "0" }, words);

/** Shows what a link holds, to be read before it is taken: until then nothing of it is sent, evaluated or kept. */
export function linkedDraft(written: Written | undefined, take: (written: Written) => void): HTMLElement {
  const leave = h("a", { href: draftAddress }, written === undefined ? "Go to your draft" : "Keep your own");
  if (written === undefined) {
    const limit = LONGEST_LINK.toLocaleString("en");
    const why = `This link can't be opened: it was cut off or changed, is longer than ${limit} characters, or comes from another version. Ask for a new one.`;
    return titled(h("p", { class: "said bad" }, sign("!", "failed"), why), h("p", {}, leave));
  }
  const { operation, raw, draft, payload } = written;
  return titled(
    h("p", { class: "said" }, "Read it first: nothing of it is checked, evaluated or kept until you take it."),
    h(
      "div",
      { class: "title" },
      h("button", { type: "button", class: "primary", click: () => take(written) }, "Take it as my draft"),
      leave,
    ),
    h("h3", {}, "Draft"),
    text(draft),
    h("h3", {}, "Payload ", h("span", { class: "quiet" }, raw ? "raw" : operation)),
    text(payload),
  );
}
