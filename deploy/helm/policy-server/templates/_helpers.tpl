{{- define "policy-server.labels" -}}
app.kubernetes.io/name: policy-server
app.kubernetes.io/instance: {{ .Release.Name }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
{{- end -}}
{{- define "policy-server.selector" -}}
app.kubernetes.io/name: policy-server
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end -}}
