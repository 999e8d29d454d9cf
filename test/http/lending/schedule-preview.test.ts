import { expect } from 'chai';
import { describe, it } from 'mocha';
import type { HttpResponse } from '../../support/http/client.ts';
import { lendingServiceForSuite } from './lending-service.ts';

const expectedDisbursementDate = '2026-01-01T00:00:00+01:00';
const firstRepaymentDate = '2026-02-01T00:00:00+01:00';

const body = {
  productTypeKey: 'annuity',
  loanAmount: '5000',
  disbursementDetails: { expectedDisbursementDate, firstRepaymentDate },
  interestSettings: { interestRate: 0.8 },
  scheduleSettings: {
    gracePeriod: 0,
    periodicPayment: 0,
    repaymentInstallments: 12,
    repaymentPeriodCount: 1,
    repaymentPeriodUnit: 'MONTHS',
  },
};

/** The schedule without the keys, which begin with that of the account. */
function withoutKeys({ text }: HttpResponse): string {
  return text.replaceAll(/"(?:parentAccountKey|encodedKey)":"[0-9a-f]{32}"/g, '');
}

describe('the preview of a schedule', () => {
  const suite = lendingServiceForSuite();
  const post = (path: string, sent: unknown): Promise<HttpResponse> => suite.service.post(path, sent);
  const paths = ['/loans:previewSchedule', '/loans/schedule:preview', '/api/loans:previewSchedule'];

  it('is what GET shows of the same account once it is opened, and opens none', async () => {
    const previews = await Promise.all(paths.map((path) => post(path, body)));
    expect(previews.map(({ status }) => status)).to.deep.equal([200, 200, 200]);
    expect((await suite.service.get('/loans')).text).to.equal('[]');
    await suite.restart();
    expect((await suite.service.get('/loans')).text).to.equal('[]');
    expect((await post('/loans', { ...body, id: 'opened' })).status).to.equal(201);
    const shown = await suite.service.get('/loans/opened/schedule');
    for (const preview of previews) expect(withoutKeys(preview)).to.equal(withoutKeys(shown));
    expect((JSON.parse(shown.text) as { installments: unknown[] }).installments).to.have.length(12);
  });

  it('is refused with the same reasons as the account', async () => {
    for (const [wrong, reason] of [
      [{ ...body, productTypeKey: 'none' }, 'LOAN_PRODUCT_MISMATCH'],
      [{ ...body, loanAmount: 0.001 }, 'INVALID_AMOUNT'],
      [{ ...body, loanAmout: 1 }, 'INVALID_PARAMETERS'],
      [{ ...body, disbursementDetails: { fees: [{ predefinedFeeEncodedKey: 'none' }] } }, 'INVALID_FEE_KEY'],
    ] as const) {
      const refused = await post('/loans', { ...wrong, id: 'refused' });
      expect(refused.text).to.contain(reason);
      for (const path of paths) {
        const preview = await post(path, wrong);
        expect([preview.status, preview.text], path).to.deep.equal([refused.status, refused.text]);
      }
    }
    expect((await post(paths[0] ?? '', '[]')).status).to.equal(400);
  });
});
