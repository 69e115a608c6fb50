/** `validate.podSecurity`: the checks of the Pod Security Standards, a validation each. */
import type { FieldPath } from "../../../../kubernetes/field-error.js";
import { isObject, member as memberOf, text } from "../../../../kubernetes/object.js";
import {
  and,
  type Cel,
  conditional,
  equal,
  FALSE,
  item,
  list,
  literal,
  loop,
  member,
  method,
  not,
  optionalMember,
  or,
  orValue,
  plus,
  primary,
  TRUE,
} from "../cel-text.js";
import type { RuleWriter } from "../convert-rule.js";
import { NotConverted } from "../not-converted.js";
import type { Scope } from "../scope.js";
import { among, type Check, chain, checksOf, type FieldTest, type Inherited, volumesAre } from "./checks.js";

/** An entry of `exclude`. Images make it one of containers, without images it is one of the Pod. */
interface Exclusion {
  readonly control: string;
  readonly images: readonly string[];
  /** `""`: every field of the control. */
  readonly field: string;
  /** Patterns of the field's values. */
  readonly values: readonly string[];
}

/** What the tests of a rule look at. */
interface Place {
  readonly pod: Cel;
  readonly spec: Cel;
  readonly scope: Scope;
  readonly path: FieldPath;
}

const LISTS = ["containers", "initContainers", "ephemeralContainers"] as const;
const [CONTAINER, IMAGE] = [primary("container"), primary("container.image")];

export const podSecurityRule: RuleWriter = (body, _message, scope, path) => {
  const [level, version] = [text(body, "level"), text(body, "version")];
  if (level !== "baseline" && level !== "restricted")
    throw new NotConverted(
      ["level"],
      level === "privileged"
        ? "of level privileged Kyverno runs every check: write restricted, or delete the rule"
        : "the level must be baseline or restricted",
    );
  const minor = minorOf(version);
  const exclusions = exclusionsOf(memberOf(body, "exclude"), level === "restricted");
  const pod = podOf(scope, path);
  const place: Place = { pod, spec: member(pod, "spec"), scope, path };
  for (const check of checksOf(minor)) {
    if (check.isRestricted && level === "baseline") continue;
    const relevant = exclusions.filter(({ control }) => control === check.control);
    const holds = check.inherited
      ? inheritedHolds(check.inherited, relevant, place)
      : checkHolds(check, relevant, place);
    const isSpared = check.sparesWindows === true && minor >= 25 && holds.text !== "true";
    const cel = isSpared ? or(isWindows(place), holds) : holds;
    const reason = `(Forbidden reason: ${check.reason})`;
    if (cel.text === "true") continue;
    scope.draft.validate(
      cel,
      `Validation rule '${scope.rule}' failed. It violates PodSecurity "${level}:${version}": ${reason}`,
      path,
    );
  }
};

/** The minor version of Kubernetes. */
function minorOf(version: string): number {
  if (version === "" || version === "latest") return Number.POSITIVE_INFINITY;
  const minor = Number(/^v1\.(\d{2})$/.exec(version)?.[1]);
  if (minor >= 19 && minor <= 32) return minor;
  throw new NotConverted(["version"], "Kyverno knows v1.19 to v1.32, and latest");
}

const CONTAINER_CONTROLS = new Set(
  "Capabilities,Privileged Containers,Host Ports,/proc Mount Type,Privilege Escalation".split(","),
);
const POD_CONTROLS = new Set("Host Namespaces,HostPath Volumes,Sysctls,Volume Types".split(","));
const CONTROLS = checksOf(Number.POSITIVE_INFINITY);

/** The entries, checked as Kyverno checks them. */
function exclusionsOf(exclude: unknown, isRestricted: boolean): readonly Exclusion[] {
  if (exclude === undefined || exclude === null) return [];
  if (!Array.isArray(exclude)) throw new NotConverted(["exclude"], "must be a list");
  return exclude.map((each: unknown, index) => {
    const texts = (key: string): readonly string[] => {
      const value = memberOf(each, key) ?? [];
      if (Array.isArray(value) && value.every((one) => typeof one === "string")) return value;
      throw new NotConverted(["exclude", index, key], "must be a list of texts");
    };
    const [control, field] = [text(each, "controlName"), text(each, "restrictedField")];
    const [images, values] = [texts("images"), texts("values")];
    const refuse = (key: string, message: string): never => {
      throw new NotConverted(["exclude", index, key], message);
    };
    const known = CONTROLS.filter((one) => control !== "" && one.control === control);
    if (!isObject(each) || known.length === 0) refuse("controlName", "Kyverno knows no control of this name");
    if (!isRestricted && known.every((one) => one.isRestricted))
      refuse("controlName", "this control is one of level restricted");
    if (CONTAINER_CONTROLS.has(control) && images.length === 0)
      refuse("images", "this control is one of containers, whose images must be named");
    if (POD_CONTROLS.has(control) && images.length > 0)
      refuse("images", "this control is one of the Pod, not of containers");
    if ((field === "") !== (values.length === 0)) refuse("values", "restrictedField and values belong together");
    return { control, images, field, values };
  });
}

