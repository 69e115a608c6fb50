import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { UsageError } from "../../../src/data/command-io.js";
import { AddressRange, addressBytes, addressText } from "../../../src/world/http/address.js";
import { literalRefusal } from "../../../src/world/http/connector.js";
import { DEFAULT_BLOCKLIST, EgressRules } from "../../../src/world/http/egress-rules.js";

const rules = (blocklist: readonly string[], allowlist: readonly string[] = []) =>
  new EgressRules({ blocklist, allowlist });
/** As a URL's host says it. */
const refusedHost = (url: string, blocklist: readonly string[] = DEFAULT_BLOCKLIST): string | undefined =>
  literalRefusal(new URL(url).hostname, rules(blocklist));
const refused = (url: string, allowlist: readonly string[], blocklist: readonly string[] = []): string | undefined =>
  rules(blocklist, allowlist).refusal(new URL(url), url);

describe("addresses", () => {
  test("are the same however they are written", () => {
    for (const text of ["::ffff:127.0.0.1", "0:0:0:0:0:ffff:7f00:1", "::FFFF:7F00:0001", "127.0.0.1"]) {
      assert.deepEqual([...(addressBytes(text) ?? [])], [127, 0, 0, 1], text);
    }
    assert.equal(addressBytes("fe80::1%eth0")?.length, 16);
    assert.equal(addressBytes("localhost"), undefined);
    assert.equal(addressText(addressBytes("FE80:0:0:0:0:0:0:1") ?? new Uint8Array()), "fe80::1");
  });

  test("ranges have whole addresses, and nothing else is a range", () => {
    assert.equal(String(AddressRange.parse("10.1.2.3/8")), "10.0.0.0/8");
    assert.equal(String(AddressRange.parse("FE80::1/10")), "fe80::/10");
    assert.equal(String(AddressRange.parse("::ffff:10.0.0.0/104")), "10.0.0.0/8");
    for (const text of ["10.0.0.0/33", "::1/129", "10.0.0.0/", "10.0.0/8", "a/8", "10.0.0.0/8/8", "::ffff:1.2.3.4/8"]) {
      assert.equal(AddressRange.parse(text), undefined, text);
    }
  });
});

describe("hosts that are addresses", () => {
  test("are refused in every spelling of an address that is blocked", () => {
    const loopback = "IP 127.0.0.1 falls in blocked range 127.0.0.0/8";
    for (const host of [
      "127.0.0.1",
      "127.1",
      "127.0.0.1.",
      "0177.0.0.1",
      "0x7f.0.0.1",
      "0x7f000001",
      "2130706433",
      "%31%32%37.0.0.1",
      "１２７.0.0.1",
      "[::ffff:127.0.0.1]",
      "[::FFFF:7f00:1]",
    ]) {
      assert.equal(refusedHost(`http://${host}/`), loopback, host);
    }
    assert.equal(refusedHost("http://[::1]/"), "IP ::1 falls in blocked range ::1/128");
    assert.equal(refusedHost("http://[0:0:0:0:0:0:0:1]/"), "IP ::1 falls in blocked range ::1/128");
  });

  test("are refused where they lead to a blocked address in another way", () => {
    const metadata = "falls in blocked range 169.254.169.254/32";
    for (const host of ["[64:ff9b::a9fe:a9fe]", "[2002:a9fe:a9fe::]", "[::a9fe:a9fe]", "[::ffff:169.254.169.254]"]) {
      assert.match(refusedHost(`http://${host}/`) ?? "not refused", new RegExp(`${metadata}$`), host);
    }
    for (const host of [
      // SIIT's, RFC 2765.
      "[::ffff:0:a9fe:a9fe]",
      "[::ffff:0:169.254.169.254]",
      // Local NAT64, RFC 8215, by each length that a prefix may have (RFC 6052, 2.2).
      "[64:ff9b:1:a9fe:a9:fe00::]",
      "[64:ff9b:1:ffa9:fe:a9fe::]",
      "[64:ff9b:1:1:a9:fea9:fe00:0]",
      "[64:ff9b:1::a9fe:a9fe]",
      "[64:ff9b:1:1:2:3:a9fe:a9fe]",
    ]) {
      assert.match(refusedHost(`http://${host}/`) ?? "not refused", new RegExp(`${metadata}$`), host);
    }
    for (const host of ["[::ffff:0:7f00:1]", "[64:ff9b:1::7f00:1]", "[64:ff9b:1::]", "[64:ff9b::]"]) {
      assert.match(refusedHost(`http://${host}/`) ?? "not refused", /127\.0\.0\.0\/8$/, host);
    }
    assert.match(refusedHost("http://0.0.0.0/") ?? "", /falls in blocked range 127\.0\.0\.0\/8$/);
    assert.match(refusedHost("http://0/") ?? "", /falls in blocked range 127\.0\.0\.0\/8$/);
    assert.match(refusedHost("http://[::]/") ?? "", /falls in blocked range 127\.0\.0\.0\/8$/);
    assert.match(refusedHost("http://[fd00:ec2::254]/") ?? "", /fd00:ec2::254\/128$/);
  });

  test("are not refused where nothing blocks them", () => {
    for (const host of [
      "10.0.0.1",
      "[fe80::1]",
      "169.254.169.252",
      "[2001:db8::1]",
      "[64:ff9b:1::808:808]",
      "[::ffff:0:808:808]",
      "example.com",
    ]) {
      assert.equal(refusedHost(`http://${host}/`), undefined, host);
    }
  });
});

