import { expect } from 'chai';
import { describe, it } from 'mocha';
import { readExactObject } from '../../../src/lending-format/exact-json.ts';
import { accountToPreview, readSchedulePreview } from '../../../src/lending-format/payloads/schedule-preview.ts';
import { alwaysOpen } from '../../../src/lending/schedule/calendar.ts';
import { previewInstallments } from '../../../src/lending/schedule/preview.ts';
import { openedAt, product } from '../../lending/loan-fixtures.ts';

const read = (body: string): ReturnType<typeof readSchedulePreview> => readSchedulePreview(readExactObject(body));
const plain = '"productTypeKey":"product","loanAmount":1000';

describe('the body of a preview of a schedule', () => {
  it('is that of a new account, with or without an id', () => {
    for (const body of [
      `{${plain}}`,
      `{"id":"L-1",${plain}}`,
      `{${plain},"topUpAmount":0,"feeRateSettings":{"feeRate":0}}`,
    ]) {
      const payload = read(body);
      if ('length' in payload) expect.fail(JSON.stringify(payload));
      const loan = accountToPreview(payload, product(), openedAt);
      if ('length' in loan) expect.fail(JSON.stringify(loan));
      const principals = previewInstallments(loan, alwaysOpen).map(({ principal }) => principal.expected.toFixed(2));
      expect(principals, body).to.deep.equal(['215.47', '237.02', '260.72', '286.79']);
    }
  });

  for (const [body, refused] of [
    ['{"loanAmount":1000}', 'productTypeKey'],
    [`{${plain},"topUpAmount":1}`, 'topUpAmount'],
    [`{${plain},"feeRateSettings":{"feeRate":1}}`, 'feeRateSettings.feeRate'],
    [`{${plain},"scheduleSettings":{"periodicPayment":10}}`, 'scheduleSettings.periodicPayment'],
    [`{${plain},"tranches":[{"amount":1}]}`, 'tranches'],
    [`{${plain},"id":""}`, 'id'],
    [`{${plain},"loanAmout":1}`, 'loanAmout'],
  ] as const) {
    it(`is refused by its path: ${body}`, () => {
      expect(read(body)).to.deep.equal([{ errorReason: 'INVALID_PARAMETERS', errorSource: refused }]);
    });
  }

  it('is refused by the rules of a new account', () => {
    const payload = read(`{${plain},"interestSettings":{"interestRate":-1}}`);
    if ('length' in payload) expect.fail(JSON.stringify(payload));
    expect(accountToPreview(payload, product(), openedAt)).to.deep.equal([
      { errorReason: 'INVALID_INTEREST_RATE', errorSource: 'interestSettings.interestRate' },
    ]);
    expect(accountToPreview(payload, null, openedAt)).to.deep.equal([
      { errorReason: 'LOAN_PRODUCT_MISMATCH', errorSource: 'productTypeKey' },
    ]);
  });
});