/** The object with the Pod's spec. A rule may name controllers itself. */
function podOf({ roots, draft }: Scope, path: FieldPath): Cel {
  if (roots.pod) return roots.pod.object;
  const kind = (name: string) => equal(member(roots.object, "kind"), literal(name));
  const template = (target: Cel) => member(member(target, "spec"), "template");
  const job = member(member(roots.object, "spec"), "jobTemplate");
  const controlled = conditional(kind("CronJob"), template(job), template(roots.object));
  return draft.variable("pod", conditional(kind("Pod"), roots.object, controlled), path);
}

const isWindows = ({ spec, scope, path }: Place): Cel =>
  scope.draft.variable("isWindows", equal(orValue(chain(spec, "os.name"), literal("")), literal("windows")), path);

const allContainers = ({ spec, scope, path }: Place): Cel =>
  scope.draft.variable("allContainers", plus(...LISTS.map((name) => containersOf(name, spec))), path);

const containersOf = (name: (typeof LISTS)[number], spec: Cel): Cel =>
  name === "containers" ? member(spec, name) : orValue(optionalMember(spec, name), list([]));

/** Whether a field is as a check wants it, or one of the exclusions exempts it. */
function fieldHolds(test: FieldTest, target: Cel, field: string, exclusions: readonly Exclusion[]): Cel {
  const relevant = exclusions.filter((each) => each.field === field);
  const exempt = relevant.map(({ images, values }) => and(imageIs(images), test(target, values)));
  // An exclusion of every image allows what the plain test allows, too.
  const covers = relevant.some(({ images }) => imageIs(images).text === "true");
  return or(...(covers ? [] : [test(target, [])]), ...exempt);
}

/** Whether a container's image is one of those; without images: always. */
const imageIs = (images: readonly string[]): Cel => (images.length === 0 ? TRUE : among(IMAGE, [], images));

/** The exclusions of all fields of the control, as one condition on the image. */
const anyImageIs = (exclusions: readonly Exclusion[]): Cel =>
  or(...exclusions.filter(({ field }) => field === "").map(({ images }) => imageIs(images)));

function checkHolds(check: Check, exclusions: readonly Exclusion[], place: Place): Cel {
  const { pod, container, both, volumes, annotations } = check;
  const { ofPod, ofContainers } = split(exclusions);
  const { spec } = place;
  const ofSecurityContext = prefixed("securityContext.", both);
  const isExempt = ofPod.some(({ field }) => field === "");
  const specHolds = (tests: Check["pod"], target: Cel) => (isExempt ? TRUE : holdAll(tests, target, "spec.", ofPod));
  const others = [specHolds(pod, spec)];
  if (annotations && !isExempt) others.push(annotations(place.pod));
  if (volumes && !isExempt) {
    const types = ofPod.map(({ field }) => /^spec\.volumes\[\*\]\.(\w+)$/.exec(field)?.[1] ?? "");
    others.push(volumesAre(spec, [...volumes, ...types.filter((type) => type !== "")]));
  }
  const bodies = bodiesOf((name) =>
    or(
      anyImageIs(ofContainers),
      holdAll({ ...container, ...ofSecurityContext }, CONTAINER, `spec.${name}[*].`, ofContainers),
    ),
  );
  const shared = sameBody(bodies);
  if (
    both &&
    shared !== undefined &&
    shared.text !== "true" &&
    specHolds(ofSecurityContext, CONTAINER).text === shared.text
  )
    return and(...others, each(plus(list([spec]), allContainers(place)), shared));
  return and(...others, specHolds(ofSecurityContext, spec), eachContainer(bodies, place));
}

const split = (exclusions: readonly Exclusion[]) => ({
  ofPod: exclusions.filter(({ images }) => images.length === 0),
  ofContainers: exclusions.filter(({ images }) => images.length > 0),
});

const holdAll = (tests: Check["pod"], target: Cel, prefix: string, exclusions: readonly Exclusion[]): Cel =>
  and(...Object.entries(tests ?? {}).map(([field, test]) => fieldHolds(test, target, `${prefix}${field}`, exclusions)));

