{{- define "policy-server.name" -}}
{{- .Release.Name | trunc 50 | trimSuffix "-" -}}
{{- end }}

{{- define "policy-server.selector" -}}
app.kubernetes.io/name: policy-server
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end }}

{{- define "policy-server.labels" -}}
{{ include "policy-server.selector" . }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
helm.sh/chart: {{ .Chart.Name }}-{{ .Chart.Version }}
{{- end }}

{{- define "policy-server.metadata" -}}
name: {{ include "policy-server.name" . }}
namespace: {{ .Release.Namespace }}
labels:
  {{- include "policy-server.labels" . | nindent 2 }}
{{- end }}

{{/* A digest says which image it is; the tag beside it is for people. */}}
{{- define "policy-server.image" -}}
{{- $tag := default .Chart.AppVersion .Values.image.tag -}}
{{- with .Values.image.digest -}}
{{ $.Values.image.repository }}{{ with $.Values.image.tag }}:{{ . }}{{ end }}@{{ . }}
{{- else -}}
{{ .Values.image.repository }}:{{ $tag }}
{{- end -}}
{{- end }}

{{/* The policies file: one that exists, or one of policies in the values. With policies from the cluster there may be none. */}}
{{- define "policy-server.policiesFile" -}}
{{- if or .Values.existingPolicies .Values.policies (not .Values.fromCluster.enabled) -}}
true
{{- end -}}
{{- end }}

{{/* Whether the server makes authority and certificate itself. */}}
{{- define "policy-server.ownAuthority" -}}
{{- if and .Values.fromCluster.enabled .Values.certificate.ownAuthority -}}
true
{{- end -}}
{{- end }}

{{- define "policy-server.certManager" -}}
{{- if and .Values.certificate.certManager (not (include "policy-server.ownAuthority" .)) -}}
true
{{- end -}}
{{- end }}

{{/* The binding of a ClusterRole to the server. Takes root, and role. */}}
{{- define "policy-server.clusterBinding" }}
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRoleBinding
metadata:
  name: {{ .role }}
  labels:
    {{- include "policy-server.labels" .root | nindent 4 }}
roleRef:
  apiGroup: rbac.authorization.k8s.io
  kind: ClusterRole
  name: {{ .role }}
subjects:
  - kind: ServiceAccount
    name: {{ include "policy-server.name" .root }}
    namespace: {{ .root.Release.Namespace }}
{{- end }}

{{- define "policy-server.tlsSecret" -}}
{{- if or (include "policy-server.ownAuthority" .) .Values.certificate.certManager -}}
{{ include "policy-server.name" . }}-tls
{{- else -}}
{{ required "certificate.existingSecret is needed when certificate.certManager is false" .Values.certificate.existingSecret }}
{{- end -}}
{{- end }}

{{/* The webhooks of one kind. Takes root, and mutating: true or false. */}}
{{- define "policy-server.webhooks" -}}
{{- $root := .root -}}
{{- range $policy, $webhook := $root.Values.webhooks }}
{{- if eq (default false $webhook.mutating) $.mutating }}
{{- if not (or $root.Values.existingPolicies (hasKey $root.Values.policies $policy)) }}
{{- fail (printf "webhooks.%s: policies has no such policy" $policy) }}
{{- end }}
{{- $selector := default dict $webhook.namespaceSelector }}
{{- $names := list $root.Release.Namespace }}
{{- $patterns := list }}
{{- range $root.Values.exemptNamespaces }}
{{- if contains "*" . }}
{{- $patterns = append $patterns (regexReplaceAll "\\*+" . ".*") }}
{{- else }}
{{- $names = append $names . }}
{{- end }}
{{- end }}
- name: {{ $policy }}.{{ $root.Values.webhookDomain }}
  admissionReviewVersions: [v1]
  clientConfig:
    service:
      name: {{ include "policy-server.name" $root }}
      namespace: {{ $root.Release.Namespace }}
      path: /validate/{{ $policy }}
      port: 443
    {{- if include "policy-server.ownAuthority" $root }}
    {{- fail (printf "webhooks.%s: with certificate.ownAuthority only webhooks that the server makes itself are trusted" $policy) }}
    {{- else if not $root.Values.certificate.certManager }}
    caBundle: {{ required "certificate.caBundle is needed when certificate.certManager is false" $root.Values.certificate.caBundle | b64enc }}
    {{- end }}
  rules:
    {{- toYaml $webhook.rules | nindent 4 }}
  failurePolicy: {{ default "Fail" $webhook.failurePolicy }}
  matchPolicy: {{ default "Equivalent" $webhook.matchPolicy }}
  sideEffects: {{ default "None" $webhook.sideEffects }}
  timeoutSeconds: {{ default 10 $webhook.timeoutSeconds }}
  {{- if $.mutating }}
  reinvocationPolicy: {{ default "Never" $webhook.reinvocationPolicy }}
  {{- end }}
  namespaceSelector:
    {{- with $selector.matchLabels }}
    matchLabels:
      {{- toYaml . | nindent 6 }}
    {{- end }}
    matchExpressions:
      # The server's own namespace must not wait for the server.
      - key: kubernetes.io/metadata.name
        operator: NotIn
        values:
          {{- $names | uniq | toYaml | nindent 10 }}
      {{- with $selector.matchExpressions }}
      {{- toYaml . | nindent 6 }}
      {{- end }}
  {{- with $webhook.objectSelector }}
  objectSelector:
    {{- toYaml . | nindent 4 }}
  {{- end }}
  {{- if or $patterns $webhook.matchConditions }}
  matchConditions:
    {{- with $patterns }}
    - name: policy-server.admission/exempt-namespaces
      expression: '!(has(request.namespace) && request.namespace.matches("^({{ join "|" . }})$"))'
    {{- end }}
    {{- with $webhook.matchConditions }}
    {{- toYaml . | nindent 4 }}
    {{- end }}
  {{- end }}
{{- end }}
{{- end }}
{{- end }}
