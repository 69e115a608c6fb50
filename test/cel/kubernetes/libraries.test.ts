/** The rows of spec kubernetes-cel.md 4.7 to 4.13. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { evaluate } from "../support/evaluate.js";

const text = (value: string) => ({ string: value });
const bool = (value: boolean) => ({ bool: value });
const int = (value: number | string) => ({ int: String(value) });
const quantity = (value: string) => ({ opaque: "kubernetes.Quantity", text: value });
const URL_ERROR = "URL parse error during conversion from string: parse ";
const CIDR_ERROR = "network address parse error during conversion from string: ";

const TABLES: Readonly<Record<string, readonly (readonly [string, unknown])[]>> = {
  URLs: [
    ["url('../a')", `${URL_ERROR}"../a": invalid URI for request`],
    ["url('')", `${URL_ERROR}"": empty url`],
    ["url(':x')", `${URL_ERROR}":x": missing protocol scheme`],
    ["url('http://a b/')", `${URL_ERROR}"http://a b/": invalid character " " in host name`],
    ["url('http://h:8a/')", `${URL_ERROR}"http://h:8a/": invalid port ":8a" after host`],
    ["url('http://h:80:80/')", `${URL_ERROR}"http://h:80:80/": invalid port ":80:80" after host`],
    ["url('http://[::1/')", `${URL_ERROR}"http://[::1/": missing ']' in host`],
    ["url('http://[1.2.3.4]/')", `${URL_ERROR}"http://[1.2.3.4]/": invalid IP-literal`],
    ["url('http://h/%zz')", `${URL_ERROR}"http://h/%zz": invalid URL escape "%zz"`],
    ["url('http://u<@h/')", `${URL_ERROR}"http://u<@h/": net/url: invalid userinfo`],
    ["url('http://h/\\n')", `${URL_ERROR}"http://h/\\n": net/url: invalid control character in URL`],
    ["url('HTTPS://u:p@Example.com:443/a?k#f').getScheme()", text("https")],
    ["url('https://u:p@Example.com:443/a').getHost()", text("Example.com:443")],
    ["url('https://[::1]:80/a').getHostname()", text("::1")],
    ["url('https://[::1]:80/a').getPort()", text("80")],
    ["url('https://h/a b/\\u00e9%2F').getEscapedPath()", text("/a%20b/%C3%A9/")],
    ["url('https://h/a%2Fb').getEscapedPath()", text("/a%2Fb")],
    [
      "url('https://h/?k=1&k=+2&x=%zz&y;=1&e').getQuery()",
      {
        map: [
          [text("e"), { list: [text("")] }],
          [text("k"), { list: [text("1"), text(" 2")] }],
        ],
      },
    ],
    ["url('http://h/a#b') == url('http://h/a#b')", bool(true)],
    ["url('http://h/a') == url('http://h/b')", bool(false)],
    ["dyn(url('/a')) == 1", "no such overload"],
    ["isURL('http://h/#%zz')", bool(false)],
    ["isURL('*')", bool(true)],
  ],
  addresses: [
    [
      "ip('127.0.0.01')",
      'IP Address "127.0.0.01" parse error during conversion from string: ParseAddr("127.0.0.01"): IPv4 field has octet with leading zero',
    ],
    [
      "ip('1.2.3.')",
      'IP Address "1.2.3." parse error during conversion from string: ParseAddr("1.2.3."): IPv4 field must have at least one digit (at ".")',
    ],
    [
      "ip('1::2::3')",
      'IP Address "1::2::3" parse error during conversion from string: ParseAddr("1::2::3"): multiple :: in address (at ":3")',
    ],
    ["ip('fe80::1%eth0')", 'IP address "fe80::1%eth0" with zone value is not allowed'],
    ["ip('::ffff:1.2.3.4')", 'IPv4-mapped IPv6 address "::ffff:1.2.3.4" is not allowed'],
    ["string(ip('2001:DB8:0:0:1:0:0:1'))", text("2001:db8::1:0:0:1")],
    ["string(ip('::1.2.3.4'))", text("::102:304")],
    ["ip.isCanonical('2001:DB8::1')", bool(false)],
    ["ip('::1').family()", int(6)],
    ["ip('10.0.0.1').isGlobalUnicast()", bool(true)],
    ["ip('255.255.255.255').isGlobalUnicast()", bool(false)],
    ["ip('224.0.0.1').isLinkLocalMulticast()", bool(true)],
    ["ip('febf::').isLinkLocalUnicast()", bool(true)],
    ["type(ip('::1')) == net.IP", bool(true)],
  ],
  "blocks of addresses": [
    ["cidr('10.1.2.3/8').masked()", { opaque: "net.CIDR", text: "10.0.0.0/8" }],
    ["string(cidr('10.1.2.3/8'))", text("10.1.2.3/8")],
    ["string(cidr('fe80::1/9').masked())", text("fe80::/9")],
    ["cidr('10.0.0.0/8').containsIP('10.2.3.4')", bool(true)],
    ["cidr('10.0.0.0/8').containsIP('::1')", bool(false)],
    ["cidr('10.0.0.0/8').containsIP('bogus')", "no such overload"],
    ["cidr('10.0.0.0/8').containsCIDR('10.1.0.0/16')", bool(true)],
    ["cidr('10.1.0.0/16').containsCIDR(cidr('10.0.0.0/8'))", bool(false)],
    ["cidr('10.0.0.0/8').containsCIDR('bogus')", `${CIDR_ERROR}${CIDR_ERROR}netip.ParsePrefix("bogus"): no '/'`],
    ["cidr('1.2.3.4/024')", `${CIDR_ERROR}${CIDR_ERROR}netip.ParsePrefix("1.2.3.4/024"): bad bits after slash: "024"`],
    ["cidr('1.2.3.4/33')", `${CIDR_ERROR}${CIDR_ERROR}netip.ParsePrefix("1.2.3.4/33"): prefix length out of range`],
    ["cidr('::ffff:1.2.3.4/96')", `${CIDR_ERROR}IPv4-mapped IPv6 address "::ffff:1.2.3.4/96" is not allowed`],
    ["cidr('10.0.0.0/8') == cidr('10.0.0.1/8')", bool(false)],
  ],
  quantities: [
    ["quantity('1000m').asInteger()", "cannot convert value to integer"],
    ["quantity('1.0').isInteger()", bool(false)],
    ["quantity('100Ti').isInteger()", bool(false)],
    ["quantity('4Ki').asInteger()", int(4096)],
    ["quantity('1E').asInteger()", int("1000000000000000000")],
    ["quantity('Mi')", quantity("0")],
    ["quantity('Ei')", "unable to parse numeric part of quantity"],
    ["quantity('200K')", "unable to parse quantity's suffix"],
    ["quantity('')", "quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'"],
    ["quantity('50k').add(quantity('20k')) == quantity('70k')", bool(true)],
    ["quantity('70k') == quantity('50k').add(quantity('20k'))", "no such overload"],
    ["quantity('1.5').add(quantity('0.5')).isInteger()", bool(false)],
    ["quantity('9223372036854775807').add(1)", quantity("9223372036854775808")],
    ["quantity('0.0000000001')", quantity("1n")],
    ["quantity('16Ei')", quantity("9223372036854775807")],
    ["quantity('1.5Gi')", quantity("1536Mi")],
    ["quantity('100').sub(quantity('0.1'))", quantity("99900m")],
    ["quantity('1Mi').compareTo(quantity('1M'))", int(1)],
    ["quantity('1e1000000').isGreaterThan(quantity('1e999999'))", bool(true)],
    ["quantity('1e1000000').add(quantity('1'))", "operation cancelled: a value or pattern is too large"],
    ["quantity('1.5').asApproximateFloat()", { double: "1.5" }],
    ["sign(quantity('-1'))", int(-1)],
  ],
  "semantic versions": [
    ["semver('1.0.0+a') == semver('1.0.0+b')", bool(true)],
    ["semver('1.0.0-rc.9').isLessThan(semver('1.0.0-rc.10'))", bool(true)],
    ["semver('1.0.0-alpha').compareTo(semver('1.0.0'))", int(-1)],
    ["semver('v01.2', true)", { opaque: "kubernetes.Semver", text: "1.2.0" }],
    ["semver('18446744073709551615.0.0').major()", int(-1)],
    ["semver('')", "Version string empty"],
    ["semver('1.0')", "No Major.Minor.Patch elements found"],
    ["semver('v1.0.0')", 'Invalid character(s) found in major number "v1"'],
    ["semver('01.0.0')", 'Major number must not contain leading zeroes "01"'],
    ["semver('1.0.0-01')", 'Numeric PreRelease version must not contain leading zeroes "01"'],
    ["semver('1.0.0-')", "Prerelease is empty"],
    ["semver('1.0.0+')", "Build meta data is empty"],
    ["semver('1-a', true)", "short version cannot contain PreRelease/Build meta data"],
    ["semver('18446744073709551616.0.0')", 'strconv.ParseUint: parsing "18446744073709551616": value out of range'],
  ],
  "named formats": [
    ["format.dns1123Label().validate('ok-1')", { optional: null }],
    ["format.dns1123Label().validate('a.b')", { optional: { list: [text("must not contain dots")] } }],
    ["format.dns1123LabelPrefix().validate('a-')", { optional: null }],
    ["format.uuid().validate('x').value()", { list: [text("does not match the UUID format")] }],
    ["format.date().validate('2023-02-29').hasValue()", bool(true)],
    ["format.datetime().validate('2024-02-29t23:59:59.5+05:30').hasValue()", bool(false)],
    ["format.byte().validate('YQ==').hasValue()", bool(false)],
    ["format.byte().validate('').value()", { list: [text("invalid base64")] }],
    ["format.qualifiedName().validate('example.com/MyName').hasValue()", bool(false)],
    ["format.labelValue().validate('').hasValue()", bool(false)],
    ["format.named('nope')", { optional: null }],
    ["format.named('uri').value() == format.uri()", bool(true)],
  ],
};

for (const [name, table] of Object.entries(TABLES)) {
  describe(name, () => {
    for (const [source, result] of table) test(source, () => assert.deepEqual(evaluate(source), result));
  });
}
