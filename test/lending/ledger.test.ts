import { expect } from 'chai';
import { describe, it } from 'mocha';
import { addExpected, closeLedger, openLedger } from '../../src/lending/ledger.ts';
import { pay } from '../../src/lending/payments.ts';
import { disbursed, loanOf, money, product } from './loan-fixtures.ts';

const taxed = product({ taxSettings: { taxRate: money(19), taxesOnInterestEnabled: true, taxesOnFeesEnabled: true } });
const open = (): ReturnType<typeof openLedger> => {
  const loan = loanOf(disbursed(taxed));
  return openLedger(loan, loan.position, '2011-02-23');
};

describe('a ledger', () => {
  it('leaves unchanged rows the same objects', () => {
    const ledger = open();
    pay(ledger, 0, 'PRINCIPAL', money(1));
    expect(closeLedger(ledger).installments.slice(1)).to.deep.equal(ledger.position.installments.slice(1));
    expect(closeLedger(ledger).installments[1]).to.equal(ledger.position.installments[1]);
    expect(addExpected({ expected: money(1), paid: money(1) }, money(2)).expected.toFixed()).to.equal('3');
  });
});
