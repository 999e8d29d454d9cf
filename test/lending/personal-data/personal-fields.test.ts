import { expect } from 'chai';
import { describe, it } from 'mocha';
import {
  personalFields,
  personalSets,
  transactionWithoutPersonalData,
  withoutPersonalFields,
} from '../../../src/lending/personal-data/personal-fields.ts';
import { transactionView } from '../../../src/lending/views/transactions.ts';
import { approve, create, disburse, given, loanOf, product, repay } from '../loan-fixtures.ts';

const isPersonalSet = personalSets({
  set: (id) => ({ id, availableFor: 'LOAN_ACCOUNT', fieldSetType: 'STANDARD', personalData: id === '_personal' }),
});

describe('the personal fields of accounts and transactions', () => {
  it('are taken out wherever the list says, each by itself', () => {
    for (const { record, path, after } of personalFields) {
      const names = path.split('.').map((name) => name.replace('_*', '_personal'));
      const value = names
        .toReversed()
        .reduce<unknown>(
          (inner, name) => (name.endsWith('[]') ? { [name.slice(0, -2)]: [inner] } : { [name]: inner }),
          'marker',
        );
      const text = JSON.stringify(withoutPersonalFields(value as Record<string, unknown>, record, isPersonalSet));
      expect(text, path).not.to.contain('marker');
      expect(text.includes('erased'), path).to.equal(after === 'replaced');
    }
  });

  it('takes the notes and personal sets out of a transaction, and leaves one without them the same object', () => {
    const paid = given(
      create(product()),
      approve,
      disburse('2011-01-23'),
      repay(10, '2011-01-24', { notes: 'marker' }),
    );
    const [disbursement, repayment] = paid.transactions;
    if (disbursement === undefined || repayment === undefined) throw new Error('two transactions');
    expect(transactionWithoutPersonalData(disbursement, isPersonalSet)).to.equal(disbursement);
    const withSets = { ...repayment, additionalFields: { _personal: { a: 'marker' }, _plain: { b: 'c' } } };
    const erased = transactionWithoutPersonalData(withSets, isPersonalSet);
    expect(erased).to.deep.equal({ ...repayment, notes: null, additionalFields: { _plain: { b: 'c' } } });
    const { transactionDetails: _details, ...shown } = transactionView(loanOf(paid), erased);
    expect(JSON.stringify(shown)).not.to.contain('marker');
  });

  it('reads lists and objects of other forms without a fault', () => {
    const odd = { guarantors: 'text', assets: [null, 3, 'x', []], disbursementDetails: null, notes: null };
    expect(withoutPersonalFields(odd, 'account', isPersonalSet)).to.equal(odd);
  });
});
