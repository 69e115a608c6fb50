/**
 * The public face of the CEL engine, `policy-group-gateway/cel` (docs/cel.md): an {@link Environment} declares what an expression may use and
 * compiles it, and the {@link Program} evaluates it as often as wanted.
 *
 * The engine imports nothing of this project; it could be published alone. Reference: spec kubernetes-cel.md.
 */

export { addressOctets, addressText } from "../data/go/ip.js";
export { fromOctets, UrlError } from "../data/go/url-escape.js";
export { parseUrlReference, urlText } from "../data/go/url-reference.js";
export {
  type Behaviour,
  behaviourOf,
  isKubernetesVersion,
  isSince,
  KUBERNETES_VERSIONS,
  type KubernetesVersion,
  NEWEST_VERSION,
} from "../data/kubernetes-version.js";
export type * from "./ast.js";
export type * from "./declarations.js";
export { fn, method, overload } from "./declare.js";
export { createEnvironment } from "./environment.js";
export { type Explanation, explain } from "./explain.js";
export { type Hint, hintText } from "./hints/hint.js";
export { ADMISSION_REQUEST, ADMISSION_TYPES, NAMESPACE } from "./kubernetes/admission-types.js";
export { AUTHORIZER, RESOURCE_CHECK } from "./kubernetes/authz.js";
export {
  type AuthorizationAnswer,
  type AuthorizationQuestion,
  type AuthorizationSubject,
  type Authorize,
  AuthorizerValue,
  DecisionValue,
  GroupCheckValue,
  PathCheckValue,
  ResourceCheckValue,
  type ResourceQuestion,
} from "./kubernetes/authz-values.js";
export { add } from "./operators/arithmetic.js";
export { compare, compareStrings, equals } from "./operators/compare.js";
export { doubleOf, type Kind, kindOf, typeNameOf } from "./operators/kind.js";
export { entriesOf, sizeOfMap } from "./operators/maps.js";
export type { Place } from "./part-places.js";
export { compilePattern } from "./pattern/pattern.js";
export type * from "./public-types.js";
export { answered, type Question, type QuestionFailure, Questions, type Waiter, Waiting } from "./questions.js";
export { namesVariable } from "./references.js";
export { type UpgradeSample, UpgradeSamples, type UpgradeSpot } from "./samples/upgrade.js";
export {
  ANY,
  BOOL,
  BYTES,
  DOUBLE,
  DURATION,
  DYN,
  ERROR,
  formatLongType,
  formatType,
  INT,
  listType,
  mapType,
  NULL,
  objectType,
  opaqueType,
  optionalType,
  runtimeTypeName,
  type ScalarKind,
  STRING,
  TIMESTAMP,
  type Type,
  typeParam,
  typeType,
  UINT,
  wrapperType,
} from "./types.js";
export { unparse } from "./unparse/unparse.js";
export { CelError, type CelErrorCode, noSuchOverload } from "./values/cel-error.js";
export { doubleText } from "./values/double-text.js";
export { durationInUnits, durationText, parseDuration } from "./values/duration-text.js";
export { EmptyMessage } from "./values/empty-message.js";
export { Lazy } from "./values/lazy.js";
export { ListSum, MadeList } from "./values/made-list.js";
export { isDouble, isInt, makeDouble, makeInt } from "./values/numbers.js";
export { Duration, Timestamp } from "./values/time.js";
export { parseTimestamp, timestampText } from "./values/timestamp-text.js";
export { type JsonRoom, toJson } from "./values/to-json.js";
export { TypeValue } from "./values/type-value.js";
export { Uint, uintOf } from "./values/uint.js";
export { MapValue, ObjectValue, OpaqueValue, Optional, type Result, type Value } from "./values/value.js";
export { BoundedWork, type Work } from "./values/work.js";
export { children, walk } from "./walk.js";
