import { expect } from 'chai';
import { afterEach, beforeEach, describe, it } from 'mocha';
import { randomUUID } from 'node:crypto';
import { readFile, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { annuityProduct } from '../../../src/admin/example-product.ts';
import type { App } from '../../../src/app.ts';
import { systemClock } from '../../../src/clock.ts';
import { readConfig } from '../../../src/config.ts';
import { accountsTopic } from '../../../src/lending-format/lending-topics.ts';
import { silentLogger } from '../../../src/logger.ts';
import { openDatabase } from '../../../src/sqlite.ts';
import { eventually } from '../../support/eventually.ts';
import { call } from '../../support/http/client.ts';
import { removeFolder, temporaryFolder } from '../../support/processes/service.ts';
import { quickClock } from '../../support/values/quick-clock.ts';
import { randomNumbers } from '../../support/random-numbers.ts';
import { createAppHere } from '../../support/processes/service-here.ts';

const marker = 'Zebedee-Quux-4711';
const minute = 60_000;
const factor = 40;
const erasureMinutes = 5;
const retentionMinutes = 6;

/** Every fifth is of the marked person. */
const loans = 15;
const marked = 5;

describe('the files of one machine after an erasure of personal data', () => {
  const random = randomNumbers(20_261_126);
  let folder: string;
  let app: App;
  let url: string;

  const start = async (): Promise<void> => {
    const read = readConfig({
      DATA_DIR: folder,
      PORT: '0',
      ERASURE_MINUTES: String(erasureMinutes),
      END_OF_DAY_SCHEDULE: 'off',
    });
    app = await createAppHere(
      { ...read, retentionMilliseconds: retentionMinutes * minute },
      silentLogger,
      quickClock(factor),
    );
    url = await app.start();
  };

  beforeEach(async () => {
    folder = await temporaryFolder();
    await start();
  });

  afterEach(async () => {
    await app.stop();
    await removeFolder(folder);
  });

  /** The files that have a text, by their names. */
  async function filesWith(text: string): Promise<string[]> {
    const names = await readdir(folder, { recursive: true });
    const found: string[] = [];
    for (const name of names) {
      const bytes = await readFile(join(folder, name)).catch(() => Buffer.alloc(0));
      if (bytes.includes(text)) found.push(name);
    }
    return found.sort();
  }

  /** How many rows of the changelog have the marker. */
  function changelogRows(): number {
    const database = openDatabase(join(folder, 'log.db'), { readOnly: true });
    try {
      const rows = database.prepare(
        `SELECT batch.body FROM batch JOIN partition ON partition.id = partition_id JOIN topic ON topic.id = topic_id
         WHERE topic.name = ?`,
      );
      const bodies = rows.all(accountsTopic) as { body: Uint8Array }[];
      return bodies.filter(({ body }) => Buffer.from(body).includes(marker)).length;
    } finally {
      database.close();
    }
  }

  async function send(method: string, path: string, body: unknown, status: number): Promise<void> {
    const headers = { Prefer: 'wait=120', 'Idempotency-Key': randomUUID() };
    let answer = await call(`${url}${path}`, method, body, headers);
    // On the quick clock, a busy machine may take longer than a record of the audit may.
    while (answer.status === 503 || answer.status === 409) answer = await call(`${url}${path}`, method, body, headers);
    expect(answer.status, `${path}: ${answer.text}`).to.equal(status);
  }

  /** An account of a marked person among others, changed several times, so that its rows lie in many places. */
  async function fill(): Promise<void> {
    await send('POST', '/loanproducts', annuityProduct('annuity'), 201);
    const notes = (text: string): string => text.repeat(1 + Math.floor(random() ** 4 * 40));
    for (let number = 0; number < loans; number += 1) {
      const isMarked = number % marked === 0;
      const text = isMarked ? marker : 'kept-text';
      const path = `/loans/loan-${number}`;
      const named = { loanName: text, accountHolderKey: text, notes: notes(text), _set: { name: text } };
      await send(
        'POST',
        '/loans',
        { id: `loan-${number}`, productTypeKey: 'annuity', loanAmount: 1000, ...named },
        201,
      );
      if (number % 2 === 0) await send('PATCH', path, [{ op: 'REPLACE', path: '/notes', value: notes(text) }], 204);
      await send('POST', `${path}:changeState`, { action: 'APPROVE' }, 200);
      await send('POST', `${path}/disbursement-transactions`, { valueDate: '2011-01-23', notes: notes(text) }, 201);
      await send(
        'POST',
        `${path}/repayment-transactions`,
        { valueDate: '2011-01-24', amount: 1, notes: notes(text) },
        201,
      );
    }
  }

  async function eraseMarked(): Promise<void> {
    for (let number = 0; number < loans; number += marked)
      await send('POST', `/loans/loan-${number}:erasePersonalData`, {}, 204);
  }

  const pass = (minutes: number): Promise<void> => systemClock.sleep((minutes * minute) / factor);

  it('have nothing of it within the time that the setting says, and events and commands with their retention', async function () {
    this.timeout(120_000);
    await fill();
    // In the database, or still in its write-ahead log.
    expect((await filesWith(marker)).join(' ')).to.match(/log\.db/);
    await eraseMarked();
    await pass(erasureMinutes);
    expect(changelogRows(), 'the changelog').to.equal(0);
    expect((await filesWith(marker)).filter((name) => name.startsWith('accounts.db'))).to.deep.equal([]);
    expect(changelogRows()).to.equal(0);
    // Events and commands go with their retention, and with the erasure after that.
    await eventually(
      async () => {
        // To look takes more processor time than what is awaited.
        await systemClock.sleep(500);
        return (await filesWith(marker)).length === 0;
      },
      ((retentionMinutes * 1.1 + erasureMinutes) * minute) / factor + 10_000,
    );
    expect(await filesWith('kept-text')).to.include('accounts.db');
  });

  it('have nothing of an account that was deleted without an erasure, once another one is erased', async function () {
    this.timeout(120_000);
    await send('POST', '/loanproducts', annuityProduct('annuity'), 201);
    const texts = { loanName: marker, accountHolderKey: marker, notes: marker };
    const loan = { productTypeKey: 'annuity', loanAmount: 1000 };
    await send('POST', '/loans', { id: 'deleted', ...loan, ...texts }, 201);
    await send('POST', '/loans', { id: 'other', ...loan }, 201);
    await send('DELETE', '/loans/deleted', undefined, 204);
    expect(changelogRows()).to.be.greaterThan(0);
    await send('POST', '/loans/other:erasePersonalData', {}, 204);
    await pass(erasureMinutes);
    expect(changelogRows(), 'the changelog').to.equal(0);
    expect((await filesWith(marker)).filter((name) => name.startsWith('accounts.db'))).to.deep.equal([]);
  });

  it('have nothing of it after a restart in between', async function () {
    this.timeout(120_000);
    await fill();
    await eraseMarked();
    await app.stop();
    await start();
    await pass(erasureMinutes);
    expect(changelogRows(), 'the changelog').to.equal(0);
    expect((await filesWith(marker)).filter((name) => name.startsWith('accounts.db'))).to.deep.equal([]);
  });
});
