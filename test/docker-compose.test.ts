import { expect } from 'chai';
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { describe, it } from 'mocha';
import { kafkaVersions } from '../scripts/local-cluster/kafka-broker.ts';
import { packageRoot } from '../src/package-root.ts';

const read = (file: string): string => readFileSync(join(packageRoot, file), 'utf8');

describe('docker-compose.kafka.yml', () => {
  const compose = read('docker-compose.kafka.yml');

  it('is accepted by docker compose', function () {
    const docker = (...words: string[]) =>
      spawnSync('docker', ['compose', ...words], {
        cwd: packageRoot,
        encoding: 'utf8',
        env: { ...process.env, LENDSTREAM_API_KEY: 'key' },
      });
    if (docker('version').status !== 0) {
      process.stdout.write('    skipped: there is no docker client with compose\n');
      this.skip();
    }
    const { status, stderr } = docker('--file', 'docker-compose.kafka.yml', 'config', '--quiet');
    expect(stderr).to.equal('');
    expect(status).to.equal(0);
  });

  it('runs the Kafka version of the tests, with the same replication and failover', () => {
    expect(compose).to.contain(`image: apache/kafka:${kafkaVersions[0]}\n`);
    const settings = read('scripts/kafka/three-brokers.properties')
      .split('\n')
      .filter((line) => /^[a-z]/.test(line))
      .map((line) => line.split('='))
      .map(([name = '', value = '']) => `  KAFKA_${name.replaceAll('.', '_').toUpperCase()}: ${value}`);
    expect(settings).to.have.length.greaterThan(10);
    expect(compose.split('\n')).to.include.members(settings);
  });

  it('has two processes of each role, and Prometheus scrapes all four', () => {
    const services = [...compose.matchAll(/^ {2}([a-z]+-\d):\n {4}<<: \*service\n(?: {4}.*\n)*? {6}ROLES: (\w+)$/gm)];
    expect(services.map(([, name, role]) => `${name} ${role}`)).to.deep.equal([
      'serve-1 serve',
      'serve-2 serve',
      'work-1 work',
      'work-2 work',
    ]);
    const prometheus = read('deploy/prometheus/prometheus.yml');
    for (const [, name] of services) expect(prometheus).to.contain(`'${name}:8080'`);
  });

  it('opens ports on loopback only, and contains no key', () => {
    const ports = [...compose.matchAll(/ports: \[(.*)\]/g)].map(([, port]) => port);
    expect(ports).to.have.length.greaterThan(5);
    expect(ports.filter((port) => !/^'127\.0\.0\.1:\d+:\d+'$/.test(port ?? ''))).to.deep.equal([]);
    expect(compose).to.match(/API_KEYS: \$\{LENDSTREAM_API_KEY:\?/);
  });
});

describe('The image of the service', () => {
  const dockerfile = read('Dockerfile');
  const finalStage = dockerfile.slice(dockerfile.lastIndexOf('\nFROM '));

  it('is labelled with the version and the licence of the program, and with its own base', () => {
    const { version, license } = JSON.parse(read('package.json')) as { version: string; license: string };
    const labels = new Map(
      [...finalStage.matchAll(/org\.opencontainers\.image\.(\S+)="([^"]*)"/g)].map(([, name, text]) => [name, text]),
    );
    expect(labels.get('version')).to.equal(version);
    expect(labels.get('licenses')).to.equal(license);
    const [, base] = /^\nFROM (\S+)/.exec(finalStage) ?? [];
    expect(labels.get('base.name')).to.equal(`docker.io/library/${base}`);
    for (const name of ['revision', 'created', 'source']) {
      expect(labels.get(name)).to.equal(`$${name.toUpperCase()}`);
      expect(finalStage).to.contain(`\nARG ${name.toUpperCase()}=unknown\n`);
    }
  });

  it('does not run as root', () => {
    expect(finalStage.indexOf('\nUSER node\n')).to.be.greaterThan(0).and.lessThan(finalStage.indexOf('\nCMD '));
  });

  for (const { status, code } of [
    { status: 200, code: 0 },
    { status: 503, code: 1 },
  ]) {
    it(`has a health check that ends with ${code} when /health answers ${status}`, async () => {
      const [, words = '[]'] = /HEALTHCHECK[^[]*(\[.*\])/.exec(finalStage) ?? [];
      const [, ...nodeArguments] = JSON.parse(words) as string[];
      const server = createServer((request, response) => {
        response.writeHead(request.url === '/health' ? status : 404).end();
      });
      server.listen(0, '127.0.0.1');
      await once(server, 'listening');
      const { port } = server.address() as AddressInfo;
      const check = spawn(process.execPath, nodeArguments, { env: { PORT: String(port) } });
      const [ended] = (await once(check, 'exit')) as [number];
      server.close();
      expect(ended).to.equal(code);
    });
  }
});
