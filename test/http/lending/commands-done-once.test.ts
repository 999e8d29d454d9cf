import { expect } from 'chai';
import { after, before, describe, it } from 'mocha';
import { systemClock } from '../../../src/clock.ts';
import { annuityProduct } from '../../../src/admin/example-product.ts';
import { hashPartition } from '../../../src/broker/publishing/partitioning.ts';
import { registryTopic } from '../../../src/broker/definitions/registry.ts';
import { commandIdOf } from '../../../src/http/lending/idempotency-key.ts';
import type { CommandType } from '../../../src/lending-format/command-format.ts';
import { accountsTopic } from '../../../src/lending-format/lending-topics.ts';
import { parseIdempotencyRecord, idempotencyRecordKey } from '../../../src/lending-format/idempotency-record.ts';
import type { HttpResponse } from '../../support/http/client.ts';
import { commandRecord, eventsOfPartition, recordsOf, send } from '../../support/lending/lending-log.ts';
import { eventually } from '../../support/eventually.ts';
import { removeFolder, temporaryFolder } from '../../support/processes/service.ts';
import { type LendingService, lendingServiceForSuite, partitionCount, startLendingService } from './lending-service.ts';

type Json = Record<string, unknown>;

const under = (key: string) => ({ 'Idempotency-Key': key });
const isReplayed = (response: HttpResponse): boolean => response.headers.get('idempotent-replayed') === 'true';
const reasonOf = ({ body }: HttpResponse): unknown => (body['errors'] as Json[] | undefined)?.[0]?.['errorReason'];

