/** A span per request over OTLP (gRPC), with the names and fields of spec kubewarden.md 8.2, as a child of the caller's when it sends one. */
import { type Attributes, SpanKind, SpanStatusCode } from "@opentelemetry/api";
import { OTLPTraceExporter } from "@opentelemetry/exporter-trace-otlp-grpc";
import { BatchSpanProcessor, type SpanExporter, TracerProvider } from "@opentelemetry/sdk-trace";
import { type Decision, type DecisionSink, fieldsOf } from "../decision.js";
import { type Push, serviceResource } from "./metrics-push.js";
import { stopWithin } from "./stop-within.js";
import { contextOf, traceparentOf } from "./trace-context.js";

/** Receives decisions and exports them as spans. */
export interface DecisionTracer extends DecisionSink, Push {
  record(decision: Decision, traceparent: string | undefined): string;
}

const NAMES: Readonly<Record<string, string>> = {
  validate: "validation",
  audit: "audit",
  validate_raw: "validation_raw",
  webhook: "webhook",
};

/** @param exporter the destination of spans; default that of the standard OTEL_ variables */
export function traceDecisions(
  env: Readonly<Record<string, string | undefined>>,
  exporter: SpanExporter = new OTLPTraceExporter(),
): DecisionTracer {
  const provider = new TracerProvider({
    resource: serviceResource(env),
    spanProcessors: [new BatchSpanProcessor({ exporter })],
  });
  const tracer = provider.getTracer("policy-server");
  const host = env.HOSTNAME ?? "unknown";
  return {
    record: (decision, traceparent) => {
      const end = Date.now();
      const span = tracer.startSpan(
        NAMES[decision.origin] ?? decision.origin,
        {
          kind: SpanKind.SERVER,
          startTime: end - decision.milliseconds,
          attributes: { host, ...attributesOf(decision) },
        },
        contextOf(traceparent),
      );
      if (decision.outcome === "error") span.setStatus({ code: SpanStatusCode.ERROR });
      for (const { policy, outcome, milliseconds } of decision.members) {
        span.addEvent("member evaluated", { policy_id: policy, outcome, duration_ms: milliseconds }, end);
      }
      span.end(end);
      return traceparentOf(span.spanContext());
    },
    stop: () => stopWithin(provider.shutdown()),
  };
}

/** The fields that leave the cluster with a span: those of spec kubewarden.md 8.2, without others of the log, such as the user. */
const FIELDS = [
  "request_uid",
  "policy_id",
  "name",
  "namespace",
  "operation",
  "subresource",
  "kind_group",
  "kind_version",
  "kind",
  "resource_group",
  "resource_version",
  "resource",
  "allowed",
  "mutated",
  "response_code",
  "response_message",
] as const;

function attributesOf(decision: Decision): Attributes {
  const fields = fieldsOf(decision);
  return Object.fromEntries(
    FIELDS.map((name) => [name, fields[name]] as const).filter(([, value]) => value !== undefined),
  );
}
