import { expect } from 'chai';
import { describe, it } from 'mocha';
import { Decimal } from '../../../src/lending/money.ts';
import { openRows } from '../../../src/lending/schedule/open-rows.ts';
import { scheduleTerms } from './schedule-terms.ts';

describe('the rows of a schedule before their amounts are known', () => {
  const request = {
    terms: scheduleTerms({ repaymentInstallments: 3 }),
    principal: new Decimal(90),
    disbursementDate: '2023-01-15',
  };

  it('accrue from the disbursement, then each from the due date before it', () => {
    expect(openRows(request)).to.deep.equal([
      { number: 1, accruesAfter: '2023-01-15', dueDate: '2023-02-15' },
      { number: 2, accruesAfter: '2023-02-15', dueDate: '2023-03-15' },
      { number: 3, accruesAfter: '2023-03-15', dueDate: '2023-04-15' },
    ]);
  });

  it('are due from the agreed first repayment date on', () => {
    const dueDates = openRows({ ...request, firstRepaymentDate: '2023-03-01' }).map(({ dueDate }) => dueDate);
    expect(dueDates).to.deep.equal(['2023-03-01', '2023-04-01', '2023-05-01']);
  });
});
