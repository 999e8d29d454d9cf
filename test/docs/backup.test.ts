import { expect } from 'chai';
import { describe, it } from 'mocha';
import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFile, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { fencedBlocks } from '../../scripts/docs/markdown.ts';
import { annuityProduct } from '../../src/admin/example-product.ts';
import { packageRoot } from '../../src/package-root.ts';
import { call, eventsOf, openStream } from '../support/http/client.ts';
import { removeFolder, startService, temporaryFolder, type Service } from '../support/processes/service.ts';

const eventType = {
  name: 'backup.counted',
  owning_application: 'tests',
  category: 'undefined',
  schema: { type: 'json_schema', schema: '{"type":"object"}' },
};

const product = annuityProduct('plain');

const backupProgram = fileURLToPath(new URL('../../src/backup.js', import.meta.url));

/** Runs the program of both scripts. Returns its exit code and what it printed on standard error. */
async function runProgram(dataFolder: string, ...words: string[]): Promise<{ code: number; error: string }> {
  const child = spawn(process.execPath, [backupProgram, ...words], {
    env: { ...process.env, DATA_DIR: dataFolder },
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  const [error, [code]] = await Promise.all([text(child.stderr), once(child, 'exit') as Promise<[number]>]);
  return { code, error };
}

/** The command of docs/operating.md that is marked with a word, with other folders. */
async function run(word: 'backup' | 'restore', dataFolder: string, backup: string): Promise<void> {
  const blocks = fencedBlocks(await readFile(join(packageRoot, 'docs/operating.md'), 'utf8'));
  const command = blocks.find(({ words }) => words[0] === word)?.text;
  expect(command).to.match(new RegExp(`^DATA_DIR=\\w+ scripts/${word} backups/monday\n$`));
  const script = await readFile(join(packageRoot, 'scripts', word), 'utf8');
  // The script installs and builds first, which has been done here.
  const action = word === 'backup' ? 'make' : 'restore';
  expect(script).to.contain(`exec node --enable-source-maps "$project/dist/src/backup.js" ${action} "$@"`);
  expect(await runProgram(dataFolder, action, backup)).to.deep.equal({ code: 0, error: '' });
}

/** Publishes numbered events one after another until it is told to stop, and counts the acknowledged ones. */
function publishAll(url: string): { acknowledged: () => number; stop: () => Promise<void> } {
  let acknowledged = 0;
  const stopping = new AbortController();
  const publishing = (async () => {
    while (!stopping.signal.aborted) {
      const { status } = await call(`${url}/event-types/${eventType.name}/events`, 'POST', [{ number: acknowledged }]);
      expect(status).to.equal(200);
      acknowledged += 1;
    }
  })();
  return {
    acknowledged: () => acknowledged,
    stop: async () => {
      stopping.abort();
      await publishing;
    },
  };
}

/** The body of a response, to the last digit. */
async function textOf(url: string): Promise<string> {
  const response = await fetch(url);
  expect(response.status).to.equal(200);
  return response.text();
}

async function numbersOf(service: Service, subscriptionId: string, least: number): Promise<unknown[]> {
  const query = '?batch_limit=1000&batch_flush_timeout=1&max_uncommitted_events=1000000';
  const stream = await openStream(service.url, subscriptionId, query);
  await stream.until((batches) => eventsOf(batches).length >= least);
  stream.close();
  return eventsOf(stream.batches).map(({ number }) => number);
}

describe('the backup that docs/operating.md describes', () => {
  it('holds everything acknowledged before it, when made under load and restored elsewhere', async () => {
    const folder = await temporaryFolder();
    const copies = await temporaryFolder();
    const running: Service[] = [];
    const start = async (dataFolder: string): Promise<Service> => {
      const service = await startService(dataFolder);
      running.push(service);
      return service;
    };
    try {
      const service = await start(folder);
      const { url } = service;
      await call(`${url}/event-types`, 'POST', eventType);
      const { body: subscription } = await call(`${url}/subscriptions`, 'POST', {
        owning_application: 'tests',
        event_types: [eventType.name],
        read_from: 'begin',
      });
      expect((await call(`${url}/loanproducts`, 'POST', product)).status).to.equal(201);
      for (const id of ['saved', 'paid']) {
        const loan = { id, productTypeKey: product.id, loanAmount: 1000 };
        expect((await call(`${url}/loans`, 'POST', loan)).status).to.equal(201);
      }
      await call(`${url}/loans/paid:changeState`, 'POST', { action: 'APPROVE' });
      await call(`${url}/loans/paid/disbursement-transactions`, 'POST', {});
      const repayment = { amount: 315.47 };
      expect((await call(`${url}/loans/paid/repayment-transactions`, 'POST', repayment)).status).to.equal(201);
      const balances = await textOf(`${url}/loans/paid/balances`);
      await call(`${url}/event-types/${eventType.name}/events`, 'POST', [{ number: 'first' }]);
      const stream = await openStream(url, String(subscription['id']));
      await stream.until((batches) => eventsOf(batches).length === 1);
      const [batch] = stream.batches;
      expect((await stream.commit(batch === undefined ? [] : [batch.cursor])).status).to.equal(204);
      stream.close();

      const load = publishAll(url);
      while (load.acknowledged() < 50) await new Promise((resolve) => setTimeout(resolve, 10));
      const before = load.acknowledged();
      const backup = join(copies, 'monday');
      await run('backup', folder, backup);
      await load.stop();
      await service.kill();

      const restored = join(copies, 'restored');
      await run('restore', restored, backup);
      const again = await start(restored);
      const numbers = await numbersOf(again, String(subscription['id']), before);
      // The committed event is not delivered again; all others are, in order, up to the moment of the backup.
      expect(numbers.length).to.be.at.least(before);
      expect(numbers).to.deep.equal(numbers.map((_, index) => index));
      expect(await textOf(`${again.url}/loans/paid/balances`)).to.equal(balances);
      const found = await call(`${again.url}/loans/saved`, 'GET');
      expect(found.body['accountState']).to.equal('PENDING_APPROVAL');
      const approved = await call(`${again.url}/loans/saved:changeState`, 'POST', { action: 'APPROVE' });
      expect(approved.body['accountState']).to.equal('APPROVED');
      await call(`${again.url}/event-types/${eventType.name}/events`, 'POST', [{ number: numbers.length }]);
      expect(await numbersOf(again, String(subscription['id']), numbers.length + 1)).to.have.length(numbers.length + 1);
    } finally {
      for (const service of running) if (service.child.exitCode === null) await service.kill();
      await removeFolder(folder);
      await removeFolder(copies);
    }
  });

  it("overwrites no existing backup, and a copy of a stopped service's folder is a backup too", async () => {
    const folder = await temporaryFolder();
    const copies = await temporaryFolder();
    try {
      const service = await startService(folder);
      await call(`${service.url}/event-types`, 'POST', eventType);
      const events = [{ number: 0 }, { number: 1 }];
      expect((await call(`${service.url}/event-types/${eventType.name}/events`, 'POST', events)).status).to.equal(200);
      const backup = join(copies, 'monday');
      await run('backup', folder, backup);
      const before = await readFile(join(backup, 'manifest.json'), 'utf8');
      const again = await runProgram(folder, 'make', backup);
      expect(again).to.deep.equal({
        code: 1,
        error: `lendstream: ${backup} exists already; a backup never overwrites anything\n`,
      });
      expect(await readFile(join(backup, 'manifest.json'), 'utf8')).to.equal(before);
      expect(await readdir(copies)).to.deep.equal(['monday']);
      expect(await service.stop()).to.equal(0);

      const copied = join(copies, 'copied');
      await promisify(execFile)('cp', ['-r', folder, copied]);
      const started = await startService(copied);
      const { body: subscription } = await call(`${started.url}/subscriptions`, 'POST', {
        owning_application: 'tests',
        event_types: [eventType.name],
        read_from: 'begin',
      });
      expect(await numbersOf(started, String(subscription['id']), 2)).to.deep.equal([0, 1]);
      await started.stop();
    } finally {
      await removeFolder(folder);
      await removeFolder(copies);
    }
  });
});
