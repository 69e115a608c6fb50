package policy

import rego.v1

violation contains {"msg": sprintf("container %v is privileged", [container.name])} if {
	some container in input.review.object.spec.containers
	container.securityContext.privileged
	not container.name in input.parameters.exempt
}

violation contains {"msg": "too many", "details": {"namespaces": count(data.inventory.cluster.v1.Namespace)}} if {
	count(data.inventory.cluster.v1.Namespace) > 1
}

violation contains {"msg": json.marshal(data.inventory)} if input.parameters.show

violation contains {} if input.parameters.silent
