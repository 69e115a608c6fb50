package policy

main := {"response": {"uid": "", "allowed": false, "status": {"message": json.marshal([y | y := f(input.request.q)])}}}

f(q) := v if {
	q == 0
	v := urlquery.decode("a+b%2B")
}

f(q) := v if {
	q == 1
	v := time.clock([0, "Asia/Kolkata"])
}

f(q) := v if {
	q == 2
	v := sprintf("%T", [{"a": 1}])
}

f(q) := v if {
	q == 3
	v := hex.decode("f")
}

f(q) := v if {
	q == 4
	v := net.cidr_contains("10.0.0.0/8", "::ffff:10.0.0.1")
}

f(q) := v if {
	q == 5
	v := floor(-1.5)
}

f(q) := v if {
	q == 6
	v := sprintf("%t", [1])
}

f(q) := v if {
	q == 7
	v := regex.find_n("", "ab", -1)
}

f(q) := v if {
	q == 8
	v := units.parse("")
}

f(q) := v if {
	q == 9
	v := time.weekday([0, "America/New_York"])
}

f(q) := v if {
	q == 10
	v := yaml.unmarshal("1: a")
}

f(q) := v if {
	q == 11
	v := yaml.unmarshal("a: 'x")
}

f(q) := v if {
	q == 12
	v := semver.is_valid("1.0.0-a..b")
}

f(q) := v if {
	q == 13
	v := [x | some x in {3, 1, 2}]
}

f(q) := v if {
	q == 14
	v := regex.split("^", "abc")
}

f(q) := v if {
	q == 15
	v := yaml.unmarshal("a: &x {b: 1}\nc: {<<: *x, b: 2}")
}

f(q) := v if {
	q == 16
	v := yaml.marshal({"a": "\u0007"})
}

f(q) := v if {
	q == 17
	v := units.parse_bytes("1b")
}

f(q) := v if {
	q == 18
	v := units.parse("1e3")
}

f(q) := v if {
	q == 19
	v := hex.decode("C3A9")
}

f(q) := v if {
	q == 20
	v := yaml.unmarshal("a: yes")
}

f(q) := v if {
	q == 21
	v := hex.encode("é")
}

f(q) := v if {
	q == 22
	v := units.parse("1K")
}

f(q) := v if {
	q == 23
	v := time.date(1.5)
}

f(q) := v if {
	q == 24
	v := yaml.marshal({1, 2})
}

f(q) := v if {
	q == 25
	v := yaml.marshal({"a": "- x"})
}

f(q) := v if {
	q == 26
	v := units.parse_bytes("1 KB")
}

f(q) := v if {
	q == 27
	v := lower("\u212a")
}

f(q) := v if {
	q == 28
	v := glob.quote_meta("a*{b}[c]?\\-,!")
}

f(q) := v if {
	q == 29
	v := time.date([0, "Local"])
}

f(q) := v if {
	q == 30
	v := sprintf("%v", [["é<\n"]])
}

f(q) := v if {
	q == 31
	v := sprintf("%q", [["a"]])
}

f(q) := v if {
	q == 32
	v := json.patch({1: "x"}, [{"op": "remove", "path": "/1"}])
}

f(q) := v if {
	q == 33
	v := json.patch({"a": 1}, [{"op": "replace", "path": "/b", "value": 1}])
}

f(q) := v if {
	q == 34
	v := upper("ǆ")
}

f(q) := v if {
	q == 35
	v := json.is_valid("01")
}

f(q) := v if {
	q == 36
	v := yaml.unmarshal("a: 1.0")
}

f(q) := v if {
	q == 37
	v := sprintf("%T", [true])
}

f(q) := v if {
	q == 38
	v := sprintf("%#v", [1])
}

f(q) := v if {
	q == 39
	v := yaml.unmarshal("null: a")
}

f(q) := v if {
	q == 40
	v := json.patch([1, 2, 3], [{"op": "add", "path": "/+1", "value": 9}])
}

f(q) := v if {
	q == 41
	v := crypto.sha256("é")
}

