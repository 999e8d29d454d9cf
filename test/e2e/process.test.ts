import { expect } from 'chai';
import { after, afterEach, before, beforeEach, describe, it } from 'mocha';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, readdirSync, statSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { packageRoot } from '../../src/package-root.ts';
import { call, openStream } from '../support/http/client.ts';
import { serviceProgram } from '../support/processes/service-program.ts';
import { removeFolder, startService, temporaryFolder, type Service } from '../support/processes/service.ts';

/** A cluster that the tests were given is for those that ask for it. */
const noCluster = { KAFKA_BROKERS: '', REDIS_URL: '' };

/** Runs the program to its end and returns its output and exit code. */
async function runToEnd(environment: Record<string, string>): Promise<{ code: number | null; lines: string[] }> {
  const child = spawn(process.execPath, [serviceProgram], {
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

  beforeEach(async () => {
    folder = await temporaryFolder();
  });

  afterEach(() => removeFolder(folder));

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

  it('names all invalid settings at once', async () => {
    const { code, lines } = await runToEnd({ DATA_DIR: folder, PORT: 'eighty', LENDING_PARTITIONS: '0' });
    expect(code).to.equal(1);
    expect(lines).to.have.length(1);
    expect(lines[0]).to.include('PORT').and.to.include('LENDING_PARTITIONS');
  });

  it('refuses to listen for other machines without keys', async () => {
    const { code, lines } = await runToEnd({ DATA_DIR: folder, HOST: '0.0.0.0' });
    expect(code).to.equal(1);
    expect(lines[0]).to.include('API_KEYS');
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

describe('the process, started three times over the same data', () => {
  let folder: string;
  let service: Service;

  // It warns of a folder that others can access.
  const start = (environment: Record<string, string> = {}): Promise<Service> =>
    startService(folder, { LOG_LEVEL: 'error', ...environment });

  before(async () => {
    folder = await temporaryFolder();
    chmodSync(folder, 0o755);
    service = await start();
    expect((await call(`${service.url}/event-types`, 'POST', eventType)).status).to.equal(201);
  });

  after(async () => {
    const { child } = service;
    if (child.exitCode === null && child.signalCode === null) await service.kill();
    await removeFolder(folder);
  });

  const expectFilesOfItsUser = (): void => {
    const modes = readdirSync(folder).map((name) => [name, (statSync(join(folder, name)).mode & 0o777).toString(8)]);
    expect(modes.map(([name]) => name)).to.include.members(['lock.db', 'log.db', 'log.db-wal', 'accounts.db']);
    expect(modes.filter(([, found]) => found !== '600')).to.deep.equal([]);
  };

  it('creates files that only its own user can read', () => {
    expectFilesOfItsUser();
  });

  it('reports in one line that another process uses the data', async () => {
    const { code, lines } = await runToEnd({ DATA_DIR: folder });
    expect(code).to.equal(1);
    expect(lines).to.have.length(1);
    expect(lines[0]).to.include(folder);
  });

  it('sends a last line on open streams when it stops', async () => {
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

  it('keeps its data after a restart, and removes the access of others in an existing folder', async () => {
    for (const name of readdirSync(folder)) chmodSync(join(folder, name), 0o644);
    service = await start();
    expect((await call(`${service.url}/event-types/process.greeting`, 'GET')).status).to.equal(200);
    await call(`${service.url}/event-types`, 'POST', { ...eventType, name: 'process.farewell' });
    expectFilesOfItsUser();
  });

  it('exits immediately at the second signal', async () => {
    const exited = once(service.child, 'exit');
    service.child.kill('SIGINT');
    setTimeout(() => service.child.kill('SIGINT'), 400);
    await exited;
    expect(service.child.exitCode).to.be.oneOf([0, 130]);
  });

  it('requires the keys when they are set', async () => {
    service = await start({ API_KEYS: 'the-first-of-secrets,the-second-of-secrets' });
    const get = (path: string, headers: Record<string, string> = {}): Promise<{ status: number }> =>
      call(`${service.url}${path}`, 'GET', undefined, headers);
    expect((await get('/event-types')).status).to.equal(401);
    expect((await get('/event-types', { apikey: 'the-second-of-secrets' })).status).to.equal(200);
    expect((await get('/health')).status).to.equal(200);
  });

  it('stops cleanly when nothing reads its output any more', async () => {
    service.child.stdout?.destroy();
    expect(await service.stop()).to.equal(0);
  });
});
