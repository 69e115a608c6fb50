/** The kind's public face. */
export { STORED_VERSION } from "../admission-policy/dialect.js";
export { createExpressionCompiler } from "./dialect.js";
export { type InlineOptions, type PreparedInline, prepareInline } from "./inline.js";
export { type PreparedDocuments, type PrepareOptions, prepareDocuments } from "./prepare.js";
