import { expect } from 'chai';
import { afterEach, beforeEach, describe, it } from 'mocha';
import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { EmbeddedLog } from '../../src/embedded/log.ts';
import { accountsTopic, ensureLendingTopics } from '../../src/lending-format/lending-topics.ts';
import { silentLogger } from '../../src/logger.ts';
import type { LogRecord } from '../../src/ports/event-log.ts';
import { loanRecord, productRecord } from '../accounts/stored-loans.ts';
import { eventually } from '../support/eventually.ts';
import { call, type HttpResponse } from '../support/http/client.ts';
import { readyAddress } from '../support/processes/ready-address.ts';
import { removeFolder, spawnService, temporaryFolder } from '../support/processes/service.ts';

const slowReads = new URL('../support/processes/slow-reads-preload.js', import.meta.url).href;

/** Together they are larger than several reads. */
const loanCount = 60;
const longName = 'A long name. '.repeat(8_000);
const recordCount = loanCount + 1;

/** A process reads all of them in several seconds while its reads are slow. */
const slow = { NODE_OPTIONS: `${process.env['NODE_OPTIONS'] ?? ''} --import=${slowReads}` };

/** Far less than the reading takes while it is slow, and enough for a busy machine. */
const promptMilliseconds = 4_000;

interface Part {
  readonly name: string;
  readonly ready: boolean;
  readonly reason: string | null;
  readonly progress: { readonly records_read: number; readonly records: number; readonly percent: number } | null;
}