f(q) := v if {
	q == 42
	v := yaml.unmarshal("a: 1_000")
}

f(q) := v if {
	q == 43
	v := crypto.md5("")
}

f(q) := v if {
	q == 44
	v := sprintf("%[1]d %d", [1, 2])
}

f(q) := v if {
	q == 45
	v := to_number("1_0")
}

f(q) := v if {
	q == 46
	v := semver.compare("1.0", "1.0.0")
}

f(q) := v if {
	q == 47
	v := units.parse_bytes("0.1K")
}

f(q) := v if {
	q == 48
	v := units.parse("1E")
}

f(q) := v if {
	q == 49
	v := semver.compare("1.0.0-2", "1.0.0-10")
}

f(q) := v if {
	q == 50
	v := sprintf("%T", [1.5])
}

f(q) := v if {
	q == 51
	v := sprintf("% x", ["hi"])
}

f(q) := v if {
	q == 52
	v := time.date(0)
}

f(q) := v if {
	q == 53
	v := time.parse_rfc3339_ns("1970-01-01 00:00:00Z")
}

f(q) := v if {
	q == 54
	v := sprintf("%10s|", ["日本"])
}

f(q) := v if {
	q == 55
	v := sprintf("%d", ["1"])
}

f(q) := v if {
	q == 56
	v := base64.decode("YQ==\n")
}

f(q) := v if {
	q == 57
	v := units.parse_bytes("1Ei")
}

f(q) := v if {
	q == 58
	v := regex.template_match("a", "a", "", "}")
}

f(q) := v if {
	q == 59
	v := sprintf("%d", [1e3])
}

f(q) := v if {
	q == 60
	v := sprintf("%05.1f", [-2.25])
}

f(q) := v if {
	q == 61
	v := yaml.unmarshal("{a: 1, a: 2}")
}

f(q) := v if {
	q == 62
	v := sprintf("%v", [100000000000000000000000.0])
}

f(q) := v if {
	q == 63
	v := ceil(-0.5)
}

f(q) := v if {
	q == 64
	v := json.patch({"a": 1}, [{"op": "add", "path": "b", "value": 1}])
}

f(q) := v if {
	q == 65
	v := semver.compare("v1.0.0", "1.0.0")
}

f(q) := v if {
	q == 66
	v := units.parse_bytes("1B")
}

f(q) := v if {
	q == 67
	v := regex.find_n("a*", "baac", -1)
}

f(q) := v if {
	q == 68
	v := yaml.marshal({"a": 1e21})
}

f(q) := v if {
	q == 69
	v := time.parse_duration_ns("1d")
}

f(q) := v if {
	q == 70
	v := units.parse("0.5")
}

f(q) := v if {
	q == 71
	v := yaml.marshal([[1]])
}

f(q) := v if {
	q == 72
	v := units.parse_bytes("1kb")
}

f(q) := v if {
	q == 73
	v := units.parse("1.5Gi")
}

f(q) := v if {
	q == 74
	v := yaml.marshal({"a": "line\nline\n"})
}

f(q) := v if {
	q == 75
	v := json.patch({"a": {"b": 1}}, [{"op": "copy", "from": "/a", "path": "/a/c"}])
}

f(q) := v if {
	q == 76
	v := units.parse("100m")
}

f(q) := v if {
	q == 77
	v := semver.is_valid(1)
}

f(q) := v if {
	q == 78
	v := units.parse_bytes("1.K")
}

f(q) := v if {
	q == 79
	v := sprintf("%b", [1.5])
}

f(q) := v if {
	q == 80
	v := time.date(-1)
}

f(q) := v if {
	q == 81
	v := sprintf("%v", [[]])
}

f(q) := v if {
	q == 82
	v := json.patch({"a~b": 1}, [{"op": "remove", "path": "/a~0b"}])
}

f(q) := v if {
	q == 83
	v := units.parse_bytes(".5K")
}

f(q) := v if {
	q == 84
	v := json.is_valid("nan")
}

