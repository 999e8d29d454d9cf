import { expect } from 'chai';
import { describe, it, beforeEach, afterEach } from 'mocha';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, mkdirSync, readdirSync, statSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { packageRoot } from '../../src/package-root.ts';
import { call, openStream } from '../support/http/client.ts';
import { removeFolder, startService, temporaryFolder, type Service } from '../support/processes/service.ts';

/** A cluster that the tests were given is for those that ask for it. */
const noCluster = { KAFKA_BROKERS: '', REDIS_URL: '' };

/** Runs the program to its end and returns its output and exit code. */
async function runToEnd(environment: Record<string, string>): Promise<{ code: number | null; lines: string[] }> {
  const child = spawn(process.execPath, [join(packageRoot, 'dist/src/main.js')], {
    env: { ...process.env, ...noCluster, LOG_LEVEL: 'error', PORT: '0', ...environment },
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  let text = '';
  child.stderr.on('data', (chunk: Buffer) => (text += chunk.toString()));
  await once(child, 'close');
  return { code: child.exitCode, lines: text.split('\n').filter((line) => line !== '') };
}

const eventType = {
  name: 'process.greeting',
  owning_application: 'tests',
  category: 'undefined',
  schema: { type: 'json_schema', schema: '{"type":"object"}' },
};

describe('the process', () => {
  let folder: string;
  const running: Service[] = [];

  const start = async (environment: Record<string, string> = {}): Promise<Service> => {
    const service = await startService(folder, environment);
    running.push(service);
    return service;
  };

  beforeEach(async () => {
    folder = await temporaryFolder();
  });

  afterEach(async () => {
    for (const service of running.splice(0)) if (service.child.exitCode === null) await service.kill();
    await removeFolder(folder);
  });

  it('keeps its data after a restart', async () => {
    const first = await start();
    expect((await call(`${first.url}/event-types`, 'POST', eventType)).status).to.equal(201);
    expect(await first.stop()).to.equal(0);
    const second = await start();
    expect((await call(`${second.url}/event-types/process.greeting`, 'GET')).status).to.equal(200);
  });

  it('reports in one line that the port is in use', async () => {
    const occupant = createServer().listen(0, '127.0.0.1');
    await once(occupant, 'listening');
    const address = occupant.address();
    const port = typeof address === 'object' && address !== null ? String(address.port) : '';
    const { code, lines } = await runToEnd({ PORT: port, DATA_DIR: folder });
    occupant.close();
    expect(code).to.equal(1);
    expect(lines).to.have.length(1);
    expect(lines[0]).to.include(port).and.to.include('in use');
  });

  it('reports in one line that the data folder cannot be used', async () => {
    const file = join(folder, 'a-file');
    await writeFile(file, '');
    const { code, lines } = await runToEnd({ DATA_DIR: join(file, 'data') });
    expect(code).to.equal(1);
    expect(lines).to.have.length(1);
    expect(lines[0]).to.include(file);
  });

  it('reports in one line that another process uses the data', async () => {
    await start();
    const { code, lines } = await runToEnd({ DATA_DIR: folder });
    expect(code).to.equal(1);
    expect(lines).to.have.length(1);
    expect(lines[0]).to.include(folder);
  });

  it('names all invalid settings at once', async () => {
    const { code, lines } = await runToEnd({ DATA_DIR: folder, PORT: 'eighty', LENDING_PARTITIONS: '0' });
    expect(code).to.equal(1);
    expect(lines).to.have.length(1);
    expect(lines[0]).to.include('PORT').and.to.include('LENDING_PARTITIONS');
  });

  it('creates files that only its own user can read, and removes the access of others in an existing folder', async () => {
    const open = join(folder, 'open to others');
    mkdirSync(open, { mode: 0o755 });
    for (const mode of [0o600, 0o644]) {
      for (const name of readdirSync(open)) chmodSync(join(open, name), mode);
      const service = await start({ DATA_DIR: open });
      await call(`${service.url}/event-types`, 'POST', eventType);
      const modes = readdirSync(open).map((name) => [name, (statSync(join(open, name)).mode & 0o777).toString(8)]);
      expect(modes.map(([name]) => name)).to.include.members(['lock.db', 'log.db', 'log.db-wal', 'accounts.db']);
      expect(modes.filter(([, found]) => found !== '600')).to.deep.equal([]);
      await service.stop();
    }
  });

  it('refuses to listen for other machines without keys, and requires the keys when they are set', async () => {
    const { code, lines } = await runToEnd({ DATA_DIR: folder, HOST: '0.0.0.0' });
    expect(code).to.equal(1);
    expect(lines[0]).to.include('API_KEYS');
    const service = await start({ API_KEYS: 'the-first-of-secrets,the-second-of-secrets' });
    expect((await call(`${service.url}/event-types`, 'GET')).status).to.equal(401);
    expect(
      (await call(`${service.url}/event-types`, 'GET', undefined, { apikey: 'the-second-of-secrets' })).status,
    ).to.equal(200);
    expect((await call(`${service.url}/health`, 'GET')).status).to.equal(200);
  });

  it('sends a last line on open streams when it stops', async () => {
    const service = await start();
    await call(`${service.url}/event-types`, 'POST', eventType);
    const { body } = await call(`${service.url}/subscriptions`, 'POST', {
      owning_application: 'tests',
      event_types: [eventType.name],
      read_from: 'begin',
    });
    const stream = await openStream(service.url, String(body['id']), '?batch_flush_timeout=1');
    await stream.until((batches) => batches.length > 0);
    expect(await service.stop()).to.equal(0);
    await stream.ended;
    expect(stream.batches.at(-1)?.info?.code).to.equal('server_shutdown');
    expect(stream.batches.at(-1)?.cursor.event_type).to.equal(eventType.name);
  });

  it('stops cleanly when nothing reads its output any more', async () => {
    const service = await start();
    service.child.stdout?.destroy();
    expect(await service.stop()).to.equal(0);
  });

  it('exits immediately at the second signal', async () => {
    const service = await start();
    await call(`${service.url}/event-types`, 'POST', eventType);
    const exited = once(service.child, 'exit');
    service.child.kill('SIGINT');
    setTimeout(() => service.child.kill('SIGINT'), 400);
    await exited;
    expect(service.child.exitCode).to.be.oneOf([0, 130]);
  });

  it('starts with its script from any folder, without a terminal', async function () {
    this.timeout(60_000);
    const child = spawn(join(packageRoot, 'scripts/start'), [], {
      cwd: folder,
      env: { ...process.env, ...noCluster, PORT: '0', DATA_DIR: 'relative', LOG_LEVEL: 'warn' },
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    const exited = once(child, 'exit');
    let text = '';
    await new Promise<void>((resolve) => {
      child.stdout.on('data', (chunk: Buffer) => {
        text += chunk.toString();
        if (text.includes('ready at')) resolve();
      });
    });
    expect(text).to.include(join(folder, 'relative')).and.to.include('scripts/demo');
    child.kill('SIGINT');
    await exited;
    expect(child.exitCode).to.equal(0);
  });
});