describe('a process that starts with accounts to read', () => {
  let folder: string;
  let child: ChildProcess;
  let exited: Promise<unknown>;
  let ready: Promise<string | undefined>;
  let output: string[];
  let errorLines: string;

  beforeEach(async () => {
    folder = await temporaryFolder();
  });
  afterEach(async () => {
    if (child.exitCode === null && child.signalCode === null) child.kill('SIGKILL');
    await exited;
    await removeFolder(folder);
  });

  /** A log whose changelog has these records, each in a batch of its own. */
  async function store(...records: readonly LogRecord[]): Promise<void> {
    const log = await EmbeddedLog.open({ dataFolder: folder, logger: silentLogger });
    await ensureLendingTopics(log, 1);
    for (const record of records) await log.append([{ topic: accountsTopic, partition: 0, records: [record] }]);
    await log.close();
  }

  const storeLoans = (): Promise<void> => {
    const loans = Array.from({ length: loanCount }, (_, at) => loanRecord({ id: `loan-${at}`, loanName: longName }));
    return store(productRecord(), ...loans);
  };

  function start(environment: Record<string, string> = {}): void {
    output = [];
    errorLines = '';
    child = spawnService(folder, { LENDING_PARTITIONS: '1', LOG_LEVEL: 'error', ...environment }, 'pipe');
    exited = once(child, 'close');
    child.stderr?.on('data', (chunk: Buffer) => (errorLines += chunk.toString()));
    ready = readyAddress(child, { withinMilliseconds: 60_000, onLine: (line) => output.push(line) });
    // Not every test waits for it.
    ready.catch(() => undefined);
  }

  /** The address that a process prints which does not start within a moment. */
  async function listeningAddress(): Promise<string> {
    const printed = (): string | undefined => /listens at (\S+) and is starting/.exec(output.join())?.[1];
    await eventually(() => printed() !== undefined, 30_000);
    return printed() ?? '';
  }

  async function health(url: string): Promise<{ readonly ready: boolean; readonly parts: readonly Part[] }> {
    const { status, body } = await call(`${url}/health`, 'GET', undefined, { Accept: 'application/json' });
    expect(status).to.equal(200);
    return body as never;
  }

  const copyOf = async (url: string): Promise<Part | undefined> =>
    (await health(url)).parts.find(({ name }) => name === 'accounts-copy');

  it('shows how far it is, refuses all other requests, continues where it was after a stop, and serves when it has them', async function () {
    this.timeout(60_000);
    await storeLoans();
    start(slow);
    let url = await listeningAddress();
    const first = await health(url);
    expect(first.ready).to.equal(false);
    expect(first.parts.filter((part) => !part.ready).map(({ name }) => name)).to.deep.equal([
      'process',
      'accounts-copy',
    ]);
    const copy = await copyOf(url);
    const { records_read: recordsRead = 0, records = 0, percent = 0 } = copy?.progress ?? {};
    expect(records).to.equal(recordCount);
    expect(recordsRead).to.be.greaterThan(0).and.lessThan(recordCount);
    expect(percent).to.equal(Math.floor((100 * recordsRead) / recordCount));
    expect(copy?.reason).to.equal(
      `The local copy of accounts is being read from the log: ${recordsRead} of ${recordCount} records, ${percent} %.`,
    );

    const ask = (path: string, method = 'GET', body?: unknown): Promise<HttpResponse> =>
      call(`${url}${path}`, method, body);
    const readiness = await ask('/ready');
    expect([readiness.status, readiness.headers.get('retry-after')]).to.deep.equal([503, '1']);
    const [starting, reading] = readiness.body['reasons'] as string[];
    expect(starting).to.equal('The process is starting.');
    expect(reading).to.match(/being read from the log: \d+ of 61 records, \d+ %\.$/);
    for (const path of ['/health', '/metrics', '/version', '/admin', '/openapi.json']) {
      expect((await ask(path)).status, path).to.equal(200);
    }
    const detail = /^The process is starting\. The local copy of accounts is being read from the log: .* %\.$/;
    for (const response of [await ask('/event-types'), await ask('/subscriptions', 'POST', {})]) {
      expect([response.status, response.headers.get('retry-after')]).to.deep.equal([503, '1']);
      expect(response.headers.get('content-type')).to.equal('application/problem+json');
      expect(response.body).to.deep.include({ title: 'Service Unavailable', status: 503 });
      expect(response.body['detail']).to.match(detail);
    }
    for (const response of [await ask('/loans'), await ask('/loans', 'POST', {}), await ask('/toggles')]) {
      expect([response.status, response.headers.get('retry-after')]).to.deep.equal([503, '1']);
      const [error] = response.body['errors'] as { errorReason: string; errorSource: string }[];
      expect(error).to.deep.include({ errorCode: 10_003, errorReason: 'SERVICE_UNAVAILABLE' });
      expect(error?.errorSource).to.match(detail);
    }
    await eventually(async () => ((await copyOf(url))?.progress?.records_read ?? 0) > recordsRead);
    const stoppedAt = performance.now();
    child.kill('SIGTERM');
    await exited;
    expect(performance.now() - stoppedAt).to.be.lessThan(promptMilliseconds);
    expect([child.exitCode, errorLines]).to.deep.equal([0, '']);
    expect(output.join()).to.not.include('ready at');

    start(slow);
    url = await listeningAddress();
    expect((await copyOf(url))?.progress?.records)
      .to.be.greaterThan(0)
      .and.lessThan(recordCount);
    expect(output.join()).to.not.include('ready at');
    child.kill('SIGUSR2');
    expect(await ready).to.equal(url);
    expect((await ask('/ready')).status).to.equal(200);
    expect((await health(url)).parts.filter((part) => !part.ready || part.progress !== null)).to.deep.equal([]);
    expect((await ask(`/loans/loan-${loanCount - 1}`)).body['loanName']).to.equal(longName);
    expect((await ask('/event-types')).status).to.equal(200);
    expect(errorLines).to.equal('');
  });

  it('ends with the reason when it meets an account that it cannot read', async () => {
    const unreadable = { key: 'loan/loan-9', value: Buffer.from('{"format":99}') };
    await store(loanRecord({ id: 'loan-1', loanName: longName }), unreadable);
    start({ LOG_LEVEL: 'silent' });
    await exited;
    expect(child.exitCode).to.equal(1);
    expect(errorLines).to.match(/^lendstream: .*it is of format 99, and this version reads format 4/);
    // A start that takes a second prints where it can be watched.
    expect(output.join()).to.not.include('ready at');
  });

  it('refuses accounts of another format in one line', async () => {
    await store({ key: 'loan/loan-9', value: Buffer.from('{"format":99}') });
    start();
    await exited;
    expect(child.exitCode).to.equal(1);
    expect(errorLines.trimEnd().split('\n')).to.have.length(1);
    expect(errorLines).to.match(/^lendstream: The log has accounts of format 99, and this version reads format 4/);
    expect(output.join()).to.not.include('ready at');
  });
});