f(q) := v if {
	q == 85
	v := units.parse("1k")
}

f(q) := v if {
	q == 86
	v := format_int(9007199254740993, 10)
}

f(q) := v if {
	q == 87
	v := yaml.unmarshal("a: 0b11")
}

f(q) := v if {
	q == 88
	v := yaml.marshal({"a": "2001-01-01"})
}

f(q) := v if {
	q == 89
	v := units.parse_bytes("1E")
}

f(q) := v if {
	q == 90
	v := time.parse_duration_ns("0")
}

f(q) := v if {
	q == 91
	v := units.parse_bytes("-1K")
}

f(q) := v if {
	q == 92
	v := sprintf("%x %X", ["hi", "hi"])
}

f(q) := v if {
	q == 93
	v := yaml.marshal("yes")
}

f(q) := v if {
	q == 94
	v := semver.is_valid("1.0.0 ")
}

f(q) := v if {
	q == 95
	v := json.patch({"a": 1}, [])
}

f(q) := v if {
	q == 96
	v := json.patch({"a": 1}, [{"op": "test", "path": "/a", "value": 1.0}])
}

f(q) := v if {
	q == 97
	v := semver.is_valid("01.0.0")
}

f(q) := v if {
	q == 98
	v := urlquery.decode_object("=1")
}

f(q) := v if {
	q == 99
	v := json.patch({"a": {1, 2}}, [{"op": "add", "path": "/a/3", "value": 3}])
}

f(q) := v if {
	q == 100
	v := sprintf("%-8s|%8s|%.1s", ["ab", "cd", "ef"])
}

f(q) := v if {
	q == 101
	v := json.unmarshal("{\"a\":1}x")
}

f(q) := v if {
	q == 102
	v := semver.is_valid("-1.0.0")
}

f(q) := v if {
	q == 103
	v := yaml.unmarshal("true: a")
}

f(q) := v if {
	q == 104
	v := strings.any_suffix_match("abc", "")
}

f(q) := v if {
	q == 105
	v := time.parse_rfc3339_ns("1970-01-01t00:00:00z")
}

f(q) := v if {
	q == 106
	v := sprintf("%v", [123456789012345678901234567890])
}

f(q) := v if {
	q == 107
	v := sprintf("%!", [])
}

f(q) := v if {
	q == 108
	v := base64url.encode_no_pad("a?>")
}

f(q) := v if {
	q == 109
	v := yaml.unmarshal("a: !!binary aGk=")
}

f(q) := v if {
	q == 110
	v := [k | some k, _ in {"c": 1, "b": 2, "a": 3}]
}

f(q) := v if {
	q == 111
	v := time.weekday(0)
}

f(q) := v if {
	q == 112
	v := units.parse_bytes("+1K")
}

f(q) := v if {
	q == 113
	v := sprintf("%s %s", ["a"])
}

f(q) := v if {
	q == 114
	v := floor(-0.5)
}

f(q) := v if {
	q == 115
	v := semver.compare("1.0.0-01", "1.0.0-1")
}

f(q) := v if {
	q == 116
	v := units.parse("1ki")
}

f(q) := v if {
	q == 117
	v := semver.is_valid("v1.0.0")
}

f(q) := v if {
	q == 118
	v := floor(-0.1)
}

f(q) := v if {
	q == 119
	v := yaml.unmarshal("")
}

f(q) := v if {
	q == 120
	v := sprintf("%f", [1.5])
}

f(q) := v if {
	q == 121
	v := units.parse("1 k")
}

f(q) := v if {
	q == 122
	v := base64.decode("YQ")
}

f(q) := v if {
	q == 123
	v := sprintf("%#v", ["a"])
}

f(q) := v if {
	q == 124
	v := units.parse_bytes("1KIB")
}

f(q) := v if {
	q == 125
	v := sprintf("%5v|%-5v|", [1, true])
}

f(q) := v if {
	q == 126
	v := regex.split("", "abc")
}

f(q) := v if {
	q == 127
	v := urlquery.decode("%ff")
}

