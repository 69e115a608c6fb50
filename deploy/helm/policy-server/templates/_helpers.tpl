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

{{- define "policy-server.tlsSecret" -}}
{{- if .Values.certificate.certManager -}}
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
- name: {{ $policy }}.{{ $root.Values.webhookDomain }}
  admissionReviewVersions: [v1]
  clientConfig:
    service:
      name: {{ include "policy-server.name" $root }}
      namespace: {{ $root.Release.Namespace }}
      path: /validate/{{ $policy }}
      port: 443
    {{- if not $root.Values.certificate.certManager }}
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
          {{- concat (list $root.Release.Namespace) $root.Values.exemptNamespaces | uniq | toYaml | nindent 10 }}
      {{- with $selector.matchExpressions }}
      {{- toYaml . | nindent 6 }}
      {{- end }}
  {{- with $webhook.objectSelector }}
  objectSelector:
    {{- toYaml . | nindent 4 }}
  {{- end }}
  {{- with $webhook.matchConditions }}
  matchConditions:
    {{- toYaml . | nindent 4 }}
  {{- end }}
{{- end }}
{{- end }}
{{- end }}
