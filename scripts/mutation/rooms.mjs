// Which tests must notice a change of a file: the first row whose path begins the file's name. In the order in which they are run, quick ones first.

const POLICIES = [
  "kinds/validating-admission-policy/policy",
  "kinds/validating-admission-policy/tricky",
  "kinds/validating-admission-policy/other",
  "kinds/validating-admission-policy/waiting",
  "kinds/validating-admission-policy/audit",
  "kinds/validating-admission-policy/budget",
  "kinds/validating-admission-policy/turns",
];

const ANSWERS = ["wasm/answer", "wasm/rego-answers", "wasm/ambiguous"];

/** @type {readonly (readonly [string, readonly string[]])[]} */
export const ROOMS = [
  ["src/admission/", ["admission/", "policy/served/", "server/routes", "server/refused"]],
  ["src/policy/served/verdict", ["policy/served/", "server/routes", "contract/kinds"]],
  ["src/policy/served/", ["policy/served/", "policy/evaluat", "contract/kinds", "server/gone"]],
  ["src/policy/turns", ["policy/turns", "policy/evaluat", "validating-admission-policy/turns"]],
  ["src/policy/", ["policy/evaluat", "policy/served/", "kinds/group", "contract/kinds"]],
  ["src/kinds/group/expression", ["kinds/group/expression", "kinds/group/group-policy", "loader/mistakes"]],
  ["src/kinds/group/kind", ["loader/mistakes", "kinds/group/"]],
  ["src/kinds/group/report", ["kinds/group/group-policy", "kinds/group/nesting", "contract/kinds"]],
  ["src/kinds/group/", ["kinds/group", "contract/kinds", "loader/mistakes"]],
  ["src/x509/pkcs10/", ["x509/pkcs10/decoding", "x509/pkcs10/certification-request"]],
  ["src/x509/pem", ["x509/pem", "x509/pkcs10/decoding"]],
  ["src/x509/ip-text", ["x509/pkcs10/decoding"]],
  ["src/kinds/ask-together", ["kinds/ask-together", "kinds/resource-entry", "contract/kinds"]],
  ["src/kinds/unavailable", ["loader/unavailable", "contract/kinds"]],
  [
    "src/kinds/validating-admission-policy/evaluate",
    ["validating-admission-policy/policy", "validating-admission-policy/tricky", "validating-admission-policy/audit"],
  ],
  ["src/kinds/validating-admission-policy/", POLICIES],
  ["src/kinds/admission-policy/", POLICIES],
  ["src/kinds/shared/match/validate", ["validating-admission-policy/prepare", "validating-admission-policy/policy"]],
  [
    "src/kinds/shared/match/",
    ["kinds/shared/", "validating-admission-policy/policy", "validating-admission-policy/tricky"],
  ],
  ["src/kinds/shared/", ["validating-admission-policy/turns", ...POLICIES, "kinds/shared/"]],
  ["src/wasm/answer", ANSWERS],
  ["src/wasm/outcome-text", ANSWERS],
  ["src/wasm/rego-result", ANSWERS],
  ["src/wasm/protocols/opa/answer", ANSWERS],
  ["src/wasm/protocols/gatekeeper/answer", ANSWERS],
  ["src/server/gate", ["server/gate", "server/overload"]],
];

/** Paths below dist/test that must contain one of these, in this order. */
export const testsOf = (file) => ROOMS.find(([path]) => file.startsWith(path))?.[1] ?? [];
