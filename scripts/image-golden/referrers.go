package main

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"regexp"

	"github.com/google/go-containerregistry/pkg/v1"
)

var referrersPath = regexp.MustCompile(`^/v2/(.+)/referrers/[^/]+$`)

// withArtifactTypes completes the lists of referrers of go-containerregistry's registry, which takes the type from the config alone, lists no
// annotations, and does not filter.
func withArtifactTypes(registry http.Handler) http.Handler {
	ask := func(path string) *httptest.ResponseRecorder {
		request := httptest.NewRequest(http.MethodGet, path, nil)
		request.Header.Set("accept", "*/*")
		recorder := httptest.NewRecorder()
		registry.ServeHTTP(recorder, request)
		return recorder
	}
	return http.HandlerFunc(func(response http.ResponseWriter, request *http.Request) {
		path := referrersPath.FindStringSubmatch(request.URL.Path)
		if path == nil || request.Method != http.MethodGet {
			registry.ServeHTTP(response, request)
			return
		}
		answered := ask(request.URL.Path)
		var list v1.IndexManifest
		if err := json.Unmarshal(answered.Body.Bytes(), &list); err != nil || answered.Code != http.StatusOK {
			// A repository without manifests has no referrers.
			list = v1.IndexManifest{SchemaVersion: 2, MediaType: "application/vnd.oci.image.index.v1+json"}
		}
		wanted, kept := request.URL.Query().Get("artifactType"), []v1.Descriptor{}
		for _, one := range list.Manifests {
			var manifest struct {
				ArtifactType string            `json:"artifactType"`
				Annotations  map[string]string `json:"annotations"`
			}
			_ = json.Unmarshal(ask("/v2/"+path[1]+"/manifests/"+one.Digest.String()).Body.Bytes(), &manifest)
			if manifest.ArtifactType != "" {
				one.ArtifactType = manifest.ArtifactType
			}
			one.Annotations = manifest.Annotations
			if wanted == "" || one.ArtifactType == wanted {
				kept = append(kept, one)
			}
		}
		list.Manifests = kept
		if wanted != "" {
			response.Header().Set("oci-filters-applied", "artifactType")
		}
		response.Header().Set("content-type", "application/vnd.oci.image.index.v1+json")
		_ = json.NewEncoder(response).Encode(list)
	})
}
