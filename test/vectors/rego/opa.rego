package policy

import rego.v1

# The chaos of the other guests, for OPA: settings are data, the answer is an AdmissionReview's response.
mode := input.request.object.metadata.annotations["chaos/mode"]

mode := input.request.mode if not input.request.object

mode := data.mode if {
	not input.request.mode
	not input.request.object.metadata.annotations["chaos/mode"]
}

main := {"apiVersion": "admission.k8s.io/v1", "kind": "AdmissionReview", "response": response}

base := {"uid": "from the policy"}

response := object.union(base, {"allowed": true}) if mode == "accept"

response := object.union(base, {"allowed": true, "warnings": ["first warning", "second warning"], "auditAnnotations": {"who": "chaos"}}) if mode == "accept-warn"

response := object.union(base, {"allowed": true, "status": {"message": "accepted with a message", "code": 201}}) if mode == "accept-msg"

response := object.union(base, {"allowed": false, "status": {"message": "chaos says no", "code": 418, "reason": "Invalid"}}) if mode == "reject-code"

response := object.union(base, {"allowed": false}) if mode == "reject-bare"

response := object.union(base, {"allowed": true, "patchType": "JSONPatch", "patch": base64.encode(json.marshal([{"op": "add", "path": "/metadata/labels", "value": {"chaos": "yes"}}]))}) if mode == "mutate"

response := object.union(base, {"allowed": true, "patchType": "JSONPatch", "patch": "rubbish"}) if mode == "bad-patch"

response := {"allowed": true} if mode == "no-uid"

response := {"uid": ""} if mode == "no-allowed"

response := object.union(base, {"allowed": false, "status": {"message": json.marshal(input)}}) if mode == "echo"

response := object.union(base, {"allowed": false, "status": {"message": json.marshal(data.kubernetes)}}) if mode == "resources"

response := object.union(base, {"allowed": false, "status": {"message": sprintf("%s has %d of %v and %5.1f", [input.request.mode, count([1, 2]), {"a": [1, true, null, "x"]}, 1.25])}}) if mode == "sprintf"

response := object.union(base, {"allowed": semver.compare("1.2.3", "not a version") < 0}) if mode == "builtin-error"

response := object.union(base, {"allowed": count([x | some i in numbers.range(1, 4000); some j in numbers.range(1, 4000); x := (i * j) % 7; x == 8]) == 0}) if mode == "loop"

response := object.union(base, {"allowed": count(regex.split(",", "a,b")) == 2}) if mode == "used"

unused := [yaml.marshal({}), time.now_ns(), hex.encode("a"), json.patch({}, []), trace("hello from chaos")] if mode == "log"

response := object.union(base, {"allowed": count(unused) == 5}) if mode == "log"