const prefixed = (prefix: string, tests: Check["both"] = {}): Readonly<Record<string, FieldTest>> =>
  Object.fromEntries(Object.entries(tests).map(([field, test]) => [`${prefix}${field}`, test]));

/** What each container of a list must fulfil, by the list. */
type Bodies = readonly { readonly name: (typeof LISTS)[number]; readonly body: Cel }[];

const bodiesOf = (bodyOf: (name: (typeof LISTS)[number]) => Cel): Bodies =>
  LISTS.map((name) => ({ name, body: bodyOf(name) }));

/** The body, where it is the same in all lists. */
const sameBody = ([first, ...rest]: Bodies): Cel | undefined =>
  rest.length === LISTS.length - 1 && rest.every(({ body }) => body.text === first?.body.text)
    ? first?.body
    : undefined;

function eachContainer(bodies: Bodies, place: Place): Cel {
  const shared = sameBody(bodies);
  if (shared !== undefined) return shared.text === "true" ? TRUE : each(allContainers(place), shared);
  return and(...bodies.map(({ name, body }) => each(containersOf(name, place.spec), body)));
}

const each = (containers: Cel, body: Cel): Cel =>
  body.text === "true" ? TRUE : loop(containers, "all", "container", body);

/** A check of a field that containers may leave to their Pod. */
function inheritedHolds(inherited: Inherited, exclusions: readonly Exclusion[], place: Place): Cel {
  const { field, value, isGood, good, bad } = inherited;
  const { spec } = place;
  const podValue = (otherwise: Cel) => orValue(value(spec), otherwise);
  const ownValue = (target: Cel) => orValue(value(target), good);
  if (exclusions.length === 0)
    return and(
      isGood(podValue(good), []),
      each(allContainers(place), isGood(orValue(value(CONTAINER), podValue(bad)), [])),
    );
  const { ofPod, ofContainers } = split(exclusions);
  const isOwnGood: FieldTest = (target, values) => isGood(ownValue(target), values);
  const isMissing = not(method(value(CONTAINER), "hasValue"));
  const podGood = isGood(podValue(bad), []);
  const podHolds = ofPod.some((one) => one.field === "") ? TRUE : fieldHolds(isOwnGood, spec, `spec.${field}`, ofPod);
  const relevant = (name: string) => ofContainers.filter((one) => one.field === `spec.${name}[*].${field}`);
  const ownHolds = bodiesOf((name) =>
    or(anyImageIs(ofContainers), fieldHolds(isOwnGood, CONTAINER, `spec.${name}[*].${field}`, relevant(name))),
  );
  // A missing value is exempt whatever the values of the exclusion.
  const missingHolds = bodiesOf((name) =>
    or(not(isMissing), anyImageIs(ofContainers), ...relevant(name).map(({ images }) => imageIs(images))),
  );
  const anyBad = inherited.badHidesMissing
    ? or(not(isOwnGood(spec, [])), loop(allContainers(place), "exists", "container", not(isOwnGood(CONTAINER, []))))
    : FALSE;
  const spare = ofPod.find((one) => one.field === "" || one.field === `spec.containers[*].${field}`);
  const first = ownHolds[0]?.body.text === "true" || missingHolds[0]?.body.text === "true";
  if (spare === undefined || first)
    return and(podHolds, eachContainer(ownHolds, place), or(podGood, anyBad, eachContainer(missingHolds, place)));
  // Kyverno applies an exclusion of the Pod to a made-up container, too: the first container that is bad goes through, where the Pod says nothing good.
  const isExempt = or(
    anyImageIs(ofContainers),
    ...relevant("containers").map(({ images, values }) => and(imageIs(images), isOwnGood(CONTAINER, values))),
  );
  const comesLast = ofContainers.some((one) => exclusions.indexOf(one) < exclusions.indexOf(spare));
  const kept = (condition: Cel) =>
    loop(
      containersOf("containers", spec),
      "filter",
      "container",
      comesLast ? and(condition, not(isExempt)) : condition,
    );
  const [own, missing] = [kept(not(isOwnGood(CONTAINER, []))), conditional(podGood, list([]), kept(isMissing))];
  const named = inherited.badHidesMissing ? conditional(anyBad, own, missing) : plus(own, missing);
  const badContainers = place.scope.draft.variable("badContainers", named, place.path);
  const podSays = inherited.badHidesMissing ? method(value(spec), "hasValue") : podGood;
  return and(
    podHolds,
    each(badContainers, or(comesLast ? FALSE : isExempt, and(not(podSays), equal(CONTAINER, item(badContainers, 0))))),
    eachContainer(ownHolds.slice(1), place),
    or(podGood, anyBad, eachContainer(missingHolds.slice(1), place)),
  );
}
