import { expect } from 'chai';
import { describe, it } from 'mocha';
import {
  decodeTransaction,
  decodeTransactionSummary,
  encodeTransaction,
} from '../../../src/lending/changelog/stored-transaction.ts';
import { adjust, applyFee, disbursed, dynamicProduct, money, repay, when } from '../loan-fixtures.ts';

const steps = [
  applyFee(5, { notes: '#1 "x"', externalId: 'E' }),
  repay(400, '2011-02-10', { transactionDetails: { transactionChannelId: 'cash' } }),
  repay(10, '2011-02-23', {
    customPaymentAmounts: [{ customPaymentAmountType: 'PRINCIPAL', amount: money(10) }],
    prepaymentRecalculationMethod: 'NO_RECALCULATION',
  }),
  adjust(4),
];
const { transactions } = steps.reduce(when, disbursed(dynamicProduct()));
const [disbursement = expect.fail()] = transactions;

describe('a stored transaction', () => {
  for (const transaction of transactions) {
    it(`is read as it was written: ${transaction.type} ${transaction.id}`, () => {
      expect(decodeTransaction(encodeTransaction(transaction))).to.deep.equal(transaction);
    });
  }

  it('begins with the number of its format, and is refused with the reason when that is another', () => {
    const text = encodeTransaction(disbursement);
    expect(text).to.match(/^\{"format":4,"transaction":\{/);
    for (const decode of [decodeTransaction, decodeTransactionSummary]) {
      expect(() => decode(text.replace('"format":4', '"format":1'))).to.throw('it is of format 1');
      expect(() => decode('{"format":4}')).to.throw('it has no transaction');
    }
  });

  it('is found and sorted by its key, its id, its type, its dates and its externalId', () => {
    const { encodedKey, id, type, createdAt, valueDate } = disbursement;
    const summary = { encodedKey, id, type, createdAt, valueDate, externalId: null, isAdjusted: false };
    expect(decodeTransactionSummary(encodeTransaction(disbursement))).to.deep.equal(summary);
    const adjusted = { ...disbursement, externalId: 'E', adjustmentTransactionKey: 'a'.repeat(32) };
    const found = decodeTransactionSummary(encodeTransaction(adjusted));
    expect(found).to.deep.equal({ ...summary, externalId: 'E', isAdjusted: true });
  });

  it('keeps minus zero, and a zero that the undo restores', () => {
    const fields = { principalOverpaid: money(0), lastPaidDate: null };
    const transaction = {
      ...disbursement,
      affected: { ...disbursement.affected, fees: money('-0') },
      undo: { fields: {}, addedInstallments: [2, 3, 7], installments: [{ key: 1, fields }], charges: [] },
    };
    expect(decodeTransaction(encodeTransaction(transaction))).to.deep.equal(transaction);
  });
});
