import { indentedLines, type Selected } from "../model/indentation.js";

/**
 * Tab indents once somebody types in a field, and moves on for those who only come along with it, or after Escape: nobody is caught. Enter keeps the
 * indentation.
 */
export function listenToKeys(field: HTMLTextAreaElement, insert: (text: string) => void): void {
  let tabMovesOn = true;
  const replace = ({ from, to, text, selectionFrom, selectionTo }: Selected) => {
    field.setSelectionRange(from, to);
    insert(text);
    field.setSelectionRange(selectionFrom, selectionTo);
  };
  field.addEventListener("focus", () => {
    tabMovesOn = true;
  });
  field.addEventListener("pointerdown", () => {
    tabMovesOn = false;
  });
  field.addEventListener("keydown", (event) => {
    if (event.key === "Escape") tabMovesOn = true;
    else if (event.key === "Tab") {
      if (tabMovesOn || event.ctrlKey || event.altKey || event.metaKey) return;
      event.preventDefault();
      replace(indentedLines(field.value, field.selectionStart, field.selectionEnd, event.shiftKey));
    } else if (event.key === "Enter" && !event.ctrlKey && !event.metaKey && !event.isComposing) {
      const start = field.value.lastIndexOf("\n", field.selectionStart - 1) + 1;
      const indentation = /^ */.exec(field.value.slice(start, field.selectionStart))?.[0] ?? "";
      tabMovesOn = false;
      if (indentation === "") return;
      event.preventDefault();
      insert(`\n${indentation}`);
    } else if (!["Shift", "Control", "Alt", "Meta"].includes(event.key)) tabMovesOn = false;
  });
}
