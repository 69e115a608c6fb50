/** `validate.podSecurity`: the checks of the Pod Security Standards, a validation each. */
import type { FieldPath } from "../../../../kubernetes/field-error.js";
import { member, text } from "../../../../kubernetes/object.js";
import type { Cel } from "../cel-text.js";
import * as cel from "../cel-text.js";
import { matchesAny } from "../match/wildcard.js";
import { NotConverted, placed } from "../not-converted.js";
import type { RuleWriter, Scope } from "../scope.js";
import { type Check, chain, checksOf, type Fields, fieldTest, type Inherited, volumesAre } from "./checks.js";

/** An entry of `exclude`. Images make it one of containers, without images it is one of the Pod. */
interface Exclusion {
  readonly controlName: string;
  readonly images?: readonly string[];
  /** Absent: every field of the control. */
  readonly restrictedField?: string;
  /** Patterns of the field's values. */
  readonly values?: readonly string[];
}

/** The places that the tests of a rule look at. */
interface Place {
  readonly pod: Cel;
  readonly spec: Cel;
  readonly scope: Scope;
  readonly path: FieldPath;
}

const LISTS = ["containers", "initContainers", "ephemeralContainers"] as const;
type List = (typeof LISTS)[number];
const CONTAINER = cel.primary("container");

export const podSecurityRule: RuleWriter = (body, _message, scope, path) => {
  const [level, version] = [text(body, "level"), text(body, "version")];
  if (level !== "baseline" && level !== "restricted")
    throw new NotConverted(["level"], "Kyverno runs every check then: write restricted, or delete the rule");
  const minor = Number(/^v1\.(\d+)$/.exec(version)?.[1] ?? Number.POSITIVE_INFINITY);
  const checks = checksOf(minor).filter(({ isRestricted }) => level === "restricted" || !isRestricted);
  const exclusions = (member(body, "exclude") ?? []) as readonly Exclusion[];
  for (const [index, exclusion] of exclusions.entries()) placed(["exclude", index], () => check(exclusion, checks));
  const pod = podOf(scope, path);
  const place: Place = { pod, spec: cel.member(pod, "spec"), scope, path };
  for (const each of checks) {
    const relevant = exclusions.filter(({ controlName }) => controlName === each.control);
    const holds = (each.inherited ? inheritedHolds : checkHolds)(each, relevant, place);
    if (holds.text === "true") continue;
    const reason = `(Forbidden reason: ${each.reason})`;
    scope.draft.validate(
      each.sparesWindows && minor >= 25 ? cel.or(isWindows(place), holds) : holds,
      `Validation rule '${scope.rule}' failed. It violates PodSecurity "${level}:${version}": ${reason}`,
      path,
    );
  }
};

/** Refuses what Kyverno refuses. */
function check({ controlName, images = [], restrictedField = "", values = [] }: Exclusion, checks: readonly Check[]) {
  const known = checks.filter(({ control }) => control === controlName);
  const refuse = (key: string, message: string, isWrong: boolean) => {
    if (isWrong) throw new NotConverted([key], message);
  };
  refuse("controlName", "this level has no such control", known.length === 0);
  const [ofContainers, ofPod] = [known.every((one) => one.container), known.every((one) => one.spec ?? one.volumes)];
  refuse(
    "images",
    "this control is one of containers, whose images must be named",
    ofContainers && images.length === 0,
  );
  refuse("images", "this control is one of the Pod, not of containers", ofPod && images.length > 0);
  refuse("values", "restrictedField and values belong together", (restrictedField === "") !== (values.length === 0));
}

/** The object with the Pod's spec. A rule may name controllers itself. */
function podOf({ roots, draft }: Scope, path: FieldPath): Cel {
  if (roots.pod) return roots.pod.object;
  const object = roots.object.text;
  const controlled = `${object}.kind == "CronJob" ? ${object}.spec.jobTemplate.spec.template : ${object}.spec.template`;
  return draft.variable("pod", cel.primary(`${object}.kind == "Pod" ? ${object} : ${controlled}`), path);
}

