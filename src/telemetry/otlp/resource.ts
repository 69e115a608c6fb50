import {
  defaultResource,
  detectResources,
  envDetector,
  type Resource,
  resourceFromAttributes,
} from "@opentelemetry/resources";

/** The sender: the reference server's service name, unless OTEL_SERVICE_NAME or OTEL_RESOURCE_ATTRIBUTES set another. */
export function serviceResource(env: Readonly<Record<string, string | undefined>>): Resource {
  const named = resourceFromAttributes({
    "service.name": "kubewarden-policy-server",
    ...(env.HOSTNAME !== undefined && { "host.name": env.HOSTNAME }),
  });
  return defaultResource()
    .merge(named)
    .merge(detectResources({ detectors: [envDetector] }));
}
