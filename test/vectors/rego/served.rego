package policy

import rego.v1

labels := object.get(input.review.object.metadata, "labels", {})

annotations := object.get(input.review.object.metadata, "annotations", {})

violation contains {"msg": sprintf("%v is no version", [labels.version])} if not semver.is_valid(labels.version)

violation contains {"msg": sprintf("missing: %v", [missing])} if {
	missing := {name | some name in input.parameters.labels; not labels[name]}
	count(missing) > 0
}

violation contains {"msg": "kept for too long"} if time.parse_duration_ns(annotations.keep) > time.parse_duration_ns("2w")

violation contains {"msg": sprintf("debug: %v", [config.debug])} if {
	config := yaml.unmarshal(annotations.config)
	config.debug != "off"
}

violation contains {"msg": sprintf("patched: %v", [patched])} if {
	patched := json.patch({"names": {"b", "a"}}, json.unmarshal(annotations.patch))
	not "c" in patched.names
}

violation contains {"msg": sprintf("%d", [count(found)])} if found := regex.find_n("a*b|", annotations.text, -1)