f(q) := v if {
	q == 128
	v := base64url.decode("YT8_")
}

f(q) := v if {
	q == 129
	v := units.parse_bytes("1e3")
}

f(q) := v if {
	q == 130
	v := json.is_valid(" 1 ")
}

f(q) := v if {
	q == 131
	v := json.unmarshal("1 2")
}

f(q) := v if {
	q == 132
	v := json.patch({"a": 1}, [{"op": "nope", "path": "/a"}])
}

f(q) := v if {
	q == 133
	v := json.patch({"a": {"b": 1}}, [{"op": "move", "from": "/a", "path": "/a/b"}])
}

f(q) := v if {
	q == 134
	v := yaml.unmarshal("a: 0o14")
}

f(q) := v if {
	q == 135
	v := sprintf("%v", [1.0])
}

f(q) := v if {
	q == 136
	v := sprintf("%f", [2])
}

f(q) := v if {
	q == 137
	v := sprintf("%.2f", [2])
}

f(q) := v if {
	q == 138
	v := json.unmarshal("01")
}

f(q) := v if {
	q == 139
	v := units.parse("1n")
}

f(q) := v if {
	q == 140
	v := strings.count("aaa", "")
}

f(q) := v if {
	q == 141
	v := json.marshal({"c": 1, "b": 2, "a": 3})
}

f(q) := v if {
	q == 142
	v := semver.is_valid("1.0.0.0")
}

f(q) := v if {
	q == 143
	v := time.date([0, ""])
}

f(q) := v if {
	q == 144
	v := sprintf("%x", [1.5])
}

f(q) := v if {
	q == 145
	v := round(-0.4)
}

f(q) := v if {
	q == 146
	v := urlquery.decode("a%zz")
}

f(q) := v if {
	q == 147
	v := sprintf("%v", [-0.0])
}

f(q) := v if {
	q == 148
	v := yaml.marshal({"a": "x #y"})
}

f(q) := v if {
	q == 149
	v := time.parse_duration_ns("2562047h47m16.854775807s")
}

f(q) := v if {
	q == 150
	v := json.is_valid("[1,]")
}

f(q) := v if {
	q == 151
	v := json.patch([1, 2], [{"op": "remove", "path": "/01"}])
}

f(q) := v if {
	q == 152
	v := units.parse_bytes("1m")
}

f(q) := v if {
	q == 153
	v := base64url.decode("YQ")
}

f(q) := v if {
	q == 154
	v := sprintf("%8d|%-8d|%08d|%+08d", [1, 2, 3, 4])
}

f(q) := v if {
	q == 155
	v := semver.is_valid("1.0.0-")
}

f(q) := v if {
	q == 156
	v := time.date(9223372036854775807)
}

f(q) := v if {
	q == 157
	v := [x | some x in {"c", "b", "a"}]
}

f(q) := v if {
	q == 158
	v := sprintf("%*s", [5, "a"])
}

f(q) := v if {
	q == 159
	v := ceil(1.0)
}

f(q) := v if {
	q == 160
	v := strings.any_prefix_match("abc", ["x", "a"])
}

f(q) := v if {
	q == 161
	v := sprintf("%v", ["é\u2028<"])
}

f(q) := v if {
	q == 162
	v := trim_space("\u0085a")
}

f(q) := v if {
	q == 163
	v := sprintf("%.2f", [2.0])
}

f(q) := v if {
	q == 164
	v := time.parse_rfc3339_ns("1970-01-01T00:00:00+24:00")
}

f(q) := v if {
	q == 165
	v := sprintf("%s", [123456789012345678901234567890])
}

f(q) := v if {
	q == 166
	v := json.patch([1,2,3], [{"op": "replace", "path": "/-", "value": 9}])
}

f(q) := v if {
	q == 167
	v := yaml.marshal({"y": "y", "1": 1})
}

f(q) := v if {
	q == 168
	v := yaml.marshal({"a": "\u2028"})
}

