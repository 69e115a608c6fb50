/** The messages of Envoy's external authorization, version 3, as its protocol defines them (spec kyverno.md 6.3). */
import {
  ANY,
  BOOL,
  BYTES,
  DYN,
  INT,
  listType,
  mapType,
  objectType,
  STRING,
  TIMESTAMP,
  UINT,
  wrapperType,
} from "../../../../cel/index.js";
import { MessageTypes } from "../message.js";

const AUTH = "envoy.service.auth.v3";
const CORE = "envoy.config.core.v3";
const CONTEXT = `${AUTH}.AttributeContext`;
const TEXTS = mapType(STRING, STRING);
const JSON_OBJECT = mapType(STRING, DYN);

/** The names of the types that functions take and give. */
export const ENVOY = {
  request: `${AUTH}.CheckRequest`,
  response: `${AUTH}.CheckResponse`,
  ok: `${AUTH}.OkHttpResponse`,
  denied: `${AUTH}.DeniedHttpResponse`,
  header: `${CORE}.HeaderValueOption`,
  headerValue: `${CORE}.HeaderValue`,
  queryParameter: `${CORE}.QueryParameter`,
  httpStatus: "envoy.type.v3.HttpStatus",
  status: "google.rpc.Status",
} as const;

/** The types. */
export const ENVOY_TYPES = new MessageTypes(
  {
    [ENVOY.request]: { attributes: objectType(CONTEXT) },
    [CONTEXT]: {
      source: objectType(`${CONTEXT}.Peer`),
      destination: objectType(`${CONTEXT}.Peer`),
      request: objectType(`${CONTEXT}.Request`),
      context_extensions: TEXTS,
      metadata_context: objectType(`${CORE}.Metadata`),
      route_metadata_context: objectType(`${CORE}.Metadata`),
      tls_session: objectType(`${CONTEXT}.TLSSession`),
    },
    [`${CONTEXT}.Peer`]: {
      address: objectType(`${CORE}.Address`),
      service: STRING,
      labels: TEXTS,
      principal: STRING,
      certificate: STRING,
    },
    [`${CONTEXT}.Request`]: { time: TIMESTAMP, http: objectType(`${CONTEXT}.HttpRequest`) },
    [`${CONTEXT}.HttpRequest`]: {
      id: STRING,
      method: STRING,
      headers: TEXTS,
      header_map: objectType(`${CORE}.HeaderMap`),
      path: STRING,
      host: STRING,
      scheme: STRING,
      query: STRING,
      fragment: STRING,
      size: INT,
      protocol: STRING,
      body: STRING,
      raw_body: BYTES,
    },
    [`${CONTEXT}.TLSSession`]: { sni: STRING },
    [`${CORE}.Address`]: {
      socket_address: objectType(`${CORE}.SocketAddress`),
      pipe: objectType(`${CORE}.Pipe`),
      envoy_internal_address: objectType(`${CORE}.EnvoyInternalAddress`),
    },
    [`${CORE}.SocketAddress`]: {
      protocol: INT,
      address: STRING,
      port_value: UINT,
      named_port: STRING,
      resolver_name: STRING,
      ipv4_compat: BOOL,
      network_namespace_filepath: STRING,
    },
    [`${CORE}.Pipe`]: { path: STRING, mode: UINT },
    [`${CORE}.EnvoyInternalAddress`]: { server_listener_name: STRING, endpoint_id: STRING },
    [`${CORE}.Metadata`]: {
      filter_metadata: mapType(STRING, JSON_OBJECT),
      typed_filter_metadata: mapType(STRING, ANY),
    },
    [`${CORE}.HeaderMap`]: { headers: listType(objectType(ENVOY.headerValue)) },
    [ENVOY.headerValue]: { key: STRING, value: STRING, raw_value: BYTES },
    [ENVOY.header]: {
      header: objectType(ENVOY.headerValue),
      append: wrapperType(BOOL),
      append_action: INT,
      keep_empty_value: BOOL,
    },
    [ENVOY.queryParameter]: { key: STRING, value: STRING },
    [ENVOY.response]: {
      status: objectType(ENVOY.status),
      denied_response: objectType(ENVOY.denied),
      ok_response: objectType(ENVOY.ok),
      dynamic_metadata: JSON_OBJECT,
    },
    [ENVOY.ok]: {
      headers: listType(objectType(ENVOY.header)),
      headers_to_remove: listType(STRING),
      dynamic_metadata: JSON_OBJECT,
      response_headers_to_add: listType(objectType(ENVOY.header)),
      query_parameters_to_set: listType(objectType(ENVOY.queryParameter)),
      query_parameters_to_remove: listType(STRING),
    },
    [ENVOY.denied]: {
      status: objectType(ENVOY.httpStatus),
      headers: listType(objectType(ENVOY.header)),
      body: STRING,
    },
    [ENVOY.httpStatus]: { code: INT },
    [ENVOY.status]: { code: INT, message: STRING, details: listType(ANY) },
  },
  "absent",
);

/** The values of the one enum that requests have, by field. */
export const ENVOY_ENUMS: Readonly<Record<string, readonly string[]>> = { protocol: ["TCP", "UDP"] };
