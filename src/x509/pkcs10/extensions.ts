/** The extensions that a request asks for (spec certificate-request-policy.md 1.2). */
import { MalformedRequest } from "./certification-request.js";
import { Element, type ElementReader, IDENTIFIER } from "./element.js";
import { isBoolean, oidOf } from "./primitives.js";

/** The extension with the names beside the subject. */
export const SUBJECT_ALT_NAME = "2.5.29.17";

const EXTENSION_REQUEST = "1.2.840.113549.1.9.14";

/** The values of extensions by their object identifiers, each of which is unique; they are in `attributes`. */
export function readExtensions(attributes: ElementReader): ReadonlyMap<string, Element> | MalformedRequest {
  const extensions = new Map<string, Element>();
  while (!attributes.atEnd) {
    const attribute = attributes.next();
    if (attribute instanceof MalformedRequest) return attribute;
    const requested = requestedExtensions(attribute);
    if (requested === undefined) continue;
    // Nothing follows the list, since its elements are known to fill their set.
    const problem = addExtensions(requested, extensions);
    if (problem !== undefined) return problem;
  }
  return extensions;
}

/** The first value of an attribute that requests extensions; `undefined` for other attributes, and for those that Go cannot read and skips. */
function requestedExtensions(attribute: Element): Element | undefined {
  if (attribute.identifier !== IDENTIFIER.sequence) return undefined;
  const reader = attribute.inside();
  const oid = oidOf(reader.expect(IDENTIFIER.oid));
  if (oid !== EXTENSION_REQUEST) return undefined;
  const values = reader.expect(IDENTIFIER.set);
  if (values instanceof MalformedRequest) return undefined;
  const first = values.inside().next();
  return first instanceof Element && areElements(values.inside()) ? first : undefined;
}

/** Whether the whole rest of a reader is elements. */
export function areElements(reader: ElementReader): boolean {
  while (!reader.atEnd) {
    if (reader.next() instanceof MalformedRequest) return false;
  }
  return true;
}

function addExtensions(list: Element, extensions: Map<string, Element>): MalformedRequest | undefined {
  if (list.identifier !== IDENTIFIER.sequence) {
    return new MalformedRequest("asn1: structure error: requested extensions are not a sequence");
  }
  for (const reader = list.inside(); !reader.atEnd; ) {
    const extension = reader.expect(IDENTIFIER.sequence);
    if (extension instanceof MalformedRequest) return extension;
    const parts = extension.inside();
    const oid = oidOf(parts.expect(IDENTIFIER.oid));
    if (oid instanceof MalformedRequest) return oid;
    if (parts.peek(IDENTIFIER.boolean)) {
      const critical = parts.next();
      if (critical instanceof MalformedRequest) return critical;
      if (!isBoolean(critical)) return new MalformedRequest("asn1: syntax error: invalid boolean");
    }
    const value = parts.expect(IDENTIFIER.octetString);
    if (value instanceof MalformedRequest) return value;
    if (extensions.has(oid)) {
      return new MalformedRequest("x509: certificate request contains duplicate requested extensions");
    }
    extensions.set(oid, value);
  }
  return undefined;
}