describe('a request under an Idempotency-Key', () => {
  const suite = lendingServiceForSuite();
  const { openActive } = suite;

  const transactionsOf = async (id: string): Promise<Json[]> =>
    JSON.parse((await suite.service.get(`/loans/${id}/transactions?limit=1000`)).text) as Json[];

  /** Appends a command to the log as a producer does, without the API. */
  async function publish(type: CommandType, id: string, payload: Json, commandId: string): Promise<void> {
    await send(
      suite.service.log,
      [commandRecord({ type, id, payload, commandId })],
      hashPartition([id], partitionCount),
    );
  }

  const rejectedOf = (id: string): Promise<Json[]> =>
    eventsOfPartition(suite.service.log, 'command_rejected', hashPartition([id], partitionCount));

  it('charges its fee once, with 70 other commands and a restart in between', async () => {
    await openActive('fee');
    const charge = (): Promise<HttpResponse> =>
      suite.service.post('/loans/fee/fee-transactions', { amount: 5, installmentNumber: 1 }, under('fee-of-march'));
    const first = await charge();
    expect(first.status, first.text).to.equal(201);
    for (let count = 0; count < 70; count += 1) {
      const other = await suite.service.post('/loans/fee/penalty-transactions', { amount: 0.01, installmentNumber: 1 });
      expect(other.status, other.text).to.equal(201);
    }
    const again = await charge();
    await suite.restart();
    const restarted = await charge();
    expect([again, restarted].map(({ status, text }) => ({ status, text }))).to.deep.equal([
      { status: 201, text: first.text },
      { status: 201, text: first.text },
    ]);
    expect([first, again, restarted].map(isReplayed)).to.deep.equal([false, true, true]);
    expect((await transactionsOf('fee')).filter(({ type }) => type === 'FEE_CHARGED')).to.have.length(1);
  });

  it('is refused with a different body after a restart too, whatever its outcome', async () => {
    await openActive('other-body');
    const requests: [path: string, body: Json, other: Json, status: number][] = [
      ['/loans/other-body/repayment-transactions', { amount: 10 }, { amount: 11 }, 201],
      ['/loans/other-body/repayment-transactions', { amount: 1_000_000 }, { amount: 1 }, 400],
      ['/loans/other-body:changeState', { action: 'APPROVE' }, { action: 'REJECT' }, 400],
      ['/loans', { productTypeKey: 'annuity', loanAmount: 7 }, { productTypeKey: 'annuity', loanAmount: 8 }, 201],
      ['/loanproducts', annuityProduct('other-body'), { ...annuityProduct('other-body'), name: 'Other' }, 201],
    ];
    const key = (index: number): Record<string, string> => under(`other-body-${index}`);
    const first = [];
    for (const [index, [path, body, , status]] of requests.entries()) {
      const response = await suite.service.post(path, body, key(index));
      expect(response.status, `${path} ${response.text}`).to.equal(status);
      first.push(response.text);
    }
    for (const isRestarted of [false, true]) {
      if (isRestarted) await suite.restart();
      for (const [index, [path, body, other, status]] of requests.entries()) {
        const refused = await suite.service.post(path, other, key(index));
        expect(refused.status, `${path} ${refused.text}`).to.equal(422);
        expect(reasonOf(refused)).to.equal('IDEMPOTENCY_KEY_ALREADY_USED');
        const again = await suite.service.post(path, body, key(index));
        expect(again.status, again.text).to.equal(status);
        expect(again.text).to.equal(first[index]);
        expect(isReplayed(again)).to.equal(true);
      }
    }
    expect((await transactionsOf('other-body')).filter(({ type }) => type === 'REPAYMENT')).to.have.length(1);
  });

  it('is refused with a body that names another loan or product, on any partition', async () => {
    const ids = ['a', 'b', 'c', 'd', 'e', 'f'].map((letter) => `elsewhere-${letter}`);
    expect(new Set(ids.map((id) => hashPartition([id], partitionCount))).size).to.equal(partitionCount);
    const creations: [path: string, bodyOf: (id: string) => unknown][] = [
      ['/loans', (id) => ({ id, productTypeKey: 'annuity', loanAmount: 1 })],
      ['/loanproducts', (id) => annuityProduct(id)],
    ];
    for (const isRestarted of [false, true]) {
      if (isRestarted) await suite.restart();
      for (const [path, bodyOf] of creations) {
        const first = await suite.service.post(path, bodyOf(ids[0] ?? ''), under('elsewhere'));
        expect(first.status, first.text).to.equal(201);
        for (const id of ids.slice(1)) {
          const refused = await suite.service.post(path, bodyOf(id), under('elsewhere'));
          expect(refused.status, refused.text).to.equal(422);
          expect((await suite.service.get(`${path}/${id}`)).status).to.equal(404);
        }
      }
    }
  });

  it('is recognised when it comes as an event, and refused when that event requests something else', async () => {
    await openActive('mixed');
    const path = '/loans/mixed/repayment-transactions';
    const repaid = await suite.service.post(path, { amount: 10, valueDate: '2011-02-01' }, under('mixed'));
    expect(repaid.status, repaid.text).to.equal(201);
    const commandId = commandIdOf('mixed', path);
    for (const isRestarted of [false, true]) {
      if (isRestarted) await suite.restart();
      const before = (await rejectedOf('mixed')).length;
      await publish('REPAY', 'mixed', { amount: 10, valueDate: '2011-02-01' }, commandId);
      await publish('REPAY', 'mixed', { amount: 12, valueDate: '2011-02-01' }, commandId);
      await eventually(async () => (await rejectedOf('mixed')).length === before + 1);
      expect((await rejectedOf('mixed')).at(-1)).to.deep.include({
        causationCommandId: commandId,
        errors: [{ errorCode: 4, errorReason: 'INVALID_PARAMETERS', errorSource: 'commandId' }],
      });
      expect((await transactionsOf('mixed')).map(({ amount }) => amount)).to.deep.equal([1000, 10]);
      const { body } = await suite.service.get(`/commands/${commandId}`);
      if (!isRestarted)
        expect(body).to.include({ status: 'COMMITTED', transactionEncodedKey: repaid.body['encodedKey'] });
    }
  });

  it('is done once when the event came first', async () => {
    await openActive('event-first');
    const path = '/loans/event-first/repayment-transactions';
    await publish('REPAY', 'event-first', { amount: 10 }, commandIdOf('event-first', path));
    await eventually(async () => (await transactionsOf('event-first')).length === 2);
    const response = await suite.service.post(path, { amount: 10 }, under('event-first'));
    expect(response.status, response.text).to.equal(201);
    expect(isReplayed(response)).to.equal(true);
    const other = await suite.service.post(path, { amount: 11 }, under('event-first'));
    expect(other.status, other.text).to.equal(422);
    expect(await transactionsOf('event-first')).to.have.length(2);
  });

  it('replays an adjustment, which could not be made a second time', async () => {
    await openActive('adjusted');
    const repaid = await suite.service.post('/loans/adjusted/repayment-transactions', { amount: 10 });
    const path = `/loans/transactions/${String(repaid.body['id'])}:adjust`;
    const first = await suite.service.post(path, { notes: 'wrong' }, under('adjusted'));
    expect(first.status, first.text).to.equal(200);
    await suite.service.post('/loans/adjusted/repayment-transactions', { amount: 20 });
    await suite.restart();
    const again = await suite.service.post(path, { notes: 'wrong' }, under('adjusted'));
    expect([again.status, again.text, isReplayed(again)]).to.deep.equal([200, first.text, true]);
    expect((await suite.service.post(path, { notes: 'other' }, under('adjusted'))).status).to.equal(422);
  });

  it('is recognised by other partitions for the documented time, to the millisecond', async () => {
    const hour = 3_600_000;
    let time: number | undefined;
    const clock = { ...systemClock, now: () => time ?? Date.now(), monotonic: () => performance.now() };
    await suite.restart(true, { clock, idempotencyMilliseconds: hour });
    const ids = ['a', 'b', 'c', 'd', 'e', 'f'].map((letter) => `aged-${letter}`);
    const [one, other] = [0, 1].map((partition) => ids.find((id) => hashPartition([id], partitionCount) === partition));
    const open = (id = ''): Promise<HttpResponse> =>
      suite.service.post('/loans', { id, productTypeKey: 'annuity', loanAmount: 1 }, under('aged'));
    const first = await open(one);
    expect(first.status, first.text).to.equal(201);
    const key = idempotencyRecordKey(commandIdOf('aged', '/loans'));
    const record = (await recordsOf(suite.service.log, accountsTopic)).findLast((found) => found.key === key);
    const { decidedAt } = parseIdempotencyRecord(record?.text ?? '');
    time = decidedAt + hour - 1;
    expect((await open(other)).status).to.equal(422);
    time = decidedAt + hour;
    const forgotten = await open(other);
    expect(forgotten.status, forgotten.text).to.equal(201);
    await suite.restart();
  });

  it('may be sent again when it could not be decided, also after a restart, and is then done once', async () => {
    await suite.service.post('/loanproducts', annuityProduct('faulty'));
    const records = await recordsOf(suite.service.log, registryTopic);
    const text = records.findLast(({ key }) => key === 'product/faulty')?.text ?? '';
    const put = async (value: string): Promise<void> => {
      const product = { key: 'product/faulty', value: Buffer.from(value) };
      await suite.service.log.append([{ topic: registryTopic, partition: 0, records: [product] }]);
    };
    // A product as no version of this program writes it: every decision on it throws.
    await put(text.replace('"interestSettings":{', '"interestSettings":null,"was":{'));
    const open = (): Promise<HttpResponse> =>
      suite.service.post('/loans', { productTypeKey: 'faulty', loanAmount: 1000 }, under('undecided'));
    for (const isRestarted of [false, false, true]) {
      if (isRestarted) await suite.restart();
      const failed = await open();
      expect([failed.status, reasonOf(failed)]).to.deep.equal([500, 'INTERNAL_ERROR']);
      const { body } = await suite.service.get(`/commands/${commandIdOf('undecided', '/loans')}`);
      expect(body).to.include({ status: 'FAILED' });
    }
    await put(text);
    for (const [isRestarted, replayed] of [
      [false, false],
      [false, true],
      [true, true],
    ] as const) {
      if (isRestarted) await suite.restart();
      const opened = await open();
      expect([opened.status, isReplayed(opened)], opened.text).to.deep.equal([201, replayed]);
    }
  });
});