function isWindows({ spec, scope, path }: Place): Cel {
  const name = cel.orValue(chain(spec, "os.name"), cel.literal(""));
  return scope.draft.variable("isWindows", cel.equal(name, cel.literal("windows")), path);
}

const allContainers = ({ spec, scope, path }: Place): Cel =>
  scope.draft.variable("allContainers", cel.plus(...LISTS.map((name) => containersOf(name, spec))), path);

const containersOf = (name: List, spec: Cel): Cel =>
  name === "containers" ? cel.member(spec, name) : cel.orValue(cel.optionalMember(spec, name), cel.list([]));

const each = (containers: Cel, body: Cel): Cel =>
  body.text === "true" ? body : cel.loop(containers, "all", "container", body);

/** Whether each container fulfils a body, which may differ by the list. */
function eachContainer(bodyOf: (name: List) => Cel, place: Place, names: readonly List[] = LISTS): Cel {
  const bodies = names.map(bodyOf);
  const [shared] = bodies;
  if (shared !== undefined && names === LISTS && bodies.every(({ text: one }) => one === shared.text))
    return shared.text === "true" ? shared : each(allContainers(place), shared);
  return cel.and(...names.map((name, index) => each(containersOf(name, place.spec), bodies[index] ?? cel.TRUE)));
}

/** Exclusions of the Pod, and those of containers. */
const split = (exclusions: readonly Exclusion[]) => ({
  ofPod: exclusions.filter(({ images = [] }) => images.length === 0),
  ofContainers: exclusions.filter(({ images = [] }) => images.length > 0),
});

const isWhole = ({ restrictedField = "" }: Exclusion): boolean => restrictedField === "";
const isOf = (field: string) => (exclusion: Exclusion) => exclusion.restrictedField === field;

const imageIs = ({ images = [] }: Exclusion): Cel =>
  images.length === 0 ? cel.TRUE : matchesAny(cel.member(CONTAINER, "image"), images);

/** Whether the image is one of those that are exempt from the whole control. */
const isExempt = (exclusions: readonly Exclusion[]): Cel => cel.or(...exclusions.filter(isWhole).map(imageIs));

/** Whether fields are as a check wants them, or exempt by exclusions of the field. */
function hold(fields: Fields | undefined, target: Cel, prefix: string, exclusions: readonly Exclusion[]): Cel {
  const tests = Object.entries(fields ?? {}).map(([path, test]) => {
    const relevant = exclusions.filter(isOf(`${prefix}${path}`));
    const exempt = relevant.map((one) => cel.and(imageIs(one), fieldTest(test, target, one.values ?? [], path)));
    // An exclusion of every image allows what the plain test allows, too.
    const covers = relevant.some((one) => imageIs(one).text === "true");
    return cel.or(...(covers ? [] : [fieldTest(test, target, [], path)]), ...exempt);
  });
  return cel.and(...tests);
}

function checkHolds(of: Check, exclusions: readonly Exclusion[], place: Place): Cel {
  const { ofPod, ofContainers } = split(exclusions);
  const { spec } = place;
  const isSpared = ofPod.some(isWhole);
  const ofSpec = (fields: Fields | undefined, target: Cel) =>
    isSpared ? cel.TRUE : hold(fields, target, "spec.", ofPod);
  const exempt = ofPod.flatMap(
    ({ restrictedField = "" }) => /^spec\.volumes\[\*\]\.(\w+)$/.exec(restrictedField)?.[1] ?? [],
  );
  const others = [
    ofSpec(of.spec, spec),
    of.annotations && !isSpared ? of.annotations(place.pod) : cel.TRUE,
    of.volumes && !isSpared ? volumesAre(spec, [...of.volumes, ...exempt]) : cel.TRUE,
  ];
  const bodyOf = (name: List) =>
    cel.or(isExempt(ofContainers), hold({ ...of.container, ...of.both }, CONTAINER, `spec.${name}[*].`, ofContainers));
  const alike = ofSpec(of.both, CONTAINER).text;
  if (alike !== "true" && LISTS.every((name) => bodyOf(name).text === alike))
    return cel.and(...others, each(cel.plus(cel.list([spec]), allContainers(place)), bodyOf("containers")));
  return cel.and(...others, ofSpec(of.both, spec), eachContainer(bodyOf, place));
}

