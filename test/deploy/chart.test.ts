import { Ajv } from 'ajv';
import { expect } from 'chai';
import { spawnSync } from 'node:child_process';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, it } from 'mocha';
import { parse, parseAllDocuments } from 'yaml';
import { readAlerts } from '../../scripts/deployment/alerts.ts';
import { findProgram } from '../../scripts/deployment/cached-program.ts';
import { readConfig, type Config } from '../../src/config.ts';
import { packageRoot } from '../../src/package-root.ts';
import { removeFolder, temporaryFolder } from '../support/processes/service.ts';

const chart = join(packageRoot, 'deploy/helm/lendstream');
const read = (file: string): string => readFileSync(join(chart, file), 'utf8');

type Values = Record<string, unknown>;

const isValues = (value: unknown): value is Values =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** Values on top of others, as Helm merges them. */
function merged(below: Values, above: Values): Values {
  const both = Object.entries(above).map(([name, value]): [string, unknown] => {
    const under = below[name];
    return [name, isValues(value) && isValues(under) ? merged(under, value) : value];
  });
  return { ...below, ...Object.fromEntries(both) };
}

const defaults = parse(read('values.yaml')) as Values;
const examples = ['standalone', 'cluster'] as const;
const exampleValues = (name: string): Values => parse(read(`ci/${name}-values.yaml`)) as Values;

/** The version of Kubernetes whose schemas are used: the newest that kubectl-validate has. */
const kubernetesVersion = '1.30';

interface Container {
  readonly image: string;
  readonly env: { name: string; value?: string; valueFrom?: object }[];
  readonly securityContext: object;
  readonly [probe: string]: unknown;
}

interface Pod {
  readonly securityContext: object;
  readonly automountServiceAccountToken: boolean;
  readonly containers: Container[];
  readonly volumes: { name: string; emptyDir?: object; ephemeral?: object }[];
}

interface Resource {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: { readonly name: string };
  readonly spec: {
    readonly replicas?: number;
    readonly template?: { readonly spec: Pod };
    readonly volumeClaimTemplates?: { spec: object }[];
    readonly groups?: { rules: { alert: string; annotations: { runbook_url: string } }[] }[];
    readonly [field: string]: unknown;
  };
}

describe('the values of the Helm chart', () => {
  const isValid = new Ajv({ strict: false }).compile(JSON.parse(read('values.schema.json')) as object);
  const accepts = (values: Values): boolean => isValid(merged(defaults, values));

  for (const name of examples) {
    it(`accept the example of an installation: ${name}`, () => {
      expect(accepts(exampleValues(name)), JSON.stringify(isValid.errors)).to.equal(true);
    });
  }

  it('need an API key, and for a cluster brokers and a Redis', () => {
    const keys = { apiKeys: { values: ['sixteen-letters-'] } };
    expect(accepts({})).to.equal(false);
    expect(accepts(keys)).to.equal(true);
    expect(accepts({ apiKeys: { values: ['fifteen-letters'] } })).to.equal(false);
    const redis = { url: 'redis://redis:6379' };
    const kafka = { brokers: ['kafka:9092'] };
    expect(accepts({ ...keys, mode: 'cluster', kafka, redis })).to.equal(true);
    expect(accepts({ ...keys, mode: 'cluster', redis })).to.equal(false);
    expect(accepts({ ...keys, mode: 'cluster', kafka })).to.equal(false);
  });

  it('need a Secret for certificates of clients', () => {
    const keys = exampleValues('standalone');
    expect(accepts({ ...keys, tls: { secret: 'tls' } })).to.equal(true);
    expect(accepts({ ...keys, tls: { clientCertificates: true } })).to.equal(false);
    expect(accepts({ ...keys, settings: { TLS_KEY: '/elsewhere' } })).to.equal(false);
  });

  it('have the limits of keys and addresses, with the defaults of the program', () => {
    const { keyLimits, addressLimits } = readConfig({ API_KEYS: 'a-key-for-this-example' });
    expect(defaults['limits']).to.deep.equal({
      keyRequestsPerSecond: keyLimits.requests_per_second,
      keyCommitsPerSecond: keyLimits.commits_per_second,
      keyBodyBytesInFlight: keyLimits.body_bytes_in_flight,
      keyOpenStreams: keyLimits.open_streams,
      keySubscriptions: keyLimits.subscriptions,
      keyEventTypes: keyLimits.event_types,
      failedLoginsPerMinute: addressLimits.failedLoginsPerMinute,
      addressRequestsPerSecond: addressLimits.requestsPerSecond,
    });
    const keys = exampleValues('standalone');
    const limited = (limits: Values): boolean => accepts({ ...keys, limits });
    expect([limited({ keyOpenStreams: 0 }), limited({ keyOpenStreams: 1_000_000 })]).to.deep.equal([true, true]);
    expect([limited({ keyOpenStreams: -1 }), limited({ keyOpenStreams: 1_000_001 })]).to.deep.equal([false, false]);
    const bytes = 16 * 1024 * 1024;
    expect([0, bytes, bytes - 1].map((each) => limited({ keyBodyBytesInFlight: each }))).to.deep.equal([
      true,
      true,
      false,
    ]);
    expect(limited({ keyRequestsPerMinute: 1 })).to.equal(false);
    expect(accepts({ ...keys, settings: { KEY_OPEN_STREAMS: 1 } })).to.equal(false);
  });

  it('refuse what does not exist, and settings that the chart makes itself', () => {
    const keys = exampleValues('standalone');
    expect(accepts({ ...keys, replicas: 2 })).to.equal(false);
    expect(accepts({ ...keys, settings: { RETENTION_HOURS: 24 } })).to.equal(true);
    expect(accepts({ ...keys, settings: { DATA_DIR: '/elsewhere' } })).to.equal(false);
    expect(accepts({ ...keys, settings: { 'retention hours': 24 } })).to.equal(false);
  });

  it('belong to the version of the program', () => {
    const { version } = JSON.parse(readFileSync(join(packageRoot, 'package.json'), 'utf8')) as { version: string };
    expect((parse(read('Chart.yaml')) as { appVersion: string }).appVersion).to.equal(version);
  });
});

