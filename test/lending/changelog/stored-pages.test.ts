import { expect } from 'chai';
import { describe, it } from 'mocha';
import { chargesPerPage, installmentsPerPage, pagesOf } from '../../../src/lending/changelog/stored-pages.ts';
import type { Loan } from '../../../src/lending/loan.ts';
import type { FeeCharge } from '../../../src/lending/fees/charges.ts';
import { applyFee, disbursed, loanOf, product, repay, when } from '../loan-fixtures.ts';
import { storedAndRead } from './stored-accounts.ts';

const rows = (count: number): Loan =>
  loanOf(disbursed(product({ scheduleSettings: { numInstallments: { defaultValue: count } } })));
const namesOf = (loan: Loan): string[] => pagesOf(loan).map(({ list, number }) => `${list}/${number}`);

function withCharges(loan: Loan, ...numbers: readonly number[]): Loan {
  const [charge] = loanOf(when(disbursed(), applyFee(5, { installmentNumber: 1 }))).position.charges;
  const charges = numbers.map((number): FeeCharge => ({ ...(charge ?? expect.fail()), number }));
  return { ...loan, position: { ...loan.position, charges } };
}

describe('the pages of an account', () => {
  it('have twelve installments each, and the last one has the rest', () => {
    expect(namesOf(rows(installmentsPerPage))).to.deep.equal(['installments/0']);
    expect(namesOf(rows(installmentsPerPage + 1))).to.deep.equal(['installments/0', 'installments/1']);
    expect(storedAndRead(rows(25))).to.deep.equal(rows(25));
  });

  it('have the unpaid fees of a hundred numbers each, and none is empty', () => {
    const charged = withCharges(rows(2), 1, chargesPerPage, 3 * chargesPerPage + 1, 4 * chargesPerPage);
    expect(namesOf(charged)).to.deep.equal(['charges/0', 'charges/3', 'installments/0']);
    expect(storedAndRead(charged)).to.deep.equal(charged);
  });

  it('are the same objects while nothing on them changes', () => {
    const start = disbursed(product({ scheduleSettings: { numInstallments: { defaultValue: 30 } } }));
    const paid = when(start, repay(1, '2011-02-23'));
    const [before, after] = [pagesOf(loanOf(start)), pagesOf(loanOf(paid))];
    expect(after[0]).to.not.equal(before[0]);
    expect(after.slice(1)).to.have.length(2);
    for (const [index, page] of after.entries()) if (index > 0) expect(page).to.equal(before[index]);
    expect(pagesOf(storedAndRead(loanOf(paid))), 'after it was read').to.deep.equal(after);
  });

  it('change with any of their items, and with their place', () => {
    const loan = withCharges(rows(2), 1, 2, 3);
    const { charges, installments } = loan.position;
    const first = pagesOf(loan)[0];
    const fewer = { ...loan, position: { ...loan.position, charges: charges.slice(0, 2) } };
    expect(pagesOf(fewer)[0]?.text).to.not.equal(first?.text);
    expect(pagesOf(loan)[0]?.text).to.equal(first?.text);
    const moved = installments.slice(0, 1).map((row) => Object.assign(row, { number: installmentsPerPage + 1 }));
    const late = { ...loan, position: { ...loan.position, installments: moved } };
    expect(namesOf(late)).to.deep.equal(['charges/0', 'installments/1']);
  });
});