f(q) := v if {
	q == 169
	v := sprintf("%s", [{"a": 1}])
}

f(q) := v if {
	q == 170
	v := indexof("abc", "")
}

f(q) := v if {
	q == 171
	v := yaml.is_valid("\t")
}

f(q) := v if {
	q == 172
	v := sprintf("%v", [["a", ["b", {"c": null}]]])
}

f(q) := v if {
	q == 173
	v := semver.compare("1.0.0", "1.0.0+a")
}

f(q) := v if {
	q == 174
	v := regex.find_n("a", "aaa", 2)
}

f(q) := v if {
	q == 175
	v := yaml.marshal({"a": 0.1})
}

f(q) := v if {
	q == 176
	v := urlquery.encode_object({"a": ["1", "2"], "b": "c d"})
}

f(q) := v if {
	q == 177
	v := urlquery.decode_object("a=%zz")
}

f(q) := v if {
	q == 178
	v := units.parse_bytes("\"1K\"")
}

f(q) := v if {
	q == 179
	v := yaml.unmarshal("a: 12:30:45")
}

f(q) := v if {
	q == 180
	v := json.patch({"a": 1}, [{"op": "add", "path": "/b", "value": 2}])
}

f(q) := v if {
	q == 181
	v := urlquery.encode("a b*~/é")
}

f(q) := v if {
	q == 182
	v := regex.find_n("a", "aaa", 0)
}

f(q) := v if {
	q == 183
	v := sprintf("%d", [-5])
}

f(q) := v if {
	q == 184
	v := ceil(0.5)
}

f(q) := v if {
	q == 185
	v := yaml.unmarshal("a: -0.0")
}

f(q) := v if {
	q == 186
	v := sprintf("%s", [set()])
}

f(q) := v if {
	q == 187
	v := time.parse_duration_ns("1h30m")
}

f(q) := v if {
	q == 188
	v := sprintf("%s", ["a", "b"])
}

f(q) := v if {
	q == 189
	v := units.parse_bytes("1x")
}

f(q) := v if {
	q == 190
	v := json.patch({"1": "x"}, [{"op": "remove", "path": "/1"}])
}

f(q) := v if {
	q == 191
	v := json.patch([1], [{"op": "add", "path": "/1", "value": 2}])
}

f(q) := v if {
	q == 192
	v := yaml.marshal({"a": "#x"})
}

f(q) := v if {
	q == 193
	v := yaml.unmarshal("a: on")
}

f(q) := v if {
	q == 194
	v := yaml.unmarshal("a: .inf")
}

f(q) := v if {
	q == 195
	v := semver.is_valid("1.0.0+")
}

f(q) := v if {
	q == 196
	v := yaml.unmarshal("a: 1e3")
}

f(q) := v if {
	q == 197
	v := regex.template_match("a{[0-9]+}b", "a12b", "{", "}")
}

f(q) := v if {
	q == 198
	v := json.is_valid("1 2")
}

f(q) := v if {
	q == 199
	v := time.date(9223372036854775808)
}

f(q) := v if {
	q == 200
	v := strings.any_prefix_match([], "a")
}

f(q) := v if {
	q == 201
	v := time.parse_rfc3339_ns("1970-01-01T00:00:00,5Z")
}

f(q) := v if {
	q == 202
	v := json.patch({"a": 1}, [{"op": "test", "path": "/b", "value": null}])
}

f(q) := v if {
	q == 203
	v := semver.is_valid("99999999999999999999.0.0")
}

f(q) := v if {
	q == 204
	v := sprintf("%", [])
}

f(q) := v if {
	q == 205
	v := sprintf("%v", [{"b": {"c"}, "a": [1.5, null, "x"]}])
}

f(q) := v if {
	q == 206
	v := urlquery.decode_object("a;b=1")
}

f(q) := v if {
	q == 207
	v := time.clock(0)
}

f(q) := v if {
	q == 208
	v := sprintf("%T", ["a"])
}

f(q) := v if {
	q == 209
	v := concat(",", {"b", "a"})
}