describe("the list of blocked hosts", () => {
  test("names hosts in whatever case, with or without a dot at the end", () => {
    const url = "http://METADATA.google.internal./x";
    assert.equal(
      refused(url, [], DEFAULT_BLOCKLIST),
      'URL "http://METADATA.google.internal./x" is blocked: hostname "METADATA.google.internal." is on the blocklist',
    );
    assert.match(
      refused("http://a:b@Evil.example:81/", [], [" EVIL.example. "]) ?? "",
      /hostname "Evil\.example" is on/,
    );
    assert.equal(refused("http://sub.evil.example/", [], ["evil.example"]), undefined);
  });

  test("blocks hosts in whatever spelling the list has them", () => {
    for (const [entry, url] of [
      ["fd00:ec2::254", "http://[fd00:ec2::254]/"],
      ["::1", "http://[0:0:0:0:0:0:0:1]/"],
      ["[::1]", "http://[::1]/"],
      ["MÜNCHEN.de", "http://münchen.de/"],
      ["xn--mnchen-3ya.de", "http://MÜNCHEN.de./"],
      ["127.1", "http://127.0.0.1/"],
    ] as const) {
      assert.match(refused(url, [], [entry]) ?? "allowed", /is on the blocklist$/, entry);
    }
    // A name may lead to an address as well.
    assert.equal(rules(["10.1.2.3"]).blockedRange(Uint8Array.of(10, 1, 2, 3)), "10.1.2.3/32");
    assert.equal(rules(["10.1.2.3"]).blockedRange(Uint8Array.of(10, 1, 2, 4)), undefined);
  });

  test("has entries that can be read, or is an error", () => {
    assert.throws(() => rules(["10.0.0.0/99"]), UsageError);
    for (const entry of [
      "evil.example:80",
      "a:b@evil.example",
      "evil.example?x",
      "*.example",
      "a b",
      "[::1",
      "[::1]:80",
      "::1%eth0",
      ".",
    ]) {
      assert.throws(() => rules([entry]), UsageError, entry);
    }
    for (const entry of [
      "https://x.example/?a=b",
      "https://x.example/v1#a",
      "https://x.example/%ff",
      "https://x.example/..;/a",
    ]) {
      assert.throws(() => rules([], [entry]), UsageError, entry);
    }
    assert.throws(() => rules([], ["example.com"]), UsageError);
    assert.throws(() => rules([], ["https:example.com"]), UsageError);
  });
});

describe("the list of what is allowed", () => {
  const allowlist = ["https://api.example.com", "http://other.example:8080/v1/", " "];

  test("holds scheme, host and port", () => {
    for (const url of [
      "https://api.example.com/anything",
      "https://API.example.com.:443/x?y",
      "http://other.example:8080/v1",
      "http://other.example:8080/v1/x",
      "http://other.example:8080/a/../v1/x",
    ]) {
      assert.equal(refused(url, allowlist), undefined, url);
    }
    assert.equal(
      refused("http://api.example.com/", allowlist),
      'URL "http://api.example.com/" is not permitted: no matching allowlist entry',
    );
    for (const url of [
      "https://api.example.com:444/",
      "https://api.example.com.evil.example/",
      "https://api.example.com@evil.example/",
      "https://sub.api.example.com/",
    ]) {
      assert.match(refused(url, allowlist) ?? "allowed", /no matching allowlist entry$/, url);
    }
  });

  test("holds whole segments of a path, whatever it is written like", () => {
    for (const path of [
      "/v10",
      "/v1/../admin",
      "/v1/%2e%2e/admin",
      "/v1/%2e%2e%2fadmin",
      "/v1%2f..%2fadmin",
      "/",
      "/v1/%ff",
      "/v1/..;/admin",
      "/v1/..;a=b/admin",
      "/v1/%2e%2e;/admin",
      "/v1/..%5cadmin",
      "/v1/%252e%252e/admin",
    ]) {
      assert.match(refused(`http://other.example:8080${path}`, allowlist) ?? "allowed", /no matching/, path);
    }
  });

  test("does not take anything off the other list", () => {
    assert.match(refused("https://api.example.com/", allowlist, ["api.example.com"]) ?? "", /is on the blocklist$/);
  });
});
