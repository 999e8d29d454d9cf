import { expect } from 'chai';
import { after, before, describe, it } from 'mocha';
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
  let child: ChildProcess | undefined;
  let errorLines: string;
  let output: string[];

  before(async () => {
    folder = await temporaryFolder();
  });
  after(async () => {
    await stop();
    await removeFolder(folder);
  });

  async function start(dataFolder: string, environment: Record<string, string> = {}): Promise<void> {
    errorLines = '';
    output = [];
    child = spawnService(dataFolder, { LOG_LEVEL: 'error', ...environment }, 'pipe');
    child.stderr?.on('data', (chunk: Buffer) => (errorLines += chunk.toString()));
    url = (await readyAddress(child, { withinMilliseconds: 50_000, onLine: (line) => output.push(line) })) ?? '';
    await call(`${url}/event-types`, 'POST', eventType);
  }

  async function stop(): Promise<void> {
    if (child?.exitCode !== null || child.signalCode !== null) return;
    const exited = once(child, 'exit');
    child.kill('SIGTERM');
    await exited;
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

  // One process, whose threads end one after another. None of its events is committed.
  describe('whose threads end', () => {
    const parts = [
      ['thread/fetcher.js', 'log-reader'],
      ['thread/removable-records.js', 'log-maintenance'],
    ] as const;
    const threads = [...parts.map(([thread]) => thread), 'thread/writer.js'];
    const numbers: number[] = [];
    let dataFolder: string;
    let id: string;

    async function publishNext(): Promise<void> {
      const number = numbers.length + 1;
      expect((await publish({ number })).status).to.equal(200);
      numbers.push(number);
    }

    before(async () => {
      dataFolder = join(folder, 'threads');
      const environment = { NODE_OPTIONS: `--import ${endLogThread}`, END_LOG_THREADS: threads.join(' ') };
      await start(dataFolder);
      id = await subscribe();
      await stop();
      // Reads what was written before, for which it starts the thread that reads.
      await start(dataFolder, environment);
    });
    after(stop);

    for (const [thread, part] of parts) {
      it(`is not ready while ${thread} has ended, and starts it again`, async () => {
        await publishNext();
        // The maintenance thread is started when there is first something to do.
        await eventually(() => output.includes(`Started ${thread}`));
        child?.kill('SIGUSR2');
        await eventually(async () => (await ready()).status === 503, 3_000);
        expect(await reasons()).to.include('restarting it');
        const health = await fetch(`${url}/health`, { headers: { accept: 'application/json' } });
        const { parts: shown } = (await health.json()) as { parts: { name: string; ready: boolean }[] };
        expect(shown.filter((each) => !each.ready).map(({ name }) => name)).to.deep.equal([part]);
        await eventually(async () => (await ready()).status === 200);
        await publishNext();
        expect(await numbersRead(id, numbers.length)).to.deep.equal(numbers);
      });
    }

    it('exits with 70 and the reason in the last line when the writing thread ended, and loses nothing', async () => {
      await publishNext();
      const exited = once(child as ChildProcess, 'exit');
      child?.kill('SIGUSR2');
      await exited;
      expect(child?.exitCode).to.equal(70);
      const lines = errorLines.trimEnd().split('\n');
      expect(errorLines).to.include('The thread that writes the log ended; nothing is stored');
      expect(lines.at(-1)).to.match(/^lendstream: The thread that writes the log ended: .* must be restarted\.$/);
      await start(dataFolder);
      expect(await numbersRead(id, numbers.length)).to.deep.equal(numbers);
    });

    it('acknowledges nothing when its folder was deleted, reports that, and serves what it has', async () => {
      await rm(dataFolder, { recursive: true });
      const refused = await publish({ number: 0 });
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
      await stop();
      await disk.remove();
    }
  });
});
