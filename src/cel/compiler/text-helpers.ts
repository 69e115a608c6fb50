/** The string functions that generated code calls by themselves, and the measures of texts. */

import { utf8Length } from "../../data/utf8.js";
import { join, lowerAscii, piece, replace, split, trim, upperAscii } from "../stdlib/string-edits.js";
import { charAt, indexOf, lastIndexOf, substring } from "../stdlib/string-positions.js";
import { codePointLengthOfSum } from "../values/code-points.js";

/** By the names under which generated code knows them. */
export const TEXT_HELPERS = {
  pointsOfSum: codePointLengthOfSum,
  utf8Length,
  charAt,
  indexOf,
  lastIndexOf,
  lowerAscii,
  upperAscii,
  trim,
  substring,
  replace,
  split,
  join,
  piece,
} as const;
