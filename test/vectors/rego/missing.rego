package policy

import rego.v1

main := {"response": {"uid": "", "allowed": http.send({"method": "GET", "url": "http://example.org"}).status_code == 200, "later": rand.intn("x", 3)}}
