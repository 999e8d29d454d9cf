import { expect } from 'chai';
import { describe, it } from 'mocha';
import { addCharge, closeLedger, openLedger } from '../../src/lending/ledger.ts';
import { chargesDue, pay, payCharges, payable } from '../../src/lending/payments.ts';
import { rowAt } from '../../src/lending/installments.ts';
import { newCharge } from '../../src/lending/fees/charges.ts';
import { disbursed, loanOf, money, product } from './loan-fixtures.ts';

const taxed = product({ taxSettings: { taxRate: money(19), taxesOnInterestEnabled: true, taxesOnFeesEnabled: true } });
const open = (): ReturnType<typeof openLedger> => {
  const loan = loanOf(disbursed(taxed));
  return openLedger(loan, loan.position, '2011-02-23');
};

describe('a payment', () => {
  it('pays no more than is due, and records amount and tax by element', () => {
    const ledger = open();
    expect(payable(ledger, 0, 'INTEREST').toFixed(2)).to.equal('119.00');
    expect(pay(ledger, 0, 'INTEREST', money(500)).toFixed(2)).to.equal('119.00');
    expect(pay(ledger, 0, 'PRINCIPAL', money(10)).toFixed(2)).to.equal('10.00');
    expect(
      [ledger.affected.interest, ledger.taxes.interest, ledger.affected.principal].map((amount) => amount.toFixed(2)),
    ).to.deep.equal(['119.00', '19.00', '10.00']);
    expect(rowAt(closeLedger(ledger).installments, 0)).to.include({ lastPaidDate: '2011-02-23', repaidDate: null });
  });

  it('pays the same tax in one payment as in many', () => {
    const [once, often] = [open(), open()];
    pay(once, 0, 'INTEREST', money('33.33'));
    for (const part of ['11.11', '0.01', '22.21']) pay(often, 0, 'INTEREST', money(part));
    expect(often.rows).to.deep.equal(once.rows);
  });

  it('keeps charges and their rows consistent', () => {
    const ledger = open();
    for (const [encodedKey, net] of [
      ['a', 10],
      ['b', 20],
    ] as const) {
      addCharge(
        ledger,
        newCharge(ledger.loan, {
          encodedKey,
          fee: null,
          allocation: 'INSTALLMENT',
          net: money(net),
          installmentKey: 1,
        }),
      );
    }
    expect(payCharges(ledger, money(15), () => true).toFixed(2)).to.equal('15.00');
    expect(ledger.charges.map(({ amount }) => amount.paid.toFixed(2))).to.deep.equal(['11.90', '3.10']);
    expect(rowAt(ledger.rows, 0).fee.amount.paid.toFixed(2)).to.equal('15.00');
    expect(chargesDue(ledger, ({ encodedKey }) => encodedKey === 'b').toFixed(2)).to.equal('20.70');
  });
});
