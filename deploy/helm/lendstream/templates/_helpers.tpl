{{- define "lendstream.fullname" -}}
{{- if contains .Chart.Name .Release.Name -}}
{{- .Release.Name | trunc 50 | trimSuffix "-" -}}
{{- else -}}
{{- printf "%s-%s" .Release.Name .Chart.Name | trunc 50 | trimSuffix "-" -}}
{{- end -}}
{{- end -}}

{{- define "lendstream.selectorLabels" -}}
app.kubernetes.io/name: {{ .Chart.Name }}
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end -}}

{{- define "lendstream.labels" -}}
{{ include "lendstream.selectorLabels" . }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
helm.sh/chart: {{ printf "%s-%s" .Chart.Name .Chart.Version }}
{{- end -}}

{{- define "lendstream.apiKeysSecret" -}}
{{- .Values.apiKeys.existingSecret | default (printf "%s-api-keys" (include "lendstream.fullname" .)) -}}
{{- end -}}

{{/*
The pod of a process. In: a dict with root, component, roles and resources; data is a volume, or nil when the pod's
controller makes it.
*/}}
{{- define "lendstream.podTemplate" -}}
{{- $values := .root.Values -}}
{{- $scheme := ternary "HTTPS" "HTTP" (ne $values.tls.secret "") -}}
metadata:
  labels:
    {{- include "lendstream.labels" .root | nindent 4 }}
    app.kubernetes.io/component: {{ .component }}
  annotations:
    {{- if not $values.apiKeys.existingSecret }}
    # The keys are read at the start: other keys are other pods.
    checksum/api-keys: {{ $values.apiKeys.values | toJson | sha256sum }}
    {{- end }}
    {{- with $values.podAnnotations }}
    {{- toYaml . | nindent 4 }}
    {{- end }}
spec:
  automountServiceAccountToken: false
  # Variables that are made from the names of services must not be taken for settings.
  enableServiceLinks: false
  {{- with $values.serviceAccount.name }}
  serviceAccountName: {{ . }}
  {{- end }}
  {{- with $values.imagePullSecrets }}
  imagePullSecrets:
    {{- toYaml . | nindent 4 }}
  {{- end }}
  # The pause before SIGTERM, and the time in which open streams get their last line.
  terminationGracePeriodSeconds: 35
  securityContext:
    runAsNonRoot: true
    runAsUser: 1000
    runAsGroup: 1000
    fsGroup: 1000
    fsGroupChangePolicy: OnRootMismatch
    seccompProfile:
      type: RuntimeDefault
  topologySpreadConstraints:
    - maxSkew: 1
      topologyKey: kubernetes.io/hostname
      whenUnsatisfiable: ScheduleAnyway
      labelSelector:
        matchLabels:
          {{- include "lendstream.selectorLabels" .root | nindent 10 }}
          app.kubernetes.io/component: {{ .component }}
  containers:
    - name: lendstream
      image: {{ printf "%s:%s" $values.image.repository ($values.image.tag | default .root.Chart.AppVersion) | quote }}
      imagePullPolicy: {{ $values.image.pullPolicy }}
      ports:
        - name: http
          containerPort: 8080
      env:
        - name: HOST
          value: 0.0.0.0
        - name: PORT
          value: '8080'
        # A folder inside the volume, whose own mode allows more than the owner.
        - name: DATA_DIR
          value: /data/lendstream
        - name: ROLES
          value: {{ .roles }}
        - name: API_KEYS_FILE
          value: /etc/lendstream/api-keys/api-keys
        {{- if $values.tls.secret }}
        - name: TLS_CERTIFICATE
          value: /etc/lendstream/tls/tls.crt
        - name: TLS_KEY
          value: /etc/lendstream/tls/tls.key
        {{- if $values.tls.clientCertificates }}
        - name: TLS_CLIENT_CA
          value: /etc/lendstream/tls/ca.crt
        {{- end }}
        {{- end }}
        {{- range $name, $value := $values.limits }}
        - name: {{ $name | snakecase | upper }}
          value: {{ $value | int64 | quote }}
        {{- end }}
        {{- /* Helm reads numbers as floating-point ones, and would write large ones with an exponent. */}}
        {{- range $name, $value := $values.settings }}
        - name: {{ $name }}
          value: {{ ternary ($value | int64 | toString) ($value | toString) (kindIs "float64" $value) | quote }}
        {{- end }}
        {{- if eq $values.mode "cluster" }}
        {{- include "lendstream.clusterEnvironment" .root | nindent 8 }}
        {{- end }}
      lifecycle:
        preStop:
          exec:
            # Until no proxy sends new requests here.
            command: [sleep, '5']
      # Whether the process is alive. An outage of Kafka or Redis is no reason to start it again; see /ready.
      startupProbe:
        httpGet: { path: /health, port: http, scheme: {{ $scheme }} }
        periodSeconds: 2
        failureThreshold: 60
      livenessProbe:
        httpGet: { path: /health, port: http, scheme: {{ $scheme }} }
        periodSeconds: 10
        timeoutSeconds: 5
        failureThreshold: 6
      readinessProbe:
        httpGet: { path: /ready, port: http, scheme: {{ $scheme }} }
        periodSeconds: 5
        timeoutSeconds: 5
        failureThreshold: 2
      resources:
        {{- toYaml .resources | nindent 8 }}
      securityContext:
        allowPrivilegeEscalation: false
        readOnlyRootFilesystem: true
        capabilities:
          drop: [ALL]
      volumeMounts:
        - name: data
          mountPath: /data
        - name: temporary
          mountPath: /tmp
        - name: api-keys
          mountPath: /etc/lendstream/api-keys
          readOnly: true
        {{- if $values.tls.secret }}
        # The folder and not its files, which would not change with the Secret.
        - name: tls
          mountPath: /etc/lendstream/tls
          readOnly: true
        {{- end }}
        {{- if and (eq $values.mode "cluster") $values.kafka.tls.enabled $values.kafka.tls.secret }}
        - name: kafka-tls
          mountPath: /etc/lendstream/kafka-tls
          readOnly: true
        {{- end }}
  volumes:
    {{- with .data }}
    - name: data
      {{- toYaml . | nindent 6 }}
    {{- end }}
    - name: temporary
      emptyDir: {}
    - name: api-keys
      secret:
        secretName: {{ include "lendstream.apiKeysSecret" .root }}
        defaultMode: 288
    {{- if $values.tls.secret }}
    - name: tls
      secret:
        secretName: {{ $values.tls.secret }}
        defaultMode: 288
    {{- end }}
    {{- if and (eq $values.mode "cluster") $values.kafka.tls.enabled $values.kafka.tls.secret }}
    - name: kafka-tls
      secret:
        secretName: {{ $values.kafka.tls.secret }}
        defaultMode: 288
    {{- end }}
  {{- with $values.nodeSelector }}
  nodeSelector:
    {{- toYaml . | nindent 4 }}
  {{- end }}
  {{- with $values.tolerations }}
  tolerations:
    {{- toYaml . | nindent 4 }}
  {{- end }}
  {{- with $values.affinity }}
  affinity:
    {{- toYaml . | nindent 4 }}
  {{- end }}
{{- end -}}

{{- define "lendstream.clusterEnvironment" -}}
- name: KAFKA_BROKERS
  value: {{ join "," .Values.kafka.brokers | quote }}
- name: KAFKA_REPLICATION_FACTOR
  value: {{ .Values.kafka.replicationFactor | toString | quote }}
- name: KAFKA_MIN_INSYNC_REPLICAS
  value: {{ .Values.kafka.minInsyncReplicas | toString | quote }}
{{- if .Values.kafka.tls.enabled }}
- name: KAFKA_TLS
  value: 'true'
{{- if .Values.kafka.tls.secret }}
- name: KAFKA_TLS_CA
  value: /etc/lendstream/kafka-tls/ca.crt
{{- if .Values.kafka.tls.hasClientCertificate }}
- name: KAFKA_TLS_CERTIFICATE
  value: /etc/lendstream/kafka-tls/tls.crt
- name: KAFKA_TLS_KEY
  value: /etc/lendstream/kafka-tls/tls.key
{{- end }}
{{- end }}
{{- end }}
{{- with .Values.kafka.sasl }}
{{- if .mechanism }}
- name: KAFKA_SASL_MECHANISM
  value: {{ .mechanism }}
- name: KAFKA_SASL_USERNAME
  valueFrom:
    secretKeyRef: { name: {{ .secret }}, key: username }
- name: KAFKA_SASL_PASSWORD
  valueFrom:
    secretKeyRef: { name: {{ .secret }}, key: password }
{{- end }}
{{- end }}
- name: REDIS_URL
{{- if .Values.redis.existingSecret }}
  valueFrom:
    secretKeyRef: { name: {{ .Values.redis.existingSecret }}, key: redis-url }
{{- else }}
  value: {{ .Values.redis.url | quote }}
{{- end }}
{{- end -}}
