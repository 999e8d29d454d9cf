import { expect } from 'chai';
import { after, before, describe, it } from 'mocha';
import { commandIdOf } from '../../../src/http/lending/idempotency-key.ts';
import type { HttpResponse } from '../../support/http/client.ts';
import { annuityProduct } from '../../../src/admin/example-product.ts';
import { eventually } from '../../support/eventually.ts';
import { SimulatedClock } from '../../support/simulated-clock.ts';
import { lendingServiceForSuite } from './lending-service.ts';

const atOnce = { Prefer: 'wait=0' };
const under = (key: string) => ({ 'Idempotency-Key': key });

describe('a request that changes a loan', () => {
  const suite = lendingServiceForSuite();
  const { openActive } = suite;

  const open = (id: string, headers?: Record<string, string>): Promise<HttpResponse> =>
    suite.service.post('/loans', { id, productTypeKey: 'annuity', loanAmount: 1000 }, headers);

  const repay = (id: string, amount: number, headers?: Record<string, string>): Promise<HttpResponse> =>
    suite.service.post(`/loans/${id}/repayment-transactions`, { amount }, headers);

  async function repaymentsOf(id: string): Promise<number> {
    const transactions = JSON.parse((await suite.service.get(`/loans/${id}/transactions`)).text) as { type: string }[];
    return transactions.filter(({ type }) => type === 'REPAYMENT').length;
  }

  /** Polls until the command has an outcome. */
  async function decided(
    location: string,
    get = (path: string): Promise<HttpResponse> => suite.service.get(path),
  ): Promise<HttpResponse> {
    for (let tries = 0; tries < 500; tries += 1) {
      const response = await get(location);
      if (response.body['status'] !== 'PENDING') return response;
      await new Promise((resolve) => setTimeout(resolve, 10));
    }
    throw new Error(`${location} was not decided in time`);
  }

  describe('while no worker runs', () => {
    before(() => suite.service.stopWorker());
    after(() => suite.service.startWorker());

    it('returns 202 with an address to poll, and is decided once a worker runs', async () => {
      const response = await open('later', atOnce);
      expect(response.status).to.equal(202);
      expect(response.headers.get('preference-applied')).to.equal('wait=0');
      const location = String(response.headers.get('location'));
      expect(location).to.equal(`/commands/${String(response.body['commandId'])}`);
      expect((await suite.service.get(location)).body).to.include({ status: 'PENDING' });
      expect((await suite.service.get('/loans/later')).status).to.equal(404);
      await suite.service.startWorker();
      expect((await decided(location)).body).to.include({ status: 'COMMITTED', loanAccountId: 'later' });
      expect((await suite.service.get('/loans/later')).status).to.equal(200);
      await suite.service.stopWorker();
    });

    it('conflicts with itself under the same key, and later replays its outcome', async () => {
      const first = await open('conflict', { ...atOnce, ...under('conflict') });
      expect(first.status).to.equal(202);
      const second = await open('conflict', { ...atOnce, ...under('conflict') });
      expect(second.status).to.equal(409);
      expect(second.headers.get('retry-after')).to.equal('5');
      expect((second.body['errors'] as Record<string, unknown>[])[0]?.['errorReason']).to.equal(
        'ANOTHER_TASK_IN_PROGRESS',
      );
      await suite.service.startWorker();
      await decided(String(first.headers.get('location')));
      const third = await open('conflict', under('conflict'));
      expect(third.status).to.equal(201);
      expect(third.headers.get('idempotent-replayed')).to.equal('true');
      expect(third.body).to.include({ id: 'conflict' });
      await suite.service.stopWorker();
    });
  });

  describe('under an Idempotency-Key', () => {
    before(() => openActive('keyed'));

    it('runs once and repeats its response byte for byte', async () => {
      const first = await repay('keyed', 100, under('once'));
      expect(first.status, first.text).to.equal(201);
      expect(first.headers.get('idempotent-replayed')).to.equal(null);
      const second = await repay('keyed', 100, under('once'));
      expect(second.status).to.equal(201);
      expect(second.text).to.equal(first.text);
      expect(second.headers.get('idempotent-replayed')).to.equal('true');
      expect(await repaymentsOf('keyed')).to.equal(1);
    });

    it('runs once when many are sent at the same time', async () => {
      const before = await repaymentsOf('keyed');
      const responses = await Promise.all(Array.from({ length: 10 }, () => repay('keyed', 1, under('rush'))));
      const statuses = responses.map(({ status }) => status);
      expect(statuses.filter((status) => status === 201).length).to.be.greaterThan(0);
      expect(statuses.filter((status) => status !== 201 && status !== 409)).to.deep.equal([]);
      expect(await repaymentsOf('keyed')).to.equal(before + 1);
    });

    it('is refused with a different body', async () => {
      await repay('keyed', 2, under('reused'));
      const other = await repay('keyed', 3, under('reused'));
      expect(other.status).to.equal(422);
      expect((other.body['errors'] as Record<string, unknown>[])[0]?.['errorReason']).to.equal(
        'IDEMPOTENCY_KEY_ALREADY_USED',
      );
    });

    it('is recognised however its path is written', async () => {
      const first = await repay('keyed', 1, under('written'));
      for (const path of ['/loans/keyed/repayment-transactions/', '/loans/%6Beyed/repayment-transactions?x=1']) {
        const again = await suite.service.post(path, { amount: 1 }, under('written'));
        expect(again.headers.get('idempotent-replayed'), path).to.equal('true');
        expect(again.text).to.equal(first.text);
      }
    });

    it('is independent of the same key on another path', async () => {
      expect((await open('key-here', under('paths'))).status).to.equal(201);
      expect((await repay('keyed', 4, under('paths'))).headers.get('idempotent-replayed')).to.equal(null);
    });

    it('replays the refusal that the worker decided', async () => {
      const first = await repay('keyed', 1_000_000, under('refused'));
      expect(first.status).to.equal(400);
      const second = await repay('keyed', 1_000_000, under('refused'));
      expect(second.status).to.equal(400);
      expect(second.text).to.equal(first.text);
      expect(second.headers.get('idempotent-replayed')).to.equal('true');
    });

    it('may be sent again when its form was wrong, because it never became a command', async () => {
      const path = '/loans/keyed/repayment-transactions';
      expect((await suite.service.post(path, { amount: 'five' }, under('form'))).status).to.equal(400);
      expect((await suite.service.post(path, { amount: 5 }, under('form'))).status).to.equal(201);
    });

    it('runs once even after a restart, which forgets the stored response but not the command', async () => {
      const first = await repay('keyed', 6, under('restart'));
      const refused = await repay('keyed', 1_000_000, under('restart-refused'));
      const opened = await suite.service.post(
        '/loans',
        { productTypeKey: 'annuity', loanAmount: 7 },
        under('restart-open'),
      );
      const product = await suite.service.post('/loanproducts', annuityProduct('restarted'), under('restart-product'));
      expect([first, refused, opened, product].map(({ status }) => status)).to.deep.equal([201, 400, 201, 201]);
      const before = await repaymentsOf('keyed');
      await suite.restart();
      const again = [
        await repay('keyed', 6, under('restart')),
        await repay('keyed', 1_000_000, under('restart-refused')),
        await suite.service.post('/loans', { productTypeKey: 'annuity', loanAmount: 7 }, under('restart-open')),
        await suite.service.post('/loanproducts', annuityProduct('restarted'), under('restart-product')),
      ];
      expect(again.map(({ status, text }) => [status, text])).to.deep.equal(
        [first, refused, opened, product].map(({ status, text }) => [status, text]),
      );
      expect(again.map(({ headers }) => headers.get('idempotent-replayed'))).to.deep.equal([
        'true',
        'true',
        'true',
        'true',
      ]);
      expect(await repaymentsOf('keyed')).to.equal(before);
    });
  });

  it('reports how long it would have waited, at most two minutes', async () => {
    const waits: [preference: string, applied: string | null][] = [
      ['wait=0', 'wait=0'],
      ['wait=119', 'wait=119'],
      ['wait=120', 'wait=120'],
      ['wait=121', 'wait=120'],
      ['respond-async, WAIT="7"', 'wait=7'],
      ['wait=-1', null],
      ['wait=1000000000', null],
      ['', null],
    ];
    for (const [Prefer, applied] of waits) {
      const response = await open(`preferring-${waits.findIndex(([known]) => known === Prefer)}`, { Prefer });
      expect(response.status, response.text).to.equal(Prefer === 'wait=0' ? 202 : 201);
      expect(response.headers.get('Preference-Applied'), Prefer).to.equal(applied);
    }
  });

  it('returns 202 with wait=0 even when it is decided before its acknowledgement', async () => {
    let isHeld = false;
    const decidedFirst = async (): Promise<void> => {
      if (isHeld) await eventually(async () => (await suite.service.get('/loans/at-once')).status === 200);
    };
    await suite.restart(true, { beforeAcknowledgement: decidedFirst });
    isHeld = true;
    const response = await open('at-once', atOnce);
    expect(response.status, response.text).to.equal(202);
    const location = String(response.headers.get('location'));
    expect((await suite.service.get(location)).body).to.include({ status: 'COMMITTED', loanAccountId: 'at-once' });
    await suite.restart();
  });

  describe('on a service that waits at most a second, without a worker', () => {
    const wait = { secondsDefault: 0.3, secondsMaximum: 1 };
    const clock = new SimulatedClock();
    /** Room for two outcomes of some 600 bytes, and for no third. */
    const outcomes = { recentBytesMaximum: 1_500 };
    const limits = { outcomeWait: wait, outcomes, clock };

    before(() => suite.restart(false, limits));
    after(() => suite.restart());

    /** The response to a request that looks up something unknown: the next such lookup waits for a pause to end. */
    async function turning(request: Promise<HttpResponse>): Promise<HttpResponse> {
      let isAnswered = false;
      const answered = request.finally(() => (isAnswered = true));
      await eventually(async () => {
        await clock.turn(20);
        return isAnswered;
      });
      return answered;
    }

    const get = (path: string): Promise<HttpResponse> => turning(suite.service.get(path));

    for (const [Prefer, applied, seconds] of [
      [undefined, null, wait.secondsDefault],
      ['respond-async', null, wait.secondsDefault],
      ['wait=0', 'wait=0', 0],
      ['wait=1', 'wait=1', wait.secondsMaximum],
      ['wait=2', 'wait=1', wait.secondsMaximum],
      ['wait=120', 'wait=1', wait.secondsMaximum],
    ] as const) {
      it(`returns 202 after ${seconds} s with ${Prefer === undefined ? 'no Prefer' : `Prefer: ${Prefer}`}`, async () => {
        let isAnswered = false;
        // What is due each second is then not due together with the response.
        if (clock.monotonic() === 0) await clock.turn(20);
        const answered = open(
          `wait-${String(Prefer).replace('=', '-')}`,
          Prefer === undefined ? {} : { Prefer },
        ).finally(() => (isAnswered = true));
        if (seconds > 0) {
          await eventually(() => clock.hasDeadline(clock.monotonic() + seconds * 1_000));
          await clock.turn(seconds * 1_000 - 1);
          expect(isAnswered).to.equal(false);
          await clock.turn(1);
        }
        const response = await answered;
        expect(response.status, response.text).to.equal(202);
        expect(response.headers.get('preference-applied')).to.equal(applied);
        expect(response.headers.get('location')).to.equal(`/commands/${String(response.body['commandId'])}`);
        expect(response.headers.get('retry-after')).to.equal('1');
      });
    }

    it('is refused with a different body while the first one is in progress', async () => {
      expect((await turning(open('under-way', { ...atOnce, ...under('under-way') }))).status).to.equal(202);
      const other = await turning(
        suite.service.post(
          '/loans',
          { id: 'under-way', productTypeKey: 'annuity', loanAmount: 1001 },
          under('under-way'),
        ),
      );
      expect([other.status, other.headers.get('retry-after')]).to.deep.equal([422, null]);
    });

    it('can be polled by its id, in any case, until the limit of remembered outcomes is reached', async () => {
      // All commands of the tests above come first.
      await suite.service.startWorker();
      for (const id of ['wait-undefined', 'wait-respond-async', 'wait-wait-0', 'wait-wait-120', 'under-way']) {
        await eventually(async () => (await get(`/loans/${id}`)).status !== 404);
      }
      await suite.service.stopWorker();
      const sent: string[] = [];
      for (let times = 0; times < 3; times += 1)
        sent.push(String((await open('asked', atOnce)).headers.get('location')));
      for (const location of sent) {
        const pending = await get(location.toUpperCase().replace('/COMMANDS/', '/commands/'));
        expect([pending.status, pending.body['status'], pending.headers.get('retry-after')]).to.deep.equal([
          200,
          'PENDING',
          '1',
        ]);
      }
      await suite.service.startWorker();
      const last = await decided(sent[2] ?? '', get);
      expect([last.body['status'], last.headers.get('retry-after')]).to.deep.equal(['REFUSED', null]);
      const statuses = await Promise.all(sent.map(async (location) => (await get(location)).status));
      expect(statuses).to.deep.equal([404, 200, 200]);
      expect((await get('/commands/00000000-0000-4000-8000-000000000000')).status).to.equal(404);
      await suite.service.stopWorker();
    });
  });

  it('continues when its client disconnects', async () => {
    await suite.service.stopWorker();
    const connection = new AbortController();
    const sent = fetch(`${suite.service.url}/loans`, {
      method: 'POST',
      headers: under('hung-up'),
      body: JSON.stringify({ id: 'hung-up', productTypeKey: 'annuity', loanAmount: 1000 }),
      signal: connection.signal,
    }).catch((error: unknown) => error);
    const location = `/commands/${commandIdOf('hung-up', '/loans')}`;
    while ((await suite.service.get(location)).body['status'] !== 'PENDING') {
      await new Promise((resolve) => setTimeout(resolve, 5));
    }
    connection.abort();
    await sent;
    await suite.service.startWorker();
    expect((await decided(location)).body).to.include({ status: 'COMMITTED', loanAccountId: 'hung-up' });
    expect((await suite.service.get('/loans/hung-up')).status).to.equal(200);
  });
});
