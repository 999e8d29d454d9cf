import { expect } from 'chai';
import { afterEach, beforeEach, describe, it } from 'mocha';
import { annuityProduct } from '../../src/admin/example-product.ts';
import { call, eventsOf, openStream } from '../support/http/client.ts';
import { type Service, removeFolder, startService, temporaryFolder } from '../support/processes/service.ts';

const loanCount = 20;
/** Each account has twelve months to pass, and a commit takes some of them. */
const businessDate = '2025-12-31';
const kills = 3;

interface Event {
  readonly metadata: { readonly eid: string; readonly event_type: string };
  readonly loanAccountId?: string;
  readonly sequence?: number;
}

describe('the end of a day, with the process killed in the middle', () => {
  let folder: string;
  let service: Service;

  beforeEach(async () => {
    folder = await temporaryFolder();
    service = await startService(folder, { LENDING_PARTITIONS: '2' });
  });
  afterEach(async () => {
    await service.kill();
    await removeFolder(folder);
  });

  const post = async (path: string, body: unknown): Promise<void> => {
    const { status, text } = await call(`${service.url}${path}`, 'POST', body);
    expect(status, text).to.be.lessThan(300);
  };

  it('is done on every account once, whenever the process is killed', async function () {
    this.timeout(180_000);
    await post('/loanproducts', annuityProduct('annuity', 12));
    const ids = Array.from({ length: loanCount }, (_, number) => `loan-${number}`);
    for (const id of ids) {
      await post('/loans', { id, productTypeKey: 'annuity', loanAmount: 1000 });
      await post(`/loans/${id}:changeState`, { action: 'APPROVE' });
      await post(`/loans/${id}/disbursement-transactions`, { valueDate: '2024-12-15' });
    }
    const subscription = await call(`${service.url}/subscriptions`, 'POST', {
      owning_application: 'bank',
      event_types: ['loan_transaction_posted', 'loan_balance_changed', 'loan_schedule_changed', 'loan_state_changed'],
      read_from: 'end',
    });

    for (let count = 0; count < kills; count += 1) {
      // The response may be lost with the process.
      const closing = call(`${service.url}/organization:endOfDay`, 'POST', { businessDate }).catch(() => undefined);
      await new Promise((resolve) => setTimeout(resolve, 20 + 30 * count));
      await service.kill();
      await closing;
      service = await startService(folder, { LENDING_PARTITIONS: '2' });
    }
    const closed = await call(`${service.url}/organization:endOfDay`, 'POST', { businessDate });
    expect([closed.status, closed.body]).to.deep.equal([200, { businessDate, status: 'CLOSED' }]);
    expect((await call(`${service.url}/organization/businessDate`, 'GET')).body).to.deep.equal({
      businessDate: '2026-01-01',
    });

    for (const id of ids) {
      const { body } = await call(`${service.url}/loans/${id}`, 'GET');
      expect(body['accountState']).to.equal('ACTIVE_IN_ARREARS');
      const transactions = await call(`${service.url}/loans/${id}/transactions?limit=100`, 'GET');
      const applied = JSON.parse(transactions.text) as { readonly type: string; readonly valueDate: string }[];
      const dates = applied.filter(({ type }) => type === 'INTEREST_APPLIED').map(({ valueDate }) => valueDate);
      expect(dates).to.have.length(12);
      expect(new Set(dates)).to.have.property('size', 12);
    }
    const events = await readAll(subscription.body['id'] as string);
    expect(new Set(events.map(({ metadata }) => metadata.eid))).to.have.property('size', events.length);
    for (const id of ids) {
      const sequences = events.flatMap((event) => (event.loanAccountId === id ? [event.sequence ?? 0] : []));
      sequences.sort((one, other) => one - other);
      const [first = 0] = sequences;
      expect(sequences).to.deep.equal(sequences.map((_, index) => first + index));
    }
  });

  /** All events of the subscription, which come within three seconds. */
  async function readAll(subscriptionId: string): Promise<Event[]> {
    const query = '?batch_limit=500&batch_flush_timeout=1&max_uncommitted_events=100000&stream_timeout=3';
    const stream = await openStream(service.url, subscriptionId, query);
    await stream.ended;
    return eventsOf(stream.batches) as unknown as Event[];
  }
});
