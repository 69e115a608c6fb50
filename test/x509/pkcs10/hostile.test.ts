import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { LARGEST_REQUEST, readCertificationRequest } from "../../../src/x509/pkcs10/index.js";
import { attribute, der, extensionRequest, oid, pem, request, SET } from "./requests.js";

/** Octets of DER that fit into the largest request. */
const ROOM = 26_500;
const octets = (text: string): Buffer => Buffer.from(text, "latin1");

/** As many as fit. */
const filled = (piece: Buffer): Buffer[] => Array.from({ length: Math.floor(ROOM / piece.length) }, () => piece);
const uri = (text: string): Buffer => pem(request({ alternatives: [der(0x86, octets(text))] }));

const HOSTILE: Readonly<Record<string, Buffer>> = {
  "names without end": pem(request({ alternatives: filled(der(0x82)) })),
  "URIs without end": pem(request({ alternatives: filled(der(0x86)) })),
  "other names without end": pem(request({ alternatives: filled(der(0xa0, oid("1.2"), der(0xa0, der(0x0c)))) })),
  "a URI of blanks": uri(`x://a/${" ".repeat(ROOM - 100)}`),
  "a URI of colons": uri(`x://a${":".repeat(ROOM - 100)}`),
  "a URI of at signs": uri(`x://${"@".repeat(ROOM - 100)}a`),
  "a URI with a port that is none": uri(`x://a:${'"'.repeat(ROOM - 100)}`),
  "attributes without end": pem(request({ names: filled(attribute("1.2", der(0x0c))) })),
  "sets without end": pem(request({ names: filled(der(SET)) })),
  "requests for extensions without end": pem(request({ attributes: filled(extensionRequest()) })),
  "an identifier without end": pem(
    request({ names: [der(SET, der(0x30, der(6, Buffer.alloc(ROOM - 100, 1)), der(5)))] }),
  ),
  "octets that are no text": pem(
    request({ alternatives: [der(0xa0, oid("1.2"), der(0xa0, der(0x0c, Buffer.alloc(ROOM - 100, 0xe2))))] }),
  ),
  "ends of blocks": octets("\n-----END ".repeat(3_600)),
  "blocks that are none": octets("-----BEGIN X-----\nA!\n-----END X-----\n".repeat(900)),
  "beginnings of blocks": octets(`${"-----BEGIN X-----\n".repeat(2_000)}-----END X-----\n`),
  headers: octets(`-----BEGIN X-----\n${"a:\n".repeat(12_000)}-----END X-----\n`),
  "a colon far away": octets(`${"-----BEGIN X-----\n-----END Y-----\n".repeat(1_000)}:`),
};

describe("a hostile request does not hold up the server", () => {
  for (const [name, text] of Object.entries(HOSTILE)) {
    test(name, () => {
      assert.ok(text.length <= LARGEST_REQUEST, `${text.length} octets are not even looked at`);
      readCertificationRequest(text);
      const before = process.cpuUsage();
      readCertificationRequest(text);
      const { user, system } = process.cpuUsage(before);
      // They take up to 10 ms; what grows with the square of the length takes a second.
      assert.ok(user + system < 250_000, `${(user + system) / 1_000} ms`);
    });
  }
});
