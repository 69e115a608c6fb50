import type { CompileError } from "./compile.js";
import { compileErrorTexts } from "./prepare-policies.js";
import type { PolicyResource } from "./resource.js";

/** The texts of the check at creation. */
export const checkTexts = (resource: PolicyResource, errors: readonly CompileError[]): readonly string[] =>
  errors.length === 0 ? [] : compileErrorTexts(resource, errors);
