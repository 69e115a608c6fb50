/** `jwt.Decode` (spec kyverno.md 6.3). */
import {
  BOOL,
  CelError,
  DYN,
  type FunctionDeclaration,
  mapType,
  objectType,
  type Result,
  STRING,
  type Value,
} from "../../../../cel/index.js";
import type { KyvernoState } from "../../state.js";
import { MessageTypes } from "../message.js";
import { claimsOf } from "./claims.js";
import { verifiedToken } from "./decode.js";

const TOKEN = "jwt.Token";

/** The type of what it gives. */
export const JWT_TYPES = new MessageTypes({ [TOKEN]: { Claims: mapType(STRING, DYN), Valid: BOOL } }, "present");

function decode(token: string, key: string, now: number): Result {
  const verified = verifiedToken(token, key);
  if (typeof verified === "string") return new CelError(verified);
  const claims = claimsOf(verified.claims, now);
  if (typeof claims === "string") return new CelError(claims);
  const { values, valid: Valid } = claims;
  return JWT_TYPES.make(TOKEN, Object.keys(values).length === 0 ? { Valid } : { Claims: values as Value, Valid });
}

/** A token is judged by the time of the evaluation, so that a call of it is none of its arguments' alone. */
export const JWT_FUNCTIONS: readonly FunctionDeclaration[] = [
  {
    name: "jwt.Decode",
    overloads: [
      {
        id: "decode_string_string",
        member: false,
        params: [STRING, STRING],
        result: objectType(TOKEN),
        call: (state, token, key) => decode(token as string, key as string, (state as KyvernoState).time),
        // Three digests of what may be the whole request, at worst.
        work: { fixed: 20_000, each: 15, deep: false },
      },
    ],
  },
];
