import { expect } from 'chai';
import { after, before, describe, it } from 'mocha';
import { annuityProduct } from '../../../src/admin/example-product.ts';
import { clusterUnderTest, isClusterUnderTest } from '../../support/backend-under-test.ts';
import { eventually } from '../../support/eventually.ts';
import { call, eventsOf, openStream } from '../../support/http/client.ts';
import { type Service, removeFolder, startService, temporaryFolder } from '../../support/processes/service.ts';

const marker = 'Zebedee-Quux-4713';
const types = ['loan_account_changed', 'loan_transaction_posted', 'lendstream.loan-commands'];

describe('the streams after an erasure of personal data', function () {
  this.timeout(120_000);
  const id = `masked-${process.pid}-${Date.now() % 1_000_000}`;
  const folders: string[] = [];
  let service: Service;
  /** On a cluster another process, else the same. */
  let other: Service;

  before(async () => {
    folders.push(await temporaryFolder(), await temporaryFolder());
    const [own = '', second = ''] = folders;
    const environment = { LOG_LEVEL: 'error', ...clusterUnderTest() };
    service = await startService(own, environment);
    other = isClusterUnderTest() ? await startService(second, { ...environment, ROLES: 'serve' }) : service;
    await call(`${service.url}/loanproducts`, 'POST', annuityProduct(`${id}-product`));
  });

  after(async () => {
    await other.stop();
    if (other !== service) await service.stop();
    await Promise.all(folders.map(removeFolder));
  });

  async function send(path: string, body: unknown, status: number): Promise<void> {
    const answer = await call(`${service.url}/loans${path}`, 'POST', body);
    expect(answer.status, answer.text).to.equal(status);
  }

  it('deliver nothing of it: what was stored before, and what a stream had read ahead; retained events neither', async () => {
    const subscribed = await call(`${service.url}/subscriptions`, 'POST', {
      owning_application: id,
      event_types: types,
      read_from: 'end',
    });
    const subscription = String(subscribed.body['id']);
    const paused = await openStream(
      other.url,
      subscription,
      '?batch_limit=1&max_uncommitted_events=1&batch_flush_timeout=1',
    );
    await send('', { id, productTypeKey: `${id}-product`, loanAmount: 1000, loanName: marker, notes: marker }, 201);
    await send(`/${id}:changeState`, { action: 'APPROVE', notes: marker }, 200);
    await send(`/${id}/disbursement-transactions`, { valueDate: '2011-01-23', notes: marker }, 201);
    for (const day of [24, 25, 26]) {
      await send(`/${id}/repayment-transactions`, { valueDate: `2011-01-${day}`, amount: 1, notes: marker }, 201);
    }
    // The one event that it may send; the others wait in memory, as the consumer commits nothing.
    await paused.until((batches) => eventsOf(batches).length === 1, 30_000);
    await send(`/${id}:erasePersonalData`, {}, 204);
    const isMasked = async (): Promise<boolean> =>
      !(await call(`${other.url}/loans/${id}/events`, 'GET')).text.includes(marker);
    await eventually(isMasked, 10_000);

    for (let seen = 1; seen <= 8; seen += 1) {
      const { cursor } = paused.batches.findLast(({ events = [] }) => events.length > 0) ?? {};
      if (cursor !== undefined) await paused.commit([cursor]);
      await paused.until((batches) => eventsOf(batches).length > seen, 30_000);
    }
    const delivered = eventsOf(paused.batches)
      .slice(1)
      .filter(({ loanAccountId }) => loanAccountId === id);
    expect(delivered.length).to.be.greaterThan(6);
    expect(JSON.stringify(delivered)).not.to.contain(marker);
    paused.close();
    await paused.ended.catch(() => {});

    for (const type of types) {
      const found = await call(`${other.url}/event-types/${type}/retained-events?text=${id}&limit=100`, 'GET');
      expect(found.status, found.text).to.equal(200);
      expect(found.text, type).not.to.contain(marker);
      const searched = await call(`${other.url}/event-types/${type}/retained-events?text=${marker}&limit=100`, 'GET');
      expect(searched.body['items'] ?? searched.body['events'], searched.text).to.deep.equal([]);
    }
  });
});
