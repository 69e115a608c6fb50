/** The kind's door. */
export { createExpressionCompiler, STORED_VERSION, WRITTEN_VERSION } from "./dialect.js";
export { type InlineOptions, type PreparedInline, prepareInline } from "./inline.js";
export { type PolicyDocument, type PreparedDocuments, type PrepareOptions, prepareDocuments } from "./prepare.js";
