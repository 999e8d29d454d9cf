import { expect } from 'chai';
import { describe, it } from 'mocha';
import { openLedger } from '../../src/lending/ledger.ts';
import { reduceCharges, reduceRows, writeOffPrincipal } from '../../src/lending/reduced-rows-and-fees.ts';
import { applyFee, applyPenalty, disbursed, loanOf, money, repay, when } from './loan-fixtures.ts';

const loan = loanOf(
  when(
    when(when(disbursed(), applyFee(5, { installmentNumber: 2 })), applyPenalty(3, { installmentNumber: 2 })),
    repay(150, '2011-02-23'),
  ),
);
const ledgerOf = () => openLedger(loan, loan.position, '2011-02-23');

describe('reducing what is owed', () => {
  it('takes off no more than is owed of the selected rows, and says how much', () => {
    const ledger = ledgerOf();
    expect(reduceRows(ledger, 'INTEREST', money(80), (key) => key === 2).toFixed(2)).to.equal('78.45');
    expect(reduceRows(ledger, 'PENALTY', money(2)).toFixed(2)).to.equal('2.00');
    expect(reduceCharges(ledger, money(9), () => true).toFixed(2)).to.equal('5.00');
    expect([ledger.affected.interest, ledger.affected.penalty, ledger.affected.fees].map(String)).to.deep.equal([
      '78.45',
      '2',
      '5',
    ]);
    expect(ledger.rows[1]).to.include({ key: 2 });
    expect(ledger.rows[1]?.fee.amount.expected.toFixed(2)).to.equal('0.00');
  });

  it('of all principal leaves what was paid of it', () => {
    const ledger = ledgerOf();
    writeOffPrincipal(ledger);
    expect(ledger.rows.map(({ principal }) => principal.expected.toFixed(2))).to.deep.equal([
      '50.00',
      '0.00',
      '0.00',
      '0.00',
    ]);
    expect(ledger.affected.principal.toFixed(2)).to.equal('950.00');
  });
});