describe('requests whose clients no longer wait', () => {
  const waitingMaximum = 20;
  const path = '/loans/unknown/repayment-transactions';
  let folder: string;
  let service: LendingService;

  before(async () => {
    folder = await temporaryFolder();
    service = await startLendingService(folder, false, { outcomes: { waitersMaximum: waitingMaximum } });
  });

  after(async () => {
    await service.stop();
    await removeFolder(folder);
  });

  it('leave room for others, however many there are: they get 202 or are dropped by their sender', async () => {
    const statuses = [];
    for (let count = 0; count <= waitingMaximum; count += 1) {
      statuses.push((await service.post(path, { amount: 1 }, { Prefer: 'wait=0' })).status);
    }
    expect(new Set(statuses)).to.deep.equal(new Set([202]));

    const body = JSON.stringify({ amount: 1 });
    for (let count = 0; count <= waitingMaximum; count += 1) {
      const connection = new AbortController();
      const headers = { ...under(`hung-up-${count}`), 'Content-Type': 'application/json' };
      const sent = fetch(`${service.url}${path}`, { method: 'POST', headers, body, signal: connection.signal });
      const ended = sent.catch((error: unknown) => error);
      const location = `/commands/${commandIdOf(`hung-up-${count}`, path)}`;
      await eventually(async () => (await service.get(location)).body['status'] === 'PENDING');
      connection.abort();
      await ended;
    }
    await eventually(async () => (await service.post(path, { amount: 1 }, { Prefer: 'wait=0' })).status === 202);

    const waiting = Array.from({ length: waitingMaximum }, () => service.post(path, { amount: 1 }));
    await eventually(async () => (await service.post(path, { amount: 1 }, { Prefer: 'wait=0' })).status === 503);
    await service.startWorker();
    expect((await Promise.all(waiting)).map(({ status }) => status)).to.deep.equal(waiting.map(() => 404));
    const response = await service.post(path, { amount: 1 });
    expect(response.status, response.text).to.equal(404);
  });
});
