/** Explanations of answers as data: the room's public face. */
export { explainAnswer, type MembersOf } from "./answer.js";
export { type ChangedObject, changedObject } from "./changed-object.js";
export { diffLines, inOrderOf } from "./diff-lines.js";
export { withGaps } from "./gaps.js";
export { explainedValue } from "./parts.js";
export type * from "./types.js";
export { cutTo, lineOf, MAX_TEXT_LENGTH, valueText } from "./value-text.js";