/** A check of a field that containers may leave to their Pod. */
function inheritedHolds({ inherited }: Check, exclusions: readonly Exclusion[], place: Place): Cel {
  const { field, value, isGood, good, bad, badHidesMissing } = inherited as Inherited;
  const { spec } = place;
  const podValue = (otherwise: Cel) => cel.orValue(value(spec), otherwise);
  if (exclusions.length === 0) {
    const ofContainer = isGood(cel.orValue(value(CONTAINER), podValue(bad)), []);
    return cel.and(isGood(podValue(good), []), each(allContainers(place), ofContainer));
  }
  const { ofPod, ofContainers } = split(exclusions);
  const isOwnGood = (target: Cel, values: readonly string[]) => isGood(cel.orValue(value(target), good), values);
  const own: Fields = { [field]: isOwnGood };
  const isMissing = cel.not(cel.method(value(CONTAINER), "hasValue"));
  const isBad = cel.not(isOwnGood(CONTAINER, []));
  const podGood = isGood(podValue(bad), []);
  const podHolds = ofPod.some(isWhole) ? cel.TRUE : hold(own, spec, "spec.", ofPod);
  const ownHolds = (name: List) =>
    cel.or(isExempt(ofContainers), hold(own, CONTAINER, `spec.${name}[*].`, ofContainers));
  // A missing value is exempt whatever the values of the exclusion.
  const ofField = (name: List) => ofContainers.filter(isOf(`spec.${name}[*].${field}`));
  const missingHolds = (name: List) =>
    cel.or(cel.not(isMissing), isExempt(ofContainers), ...ofField(name).map(imageIs));
  const anyBad = badHidesMissing
    ? cel.or(cel.not(isOwnGood(spec, [])), cel.loop(allContainers(place), "exists", "container", isBad))
    : cel.FALSE;
  const holds = (names: readonly List[]) => [
    eachContainer(ownHolds, place, names),
    cel.or(podGood, anyBad, eachContainer(missingHolds, place, names)),
  ];
  const spare = ofPod.find((one) => isWhole(one) || isOf(`spec.containers[*].${field}`)(one));
  if (spare === undefined || [ownHolds, missingHolds].some((of) => of("containers").text === "true"))
    return cel.and(podHolds, ...holds(LISTS));
  // Kyverno applies an exclusion of the Pod to a made-up container, too: the first container that is bad goes through, where the Pod says nothing good.
  const exempt = ofField("containers").map((one) => cel.and(imageIs(one), isOwnGood(CONTAINER, one.values ?? [])));
  const isSpared = cel.or(isExempt(ofContainers), ...exempt);
  const comesLast = ofContainers.some((one) => exclusions.indexOf(one) < exclusions.indexOf(spare));
  const kept = (condition: Cel) =>
    cel.loop(
      containersOf("containers", spec),
      "filter",
      "container",
      comesLast ? cel.and(condition, cel.not(isSpared)) : condition,
    );
  const missing = cel.conditional(podGood, cel.list([]), kept(isMissing));
  const named = badHidesMissing ? cel.conditional(anyBad, kept(isBad), missing) : cel.plus(kept(isBad), missing);
  const badOnes = place.scope.draft.variable("badContainers", named, place.path);
  const podSays = badHidesMissing ? cel.method(value(spec), "hasValue") : podGood;
  const isFirst = cel.and(cel.not(podSays), cel.equal(CONTAINER, cel.item(badOnes, 0)));
  return cel.and(podHolds, each(badOnes, cel.or(comesLast ? cel.FALSE : isSpared, isFirst)), ...holds(LISTS.slice(1)));
}
