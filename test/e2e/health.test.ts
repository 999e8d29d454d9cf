import { expect } from 'chai';
import { afterEach, beforeEach, describe, it } from 'mocha';
import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { call, eventsOf, openStream, type Batch } from '../support/http/client.ts';
import { eventually } from '../support/eventually.ts';
import { readyAddress } from '../support/processes/ready-address.ts';
import { removeFolder, spawnService, temporaryFolder } from '../support/processes/service.ts';
import { mountSmallDisk } from '../support/small-disk.ts';

const endLogThread = new URL('../support/processes/end-log-thread-preload.js', import.meta.url).href;

const eventType = {
  name: 'health.counted',
  owning_application: 'tests',
  category: 'undefined',
  schema: { type: 'json_schema', schema: '{"type":"object"}' },
};
const events = `/event-types/${eventType.name}/events`;

describe('a service in which one part fails', () => {
  let folder: string;
  let url: string;
  let child: ChildProcess;
  let errorLines: string;
  let output: string[];

  beforeEach(async () => {
    folder = await temporaryFolder();
  });
  afterEach(async () => {
    if (child.exitCode === null && child.signalCode === null) {
      const exited = once(child, 'exit');
      child.kill('SIGTERM');
      await exited;
    }
    await removeFolder(folder);
  });

  async function start(dataFolder: string, environment: Record<string, string> = {}): Promise<void> {
    errorLines = '';
    output = [];
    child = spawnService(dataFolder, { LOG_LEVEL: 'error', ...environment }, 'pipe');
    child.stderr?.on('data', (chunk: Buffer) => (errorLines += chunk.toString()));
    url = (await readyAddress(child, { withinMilliseconds: 20_000, onLine: (line) => output.push(line) })) ?? '';
    await call(`${url}/event-types`, 'POST', eventType);
  }

  const ready = async (): Promise<{ status: number; body: unknown }> => call(`${url}/ready`, 'GET');
  const reasons = async (): Promise<string> => JSON.stringify((await ready()).body);
  const publish = (event: object): Promise<{ status: number; text: string }> => call(url + events, 'POST', [event]);

  async function subscribe(): Promise<string> {
    const subscription = { owning_application: 'tests', event_types: [eventType.name], read_from: 'begin' };
    const { body } = await call(`${url}/subscriptions`, 'POST', subscription);
    return (body as { id: string }).id;
  }

  async function numbersRead(subscriptionId: string, least: number): Promise<unknown[]> {
    const stream = await openStream(url, subscriptionId, '?batch_flush_timeout=1&batch_limit=100');
    await stream.until((batches) => eventsOf(batches).length >= least);
    stream.close();
    return eventsOf(stream.batches).map(({ number }) => number);
  }

  it('exits with 70 and the reason in the last line when the writing thread ended, and loses nothing', async () => {
    await start(folder, { NODE_OPTIONS: `--import ${endLogThread}`, END_LOG_THREAD: 'thread/writer.js' });
    const id = await subscribe();
    expect((await publish({ number: 1 })).status).to.equal(200);
    const exited = once(child, 'exit');
    child.kill('SIGUSR2');
    await exited;
    expect(child.exitCode).to.equal(70);
    const lines = errorLines.trimEnd().split('\n');
    expect(errorLines).to.include('The thread that writes the log ended; nothing is stored');
    expect(lines.at(-1)).to.match(/^lendstream: The thread that writes the log ended: .* must be restarted\.$/);
    await start(folder);
    expect(await numbersRead(id, 1)).to.deep.equal([1]);
  });

  for (const [thread, part] of [
    ['thread/fetcher.js', 'log-reader'],
    ['thread/removable-records.js', 'log-maintenance'],
  ] as const) {
    it(`is not ready while ${thread} has ended, and starts it again`, async () => {
      await start(folder, { NODE_OPTIONS: `--import ${endLogThread}`, END_LOG_THREAD: thread });
      const id = await subscribe();
      expect((await publish({ number: 1 })).status).to.equal(200);
      // The maintenance thread is started when there is first something to do.
      await eventually(() => output.includes(`Started ${thread}`));
      child.kill('SIGUSR2');
      await eventually(async () => (await ready()).status === 503, 3_000);
      expect(await reasons()).to.include('restarting it');
      const health = await fetch(`${url}/health`, { headers: { accept: 'application/json' } });
      const { parts } = (await health.json()) as { parts: { name: string; ready: boolean }[] };
      expect(parts.filter((each) => !each.ready).map(({ name }) => name)).to.deep.equal([part]);
      await eventually(async () => (await ready()).status === 200);
      expect((await publish({ number: 2 })).status).to.equal(200);
      expect(await numbersRead(id, 2)).to.deep.equal([1, 2]);
    });
  }

  it('acknowledges nothing when its folder was deleted, reports that, and serves what it has', async () => {
    const dataFolder = join(folder, 'data');
    await start(dataFolder);
    const id = await subscribe();
    expect((await publish({ number: 1 })).status).to.equal(200);
    await rm(dataFolder, { recursive: true });
    const refused = await publish({ number: 2 });
    expect(refused.status).to.be.oneOf([207, 422, 503]);
    expect(refused.text).to.match(/log\.db in the data folder was removed or moved/);
    const definition = await call(`${url}/event-types`, 'POST', { ...eventType, name: 'health.late' });
    expect(definition.status).to.equal(503);
    await eventually(async () => (await ready()).status === 503, 3_000);
    expect(await reasons()).to.include('log.db in the data folder was removed or moved');
    expect((await call(`${url}/health`, 'GET')).text).to.equal('OK');
    expect((await call(`${url}/loans`, 'GET')).status).to.equal(200);
    expect((await call(`${url}/subscriptions/${id}`, 'GET')).status).to.equal(200);
  });

  it('continues to read while the disk is full, refuses writes with the reason, and resumes when there is space', async function (): Promise<void> {
    // Its reserve, twice.
    const disk = await mountSmallDisk(160);
    if (typeof disk === 'string') {
      process.stdout.write(`      skipped: ${disk}\n`);
      this.skip();
      return;
    }
    try {
      await start(disk.folder);
      const id = await subscribe();
      expect((await publish({ number: 1 })).status).to.equal(200);
      disk.fill(63 * 1024 * 1024);
      const refused = await publish({ number: 2 });
      expect(refused.text).to.match(/The disk of the data folder is full: 6[0-3] MiB are free, 64 are kept in reserve/);
      const definition = await call(`${url}/event-types`, 'POST', { ...eventType, name: 'health.late' });
      expect([definition.status, definition.text]).to.satisfy(
        ([status, text]: [number, string]) => status === 507 && text.includes('disk of the data folder is full'),
      );
      await eventually(async () => (await ready()).status === 503, 3_000);
      expect(await reasons()).to.include('The disk of the data folder is full');
      const stream = await openStream(url, id, '?batch_flush_timeout=1');
      await stream.until((batches) => eventsOf(batches).length === 1);
      const [{ cursor }] = stream.batches as [Batch];
      const commit = await stream.commit([cursor]);
      expect(commit.status).to.equal(503);
      expect(commit.text).to.include('The disk of the data folder is full');
      disk.empty();
      expect((await publish({ number: 3 })).status).to.equal(200);
      expect((await stream.commit([cursor])).status).to.be.oneOf([200, 204]);
      stream.close();
      await eventually(async () => (await ready()).status === 200, 3_000);
    } finally {
      const exited = once(child, 'exit');
      child.kill('SIGTERM');
      await exited;
      await disk.remove();
    }
  });
});
