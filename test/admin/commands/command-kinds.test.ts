import { expect } from 'chai';
import { after, before, describe, it } from 'mocha';
import { fieldGroupsOf } from '../../../src/admin/commands/command-fields.ts';
import { loanCommandKinds, type LoanFacts } from '../../../src/admin/commands/command-kinds.ts';
import { call } from '../../support/http/client.ts';
import { startServiceHere, type ServiceHere } from '../../support/processes/service-here.ts';
import { removeFolder, temporaryFolder } from '../../support/processes/service.ts';

const facts: LoanFacts = {
  state: 'ACTIVE',
  amountDue: '315.47',
  today: '2026-01-31',
  productTypeKey: '8d01a9f222725a1994b5269e0b51b9d1',
  transactionKey: '8d01a9f222725a1994b5269e0b51b9d2',
  disbursementKey: '8d01a9f222725a1994b5269e0b51b9d3',
};

/** Of products, of the service alone, and without a loan to send it to. */
const notOfALoan = ['CREATE_LOAN', 'CREATE_PRODUCT', 'UPDATE_PRODUCT', 'PATCH_PRODUCT', 'DELETE_PRODUCT', 'END_OF_DAY'];

describe('the loan commands of the admin page', () => {
  let folder: string;
  let service: ServiceHere;
  let schema: string;

  before(async () => {
    folder = await temporaryFolder();
    service = await startServiceHere(folder);
    const { body } = await call(`${service.url}/event-types/lendstream.loan-commands`, 'GET');
    ({ schema } = body['schema'] as { schema: string });
  });

  after(async () => {
    await service.stop();
    await removeFolder(folder);
  });

  it('are all commands that a loan can be sent', () => {
    const { properties } = JSON.parse(schema) as { properties: { type: { enum: string[] } } };
    const known = [...loanCommandKinds.map(({ type }) => type), ...notOfALoan];
    expect(known.toSorted()).to.deep.equal(properties.type.enum.toSorted());
  });

  it('have examples that the service accepts', async () => {
    const refused: unknown[] = [];
    for (const { type, example } of loanCommandKinds) {
      const event = {
        metadata: { eid: '5f0d8cbb-2f59-4b5c-9a0e-000000000001', occurred_at: '2026-01-31T12:00:00Z' },
        type,
        loanAccountId: 'loan-1',
        payload: JSON.parse(example(facts)) as unknown,
      };
      const body = { event_type: 'lendstream.loan-commands', event };
      const checked = await call(`${service.url}/registry/event-type-checks`, 'POST', body);
      const outcome = checked.body['event'] as { valid: boolean } | null;
      if (outcome?.valid !== true) refused.push([type, checked.body]);
    }
    expect(refused).to.deep.equal([]);
  });

  it('have the fields of their schema, without those that have no choice', () => {
    const labels = (type: string): Record<string, string[]> =>
      Object.fromEntries(
        fieldGroupsOf(schema, type).map(({ title, fields }) => [
          title,
          fields.map(({ label, kind, isRequired }) => `${label}: ${kind}${isRequired ? ', required' : ''}`),
        ]),
      );
    expect(labels('DELETE_LOAN')).to.deep.equal({});
    expect(labels('UNKNOWN')).to.deep.equal({});
    const repayment = labels('REPAY');
    expect(repayment['']?.slice(0, 3)).to.deep.equal([
      'Amount: number, required',
      'Value date: day',
      'Booking date: day',
    ]);
    expect(repayment['']).to.include('Prepayment recalculation method: choice');
    expect(repayment['']?.join()).not.to.match(/Principal overpayment amount|Custom payment amounts/);
    const product = labels('CREATE_PRODUCT');
    expect(product['']).to.include.members(['Name: text, required', 'Type: choice, required']);
    expect(product['Interest settings']).to.include('Interest rate, default value: number');
    expect(product['Schedule settings']).to.include('Num installments, default value: count');
    expect(product['']?.join()).not.to.match(/Encoded key|Creation date|Version/);
    expect(labels('UPDATE_PRODUCT')).to.deep.equal(product);
  });
});