describe('the Helm chart', () => {
  let folder: string;
  let helm: string;
  const rendered = new Map<string, Resource[]>();

  const run = (program: string, ...words: string[]) => {
    const { status, stdout, stderr } = spawnSync(program, words, {
      encoding: 'utf8',
      env: { ...process.env, HOME: folder },
    });
    expect(status, `${stdout}${stderr}`).to.equal(0);
    return stdout;
  };

  before(async function () {
    this.timeout(60_000);
    folder = await temporaryFolder();
    const program = findProgram('helm');
    if (program === undefined) {
      process.stdout.write('    skipped: there is no helm; scripts/chart-tools builds it\n');
      this.skip();
    }
    helm = program;
    for (const name of examples) {
      const text = run(helm, 'template', 'bank', chart, '--values', join(chart, `ci/${name}-values.yaml`));
      rendered.set(
        name,
        parseAllDocuments(text).flatMap((document) => (document.toJS() as Resource | null) ?? []),
      );
    }
  });
  after(() => removeFolder(folder));

  const resources = (example: string, kind: string): Resource[] =>
    rendered.get(example)?.filter((resource) => resource.kind === kind) ?? [];

  const processes = (example: string): Resource[] => [
    ...resources(example, 'StatefulSet'),
    ...resources(example, 'Deployment'),
  ];

  /** The settings of a process, as the program reads them; what comes from a Secret has an example's value. */
  function configOf(resource: Resource | undefined): Config {
    const secrets: Record<string, string> = { REDIS_URL: 'rediss://user:password@redis:6379' };
    const environment = resource?.spec.template?.spec.containers[0]?.env.map(({ name, value }): [string, string] => [
      name,
      value?.replace('/etc/lendstream', folder) ?? secrets[name] ?? 'from a secret',
    ]);
    return readConfig(Object.fromEntries(environment ?? []));
  }

  it('passes the linter with each example', () => {
    for (const name of examples)
      run(helm, 'lint', '--strict', chart, '--values', join(chart, `ci/${name}-values.yaml`));
  });

  it('matches the schemas of Kubernetes, in which every field is known', function () {
    this.timeout(60_000);
    const validator = findProgram('kubectl-validate');
    if (validator === undefined) {
      process.stdout.write('      skipped: there is no kubectl-validate; scripts/chart-tools builds it\n');
      this.skip();
    }
    const all = [...rendered.values()].flat().filter(({ apiVersion }) => !apiVersion.startsWith('monitoring.'));
    expect(all.length).to.be.greaterThan(8);
    const files = all.map((resource, index) => {
      const file = join(folder, `${index}.json`);
      writeFileSync(file, JSON.stringify(resource));
      return file;
    });
    run(validator, '--version', kubernetesVersion, ...files);
    const wrong = join(folder, 'wrong.json');
    const unknown = { ...all[0], unknown: 1 };
    writeFileSync(wrong, JSON.stringify(unknown));
    expect(spawnSync(validator, ['--version', kubernetesVersion, wrong]).status).not.to.equal(0);
  });

  it('runs one process on a volume of its own when it is standalone', () => {
    const [process, ...others] = processes('standalone');
    expect(others).to.deep.equal([]);
    expect(process?.kind).to.equal('StatefulSet');
    expect(process?.spec.replicas).to.equal(1);
    expect(process?.spec.volumeClaimTemplates).to.have.length(1);
    expect(resources('standalone', 'PodDisruptionBudget')).to.deep.equal([]);
  });

  it('runs serve and work as deployments in a cluster, each with a budget for disruptions', () => {
    const names = ['bank-lendstream-serve', 'bank-lendstream-work'];
    expect(processes('cluster').map(({ kind, metadata }) => [kind, metadata.name])).to.deep.equal(
      names.map((name) => ['Deployment', name]),
    );
    expect(resources('cluster', 'PodDisruptionBudget').map(({ metadata }) => metadata.name)).to.deep.equal(names);
    expect(resources('cluster', 'Secret')).to.deep.equal([]);
  });

  it('gives each process settings that the program accepts', () => {
    mkdirSync(join(folder, 'api-keys'));
    mkdirSync(join(folder, 'kafka-tls'));
    writeFileSync(join(folder, 'api-keys/api-keys'), 'sixteen-letters-\n');
    for (const name of ['ca.crt', 'tls.crt', 'tls.key']) writeFileSync(join(folder, 'kafka-tls', name), name);
    const alone = configOf(processes('standalone')[0]);
    expect(alone).to.deep.include({ host: '0.0.0.0', port: 8080, roles: { serve: true, work: true } });
    expect(alone.cluster).to.equal(undefined);
    expect(alone.tls).to.equal(undefined);
    const { keyLimits, addressLimits } = readConfig({ API_KEYS: 'a-key-for-this-example' });
    expect(alone).to.deep.include({ keyLimits, addressLimits });
    const [serve, work] = processes('cluster').map(configOf);
    expect(serve).to.deep.include({ roles: { serve: true, work: false }, lendingPartitions: 16, logLevel: 'warn' });
    expect(work).to.deep.include({ roles: { serve: false, work: true }, lendingPartitions: 16 });
    expect(serve?.tls).to.deep.equal({
      certificate: join(folder, 'tls/tls.crt'),
      key: join(folder, 'tls/tls.key'),
      clientCa: join(folder, 'tls/ca.crt'),
      isClientCertificateRequired: true,
    });
    expect(work?.cluster).to.deep.equal({
      kafkaBrokers: ['kafka-0.kafka:9093', 'kafka-1.kafka:9093'],
      kafkaClientId: 'lendstream',
      kafkaTls: { ca: 'ca.crt', certificate: 'tls.crt', key: 'tls.key' },
      kafkaSasl: { mechanism: 'scram-sha-512', username: 'from a secret', password: 'from a secret' },
      kafkaReplicationFactor: 3,
      kafkaMinimumInSyncReplicas: 2,
      redisUrl: 'rediss://user:password@redis:6379',
    });
  });

  it('runs each process without rights, on a root that it cannot write, with probes and a limit of memory', () => {
    for (const example of examples) {
      for (const { spec } of processes(example)) {
        const pod = spec.template?.spec;
        expect(pod?.automountServiceAccountToken).to.equal(false);
        expect(pod?.securityContext).to.deep.include({
          runAsNonRoot: true,
          seccompProfile: { type: 'RuntimeDefault' },
        });
        const [container] = pod?.containers ?? [];
        expect(container?.securityContext).to.deep.equal({
          allowPrivilegeEscalation: false,
          readOnlyRootFilesystem: true,
          capabilities: { drop: ['ALL'] },
        });
        const scheme = example === 'cluster' ? 'HTTPS' : 'HTTP';
        const httpGet = (path: string) => ({ httpGet: { path, port: 'http', scheme } });
        expect(container?.['livenessProbe']).to.deep.include(httpGet('/health'));
        expect(container?.['startupProbe']).to.deep.include(httpGet('/health'));
        expect(container?.['readinessProbe']).to.deep.include(httpGet('/ready'));
        expect(container?.['resources']).to.deep.equal({
          requests: { cpu: '1', memory: '1Gi' },
          limits: { memory: '2Gi' },
        });
      }
    }
  });

  it('lets Prometheus read the metrics of all processes, and has the same alerts as the file', () => {
    expect(resources('standalone', 'ServiceMonitor')).to.deep.equal([]);
    expect(resources('cluster', 'ServiceMonitor')[0]?.spec['endpoints']).to.deep.equal([
      {
        port: 'http',
        path: '/metrics',
        interval: '15s',
        scheme: 'https',
        tlsConfig: { ca: { secret: { name: 'lendstream-tls', key: 'ca.crt' } }, serverName: 'lending.example' },
        authorization: { type: 'Bearer', credentials: { name: 'lendstream-keys', key: 'api-key' } },
      },
    ]);
    const rules = resources('cluster', 'PrometheusRule')[0]?.spec.groups?.flatMap(({ rules: found }) => found);
    const expected = readAlerts().map((alert) => {
      const anchor = alert.annotations.runbook_url.split('#')[1];
      const runbook_url = `https://docs.example/operating#${anchor}`;
      return { ...alert, annotations: { ...alert.annotations, runbook_url } };
    });
    expect(rules).to.deep.equal(expected);
  });
});
