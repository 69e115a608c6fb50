/**
 * `check --batch`: the API server's answers to writing policies and bindings, one JSON object a line (see docs/batch.md); with `--typecheck` the
 * result of type checking in a policy's status.
 */
import { readFile } from "node:fs/promises";
import { type KubernetesVersion, NEWEST_VERSION } from "../../cel/index.js";
import { parseJson } from "../../data/json.js";
import { createServer } from "../../kinds/admission-policy/server.js";
import { createMutationCompilers } from "../../kinds/mutating-admission-policy/compilers.js";
import { bundledSchemas } from "../../kinds/shared/type-check/bundled-schemas.js";
import { SchemaSource } from "../../kinds/shared/type-check/schema-source.js";
import { createExpressionCompiler } from "../../kinds/validating-admission-policy/index.js";
import { readDocument } from "../../kinds/validating-admission-policy/read.js";
import { typeCheck } from "../../kinds/validating-admission-policy/type-check.js";
import { isObject, type JsonObject, text } from "../../kubernetes/object.js";
import { answerLines, type LineStreams, refuse } from "./json-lines.js";
import { validateMutatingCase } from "./mutating-admission-policy/static-case.js";
import { validateCase } from "./validating-admission-policy/static-case.js";

/** Options of the command. */
export interface CheckBatchOptions {
  /** Type checking instead of validation. */
  readonly typecheck?: boolean;
  /** A file of OpenAPI definitions, `{"kinds", "definitions"}`, instead of those of the built-in kinds. */
  readonly schemas?: string;
  /** The server's version; default: the newest. */
  readonly version?: KubernetesVersion;
}

/**
 * Checks every object of standard input.
 * @returns the exit code: 2 also when the schemas cannot be read
 */
export async function checkBatchCommand(options: CheckBatchOptions, io: LineStreams): Promise<number> {
  if (!options.typecheck) {
    const { version = NEWEST_VERSION } = options;
    const server = createServer(version, createExpressionCompiler);
    const mutating = createServer(version, createMutationCompilers);
    return answerLines(io, (written) => ({
      id: written.id,
      result: text(written.object, "kind").startsWith("Mutating")
        ? validateMutatingCase(written, mutating)
        : validateCase(written, server),
    }));
  }
  const schemas = options.schemas === undefined ? bundledSchemas()() : await readSchemas(options.schemas);
  if (typeof schemas === "string") return refuse(io, schemas);
  return answerLines(io, (written) => ({ id: written.id, result: typeCheckLine(written, schemas, options.version) }));
}

function typeCheckLine({ object }: JsonObject, schemas: SchemaSource, version = NEWEST_VERSION): unknown {
  const read = readDocument(object);
  if (read.kind === "unreadable") return { error: read.message };
  if (read.kind !== "policy") return { error: "not a ValidatingAdmissionPolicy" };
  return typeCheck(read.resource.spec, schemas, { version });
}

/** The schemas of a file; or the reason why they can't be read. */
async function readSchemas(file: string): Promise<SchemaSource | string> {
  try {
    const value = parseJson(await readFile(file, "utf8"));
    return isObject(value) ? new SchemaSource(value) : `${file}: expected an object with "kinds" and "definitions"`;
  } catch (error) {
    return `${file}: ${error instanceof Error ? error.message : String(error)}`;
  }
}
