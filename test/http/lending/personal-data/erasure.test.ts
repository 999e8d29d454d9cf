import { expect } from 'chai';
import { before, describe, it } from 'mocha';
import { deadLettersTopic, loanCommandsTopic } from '../../../../src/lending-format/lending-topics.ts';
import { maskedLog } from '../../../../src/lending-format/personal-data/masked-log.ts';
import { erasureNotice, listErasures } from '../../../../src/lending-format/personal-data/erasures.ts';
import { foldTransactions } from '../../../support/lending/event-folds.ts';
import type { HttpResponse } from '../../../support/http/client.ts';
import { lendingServiceForSuite, partitionCount } from '../lending-service.ts';

type Json = Record<string, unknown>;

const marker = 'Zebedee-Quux';

describe('erasing the personal data of a loan over HTTP', () => {
  const running = lendingServiceForSuite();
  const get = async (path: string): Promise<HttpResponse> => {
    const answer = await running.service.get(path);
    expect(answer.status, answer.text).to.equal(200);
    return answer;
  };
  const post = async (status: number, path: string, body: unknown, headers?: Record<string, string>) => {
    const answer = await running.service.post(path, body, headers);
    expect(answer.status, answer.text).to.equal(status);
    return answer;
  };
  const listed = async (path: string): Promise<Json[]> => JSON.parse((await get(path)).text) as Json[];
  const withoutText = ({ notes: _notes, _personal, ...others }: Json): Json => others;

  /** All that can be read of the account: answers, its events, and its commands in the log as others see it. */
  async function shown(id: string): Promise<string> {
    const { log, registry } = running.service;
    const view = maskedLog(log, registry);
    const texts = await Promise.all([
      get(`/loans/${id}?detailsLevel=FULL`),
      get(`/loans/${id}/transactions?detailsLevel=FULL`),
      get(`/loans/${id}/events`),
      get(`/loans?detailsLevel=FULL`),
      running.service.post('/loans:search?detailsLevel=FULL', {
        filterCriteria: [{ field: 'id', operator: 'EQUALS', value: id }],
      }),
    ]);
    const records: string[] = [];
    for (const topic of [loanCommandsTopic, deadLettersTopic]) {
      for (let partition = 0; partition < partitionCount; partition += 1) {
        const options = { bytesMaximum: 10_000_000, waitMilliseconds: 0 };
        for (const batch of (await view.read({ topic, partition, offset: 0 }, options)).batches) {
          for (let index = 0; index < batch.count; index += 1) {
            if (batch.key(index) === id)
              records.push(batch.bytes.toString('utf8', batch.valueStarts[index], batch.valueEnds[index]));
          }
        }
      }
    }
    expect(records.length).to.be.greaterThan(0);
    return [...texts.map(({ text }) => text), ...records].join('\n');
  }

  async function openWithMarkers(id: string): Promise<void> {
    await post(201, '/loans', {
      id,
      productTypeKey: 'annuity',
      loanAmount: 1000,
      loanName: marker,
      accountHolderKey: marker,
      accountHolderType: 'CLIENT',
      notes: `notes of ${marker}`,
      _personal: { name: marker },
      _plain: { purpose: 'car' },
    });
    await post(200, `/loans/${id}:changeState`, { action: 'APPROVE', notes: marker });
    await post(201, `/loans/${id}/disbursement-transactions`, { valueDate: '2011-01-23', notes: marker });
    await post(201, `/loans/${id}/repayment-transactions`, {
      valueDate: '2011-01-24',
      amount: 10,
      notes: marker,
      externalId: `payment of ${id}`,
    });
    await post(201, `/loans/${id}/fee-transactions`, {
      valueDate: '2011-01-24',
      amount: 3,
      installmentNumber: 1,
      notes: marker,
    });
  }

  before(async () => {
    const displaySettings = { displayName: 'Set' };
    const personal = { id: '_personal', availableFor: 'LOAN_ACCOUNT', personalData: true, displaySettings };
    expect((await post(201, '/customfieldsets', personal)).body).to.include({ personalData: true });
    const plain = { id: '_plain', availableFor: 'LOAN_ACCOUNT', displaySettings };
    expect((await post(201, '/customfieldsets', plain)).body).not.to.have.property('personalData');
    for (const [set, id] of [
      ['_personal', 'name'],
      ['_plain', 'purpose'],
    ]) {
      await post(201, `/customfieldsets/${set}/customfields`, { id, type: 'FREE_TEXT', displaySettings });
    }
  });

  it('shows nothing of it any more: answers, events, searches, commands; the money stays', async () => {
    await openWithMarkers('erased-1');
    expect(await shown('erased-1')).to.contain(marker);
    const [balances, schedule] = [await get('/loans/erased-1/balances'), await get('/loans/erased-1/schedule')];
    const transactions = await listed('/loans/erased-1/transactions');
    const events = (await get('/loans/erased-1/events')).body['items'] as Json[];

    const answer = await post(204, '/loans/erased-1:erasePersonalData', {});
    expect(answer.text).to.equal('');

    expect(await shown('erased-1')).not.to.contain(marker);
    expect((await get('/loans/erased-1/balances')).text).to.equal(balances.text);
    expect((await get('/loans/erased-1/schedule')).text).to.equal(schedule.text);
    const after = await listed('/loans/erased-1/transactions');
    expect(after).to.deep.equal(transactions.map(withoutText));
    const account = (await get('/loans/erased-1?detailsLevel=FULL')).body;
    expect(account).to.deep.include({ loanName: 'Annuity over 4 months', _plain: { purpose: 'car' } });

    const masked = (await get('/loans/erased-1/events')).body['items'] as Json[];
    const ofType = (all: readonly Json[], type: string): Json[] =>
      all.filter(({ metadata }) => (metadata as Json)['event_type'] === type);
    expect(foldTransactions(ofType(masked, 'loan_transaction_posted'))).to.deep.equal(after);
    for (const type of ['loan_balance_changed', 'loan_schedule_changed', 'loan_fee_event', 'loan_state_changed']) {
      expect(ofType(masked, type)).to.deep.equal(ofType(events, type));
    }
    const last = masked.at(-1) as Json;
    expect(last).to.deep.include({ account, personalDataErased: true, sequence: events.length + 1 });
  });

  it('is done once under one key, and answers a repetition as the first time', async () => {
    await openWithMarkers('erased-2');
    const headers = { 'Idempotency-Key': '7e4fb5a2-91f5-4f47-9f60-27a4a30c2f0b' };
    await post(204, '/loans/erased-2:erasePersonalData', {}, headers);
    await running.service.post('/loans/erased-2/repayment-transactions', {
      valueDate: '2011-01-25',
      amount: 1,
      notes: 'kept',
    });
    const repeated = await post(204, '/loans/erased-2:erasePersonalData', {}, headers);
    expect(repeated.headers.get('idempotent-replayed')).to.equal('true');
    expect((await get('/loans/erased-2/transactions')).text).to.contain('kept');
    await post(204, '/loans/erased-2:erasePersonalData', {});
    expect((await get('/loans/erased-2/transactions')).text).not.to.contain('kept');
    expect(await shown('erased-2')).not.to.contain('kept');
  });

  it('refuses an unknown account, a body with fields, and other methods', async () => {
    const unknown = await post(404, '/loans/nobody:erasePersonalData', {});
    expect(unknown.text).to.contain('INVALID_LOAN_ACCOUNT_ID');
    await post(400, '/loans/erased-1:erasePersonalData', { notes: 'because' });
    expect((await running.service.get('/loans/erased-1:erasePersonalData')).status).to.equal(405);
  });

  it('says that it happened, to whom, when and by whom, and never what', async () => {
    const { registry } = running.service;
    const notices: unknown[] = [];
    const stop = registry.onChange((change) => {
      const notice = erasureNotice(change);
      if (notice !== undefined) notices.push(notice);
    });
    await openWithMarkers('erased-3');
    await post(204, '/loans/erased-3:erasePersonalData', {});
    stop();
    const { encodedKey } = (await get('/loans/erased-3')).body;
    expect(notices).to.have.length(1);
    const [notice] = notices as Json[];
    expect(notice).to.include({
      loanAccountId: 'erased-3',
      loanAccountEncodedKey: encodedKey,
      erasedBy: 'lending-api',
    });
    expect(Object.keys(notice ?? {})).to.have.members([
      'loanAccountId',
      'loanAccountEncodedKey',
      'commandId',
      'erasedAt',
      'erasedBy',
    ]);
    expect(JSON.stringify(listErasures(registry))).not.to.contain(marker);
  });

  it('masks what came before for a process that starts later', async () => {
    await running.restart();
    expect(await shown('erased-1')).not.to.contain(marker);
  });

  it('finds the account by its product afterwards, and not by its holder', async () => {
    await openWithMarkers('erased-4');
    expect(await listed(`/loans?accountHolderId=${marker}`)).to.have.length(1);
    await post(204, '/loans/erased-4:erasePersonalData', {});
    expect(await listed(`/loans?accountHolderId=${marker}`)).to.deep.equal([]);
  });
});
