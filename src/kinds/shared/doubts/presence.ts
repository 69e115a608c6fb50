/** Which members of an object may be absent: from the Go types of built-in kinds, and the schemas of CustomResourceDefinitions. */
import { structOf } from "../../../kubernetes/go-types/as-struct.js";
import type { GoType } from "../../../kubernetes/go-types/go-type.js";
import { apiVersionOf, type GroupVersionKind } from "../../../kubernetes/names.js";
import { isObject, type JsonObject, member } from "../../../kubernetes/object.js";
import type { Step } from "./access-paths.js";

/** The Go type of a value, or its schema. */
export type Shape = GoType | { readonly kind: "schema"; readonly schema: JsonObject };

/** A member of a shape. */
export interface Stepped {
  readonly mayBeAbsent: boolean;
  readonly shape: Shape | undefined;
}

/** Members that objects lack in no request, though their types allow that: the API server sets or demands them before policies are asked. */
const ALWAYS_SET: ReadonlySet<string> = new Set(
  (
    "TypeMeta.kind TypeMeta.apiVersion ObjectMeta.name ObjectMeta.namespace ObjectMeta.uid ObjectMeta.creationTimestamp " +
    "PodSpec.restartPolicy PodSpec.dnsPolicy PodSpec.securityContext PodSpec.terminationGracePeriodSeconds PodSpec.schedulerName " +
    "PodSpec.enableServiceLinks Container.image Container.imagePullPolicy Container.terminationMessagePath Container.terminationMessagePolicy " +
    "EphemeralContainer.image EphemeralContainer.imagePullPolicy ContainerPort.protocol ServicePort.protocol ServiceSpec.type " +
    "ServiceSpec.ports ServiceSpec.sessionAffinity ServiceSpec.internalTrafficPolicy DeploymentSpec.replicas DeploymentSpec.revisionHistoryLimit " +
    "DeploymentSpec.progressDeadlineSeconds DeploymentStrategy.type StatefulSetSpec.replicas StatefulSetSpec.podManagementPolicy " +
    "ReplicaSetSpec.replicas ReplicationControllerSpec.replicas DaemonSetUpdateStrategy.type StatefulSetUpdateStrategy.type JobSpec.backoffLimit " +
    "JobSpec.completionMode JobSpec.suspend CronJobSpec.suspend CronJobSpec.concurrencyPolicy CronJobSpec.successfulJobsHistoryLimit " +
    "CronJobSpec.failedJobsHistoryLimit HorizontalPodAutoscalerSpec.minReplicas PersistentVolumeClaimSpec.volumeMode " +
    "PersistentVolumeClaimSpec.accessModes PersistentVolumeSpec.persistentVolumeReclaimPolicy PersistentVolumeSpec.volumeMode Secret.type " +
    "StorageClass.reclaimPolicy StorageClass.volumeBindingMode IngressServiceBackend.port HTTPIngressPath.pathType NamespaceSpec.finalizers " +
    "RoleRef.apiGroup Subject.apiGroup LimitRangeSpec.limits NetworkPolicySpec.policyTypes"
  ).split(" "),
);

/** The shape of a kind's objects. Of a kind that is not known only the metadata are. */
export function shapeOf(kind: GroupVersionKind, schema: JsonObject | undefined): Shape | undefined {
  const builtin = structOf(apiVersionOf(kind), kind.kind);
  return builtin ?? (schema === undefined ? ANY_OBJECT : { kind: "schema", schema });
}

/** An object of an unknown kind: all have the same metadata. */
export const ANY_OBJECT: Shape = { kind: "schema", schema: {} };

/** The member or item of a shape; undefined where nothing is known of it. */
export function stepInto(shape: Shape, step: Step, isRoot: boolean): Stepped | undefined {
  if (shape.kind === "schema") return stepIntoSchema(shape.schema, step, isRoot);
  if (shape.kind === "pointer") return stepInto(shape.element, step, false);
  if (shape.kind === "list") return "item" in step ? { mayBeAbsent: false, shape: shape.element } : undefined;
  if (shape.kind === "map") {
    if ("name" in step) return { mayBeAbsent: true, shape: shape.element };
    return step.item === "any" ? { mayBeAbsent: false, shape: shape.element } : undefined;
  }
  if (shape.kind !== "struct" || "item" in step) return undefined;
  const found = shape.members.get(step.name);
  if (found === undefined) return undefined;
  const { type, omitEmpty, omitZero, place, name } = found;
  // Go prints a struct also when it is empty.
  const canBeEmpty = omitZero || (omitEmpty && EMPTY.has(type.kind));
  const owner = place.includes(".") ? place : `${shape.go.slice(shape.go.lastIndexOf(".") + 1)}.${name}`;
  return { mayBeAbsent: canBeEmpty && !ALWAYS_SET.has(owner), shape: type };
}

/** The kinds of Go types that are not printed when they are empty. */
const EMPTY: ReadonlySet<GoType["kind"]> = new Set(["string", "bool", "bytes", "integer", "list", "map", "pointer"]);

function stepIntoSchema(schema: JsonObject, step: Step, isRoot: boolean): Stepped | undefined {
  const shaped = (value: unknown): Shape | undefined =>
    isObject(value) ? { kind: "schema", schema: value } : undefined;
  const { additionalProperties: values, required, items } = schema;
  if ("item" in step) {
    const of = isObject(items) ? items : step.item === "any" ? values : undefined;
    return of === undefined ? undefined : { mayBeAbsent: false, shape: shaped(of) };
  }
  const { name } = step;
  if (isRoot && name === "metadata") {
    const metadata = structOf("v1", "ConfigMap")?.members.get(name);
    return metadata && { mayBeAbsent: false, shape: metadata.type };
  }
  const property = member(schema.properties, name);
  if (isObject(property)) {
    // Every object has a spec, though definitions rarely demand it.
    const isSet = isRoot || property.default !== undefined || (Array.isArray(required) && required.includes(name));
    return { mayBeAbsent: !isSet, shape: shaped(property) };
  }
  return isObject(values) ? { mayBeAbsent: true, shape: shaped(values) } : undefined;
}
