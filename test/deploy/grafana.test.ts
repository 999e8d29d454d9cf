import { expect } from 'chai';
import { readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'mocha';
import { parse } from 'yaml';
import { packageRoot } from '../../src/package-root.ts';

const read = (file: string): string => readFileSync(join(packageRoot, file), 'utf8');
const readYaml = <Shape>(file: string): Shape => parse(read(file), { merge: true }) as Shape;

interface Compose {
  readonly services: Record<string, { volumes: string[]; environment: Record<string, string> }>;
}

describe('deploy/grafana', () => {
  const { volumes = [], environment = {} } = readYaml<Compose>('docker-compose.kafka.yml').services['grafana'] ?? {};
  const mounts = new Map(volumes.map((volume) => volume.split(':')).map(([from = '', to = '']) => [to, from]));

  it('is mounted by docker-compose.kafka.yml where Grafana and its own files look for it', () => {
    const { providers } = readYaml<{ providers: { options: { path: string } }[] }>(
      'deploy/grafana/provisioning/dashboards/lendstream.yml',
    );
    expect(mounts.get('/etc/grafana/provisioning')).to.equal('./deploy/grafana/provisioning');
    expect(providers.map(({ options }) => mounts.get(options.path))).to.deep.equal(['./deploy/grafana/dashboards']);
    expect(readdirSync(join(packageRoot, 'deploy/grafana/dashboards'))).to.deep.equal(['lendstream.json']);
    expect(environment['GF_DASHBOARDS_DEFAULT_HOME_DASHBOARD_PATH']).to.equal(
      `${providers[0]?.options.path}/lendstream.json`,
    );
  });

  it('has one datasource, whose address is a setting that docker-compose.kafka.yml gives', () => {
    const { datasources } = readYaml<{ datasources: { type: string; url: string; jsonData: object }[] }>(
      'deploy/grafana/provisioning/datasources/lendstream.yml',
    );
    const { global } = readYaml<{ global: { scrape_interval: string } }>('deploy/prometheus/prometheus.yml');
    expect(datasources.map(({ type, url }) => [type, url])).to.deep.equal([['prometheus', '${PROMETHEUS_URL}']]);
    expect(datasources[0]?.jsonData).to.deep.equal({ timeInterval: global.scrape_interval });
    expect(environment['PROMETHEUS_URL']).to.equal('http://prometheus:9090');
  });

  it('has a dashboard that asks only for a Prometheus that is chosen, each panel once', () => {
    const text = read('deploy/grafana/dashboards/lendstream.json');
    const dashboard = JSON.parse(text) as { panels: { id: number; type: string; targets?: unknown[] }[] };
    const uids = [...text.matchAll(/"uid": "([^"]*)"/g)].map(([, uid]) => uid);
    expect([...new Set(uids)]).to.have.members(['${datasource}', 'lendstream']);
    const ids = dashboard.panels.map(({ id }) => id);
    expect(new Set(ids).size).to.equal(ids.length);
    const shown = dashboard.panels.filter(({ type }) => type !== 'row');
    expect(shown.filter(({ targets = [] }) => targets.length === 0)).to.deep.equal([]);
  });
});
