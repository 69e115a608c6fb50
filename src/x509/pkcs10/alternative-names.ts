/** The first, strict parse of subjectAltName: names of four types, each with exactly its tag (spec certificate-request-policy.md 1.2). */
import { UrlError } from "../../data/go/url-escape.js";
import { parseUrlReference, urlText } from "../../data/go/url-reference.js";
import { ipText } from "../ip-text.js";
import { MalformedRequest } from "./certification-request.js";
import { Element, IDENTIFIER } from "./element.js";
import { asciiText } from "./text.js";

const MAIL = 0x81;
const DNS = 0x82;
const URI = 0x86;
const ADDRESS = 0x87;

/** The names of the four types that Go parses into lists of their own. */
export interface AlternativeNames {
  readonly dnsNames: readonly string[];
  readonly ipAddresses: readonly string[];
  readonly uris: readonly string[];
  readonly emailAddresses: readonly string[];
}

/** Parses the value of the extension; bytes after its sequence are ignored. */
export function readAlternativeNames(extension: Element): AlternativeNames | MalformedRequest {
  const list = extension.inside().expect(IDENTIFIER.sequence);
  if (list instanceof MalformedRequest) return new MalformedRequest("x509: invalid subject alternative names");
  const names = {
    dnsNames: [] as string[],
    ipAddresses: [] as string[],
    uris: [] as string[],
    emailAddresses: [] as string[],
  };
  for (const reader = list.inside(); !reader.atEnd; ) {
    const element = reader.next();
    if (!(element instanceof Element) || element.hasHighTag) {
      return new MalformedRequest("x509: invalid subject alternative name");
    }
    switch (element.identifier) {
      case MAIL: {
        const mail = asciiText(element);
        if (mail === undefined) return new MalformedRequest("x509: SAN rfc822Name is malformed");
        names.emailAddresses.push(mail);
        break;
      }
      case DNS: {
        const name = asciiText(element);
        if (name === undefined) return new MalformedRequest("x509: SAN dNSName is malformed");
        names.dnsNames.push(name);
        break;
      }
      case URI: {
        const uri = readUri(element);
        if (uri instanceof MalformedRequest) return uri;
        names.uris.push(uri);
        break;
      }
      case ADDRESS: {
        const address = readAddress(element);
        if (address instanceof MalformedRequest) return address;
        names.ipAddresses.push(address);
        break;
      }
    }
  }
  return names;
}

function readUri(element: Element): string | MalformedRequest {
  const text = asciiText(element);
  if (text === undefined) return new MalformedRequest("x509: SAN uniformResourceIdentifier is malformed");
  const uri = parseUrlReference(text);
  if (uri instanceof UrlError) return new MalformedRequest(`x509: cannot parse URI: ${uri.message}`);
  return isHost(uri.host) ? urlText(uri) : new MalformedRequest("x509: cannot parse URI: invalid domain");
}

/** Whether a URI's host (port included; octets) is empty, or labels of visible ASCII with a dot between two of them. */
const isHost = (host: string): boolean => host === "" || /^[!-\-/-~]+(?:\.[!-\-/-~]+)*$/.test(host);

function readAddress({ content, length }: Element): string | MalformedRequest {
  return ipText(content) ?? new MalformedRequest(`x509: cannot parse IP address of length ${length}`);
}
