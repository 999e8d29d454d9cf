import { expect } from 'chai';
import { describe, it } from 'mocha';
import {
  refusalsOfSecurities,
  refusalsOfSettings,
  repeatedSettingPaths,
  settingAt,
  shownSettings,
} from '../../../src/lending/products/repeated-settings.ts';
import type { LoanProduct } from '../../../src/lending/products/product.ts';
import { dynamicProduct, money, product } from '../loan-fixtures.ts';

const refused = (of: LoanProduct, path: string, text: string): string[] =>
  refusalsOfSettings(of, [{ path, text }]).map(({ errorReason, errorSource }) => `${errorReason} ${errorSource}`);

const withMore: LoanProduct = {
  ...product({ taxSettings: { taxRate: money('7.5') } }),
  additionalFields: {
    arrearsSettings: { tolerancePeriod: { defaultValue: 3 }, toleranceFloorAmount: money('0.50') },
    interestSettings: { interestBalanceCalculationMethod: 'PRINCIPAL_AND_INTEREST' },
    securitySettings: { isCollateralEnabled: true, isGuarantorsEnabled: false },
  },
};

describe('the settings of an account that repeat its product', () => {
  const cases: [path: string, same: readonly string[], other: readonly string[]][] = [
    ['paymentMethod', ['HORIZONTAL'], ['VERTICAL', 'horizontal']],
    ['taxRate', ['7.5', '7.50'], ['7', '0', 'x']],
    ['allowOffset', ['false'], ['true']],
    ['currency.code', ['EUR'], ['USD']],
    ['interestSettings.interestCalculationMethod', ['DECLINING_BALANCE_DISCOUNTED'], ['FLAT']],
    ['interestSettings.interestBalanceCalculationMethod', ['PRINCIPAL_AND_INTEREST'], ['ONLY_PRINCIPAL']],
    ['interestSettings.interestRateSource', ['FIXED_INTEREST_RATE'], ['INDEX_INTEREST_RATE']],
    ['interestSettings.accrueLateInterest', ['true'], ['false', '1']],
    ['scheduleSettings.repaymentScheduleMethod', ['FIXED'], ['DYNAMIC']],
    ['scheduleSettings.gracePeriodType', ['NONE'], ['PAY_INTEREST_ONLY']],
    ['scheduleSettings.scheduleDueDatesMethod', ['INTERVAL'], ['FIXED_DAYS_OF_MONTH']],
    ['accountArrearsSettings.tolerancePeriod', ['3', '3.0'], ['4']],
    ['accountArrearsSettings.toleranceFloorAmount', ['0.5'], ['0.51']],
  ];
  for (const [path, same, other] of cases) {
    it(`may be sent as ${path} ${same.join(', ')}, and not as ${other.join(', ')}`, () => {
      for (const text of same) expect(refused(withMore, path, text), text).to.deep.equal([]);
      for (const text of other)
        expect(refused(withMore, path, text), text).to.deep.equal([`LOAN_PRODUCT_MISMATCH ${path}`]);
    });
  }

  it('are refused where nothing of the kind exists', () => {
    expect(refused(product(), 'accountArrearsSettings.tolerancePeriod', '0')).to.have.length(1);
    expect(refused(product(), 'scheduleSettings.shortMonthHandlingMethod', 'LAST_DAY_IN_MONTH')).to.have.length(1);
  });

  it('repeat whether interest goes on after the last due date', () => {
    const path = 'interestSettings.accrueInterestAfterMaturity';
    const on = dynamicProduct({ interestSettings: { accrueInterestAfterMaturity: true } });
    expect(refused(on, path, 'true')).to.deep.equal([]);
    expect(refused(on, path, 'false')).to.deep.equal([`LOAN_PRODUCT_MISMATCH ${path}`]);
    expect(refused(dynamicProduct(), path, 'true')).to.deep.equal([`LOAN_PRODUCT_MISMATCH ${path}`]);
  });

  it('repeat where the interest of late principal goes', () => {
    const path = 'latePaymentsRecalculationMethod';
    const last = dynamicProduct({ paymentSettings: { [path]: 'LAST_INSTALLMENT_INCREASE' } });
    expect(refused(last, path, 'LAST_INSTALLMENT_INCREASE')).to.deep.equal([]);
    expect(refused(last, path, 'OVERDUE_INSTALLMENTS_INCREASE')).to.deep.equal([`LOAN_PRODUCT_MISMATCH ${path}`]);
    expect(refused(dynamicProduct(), path, 'OVERDUE_INSTALLMENTS_INCREASE')).to.deep.equal([]);
    expect(refused(dynamicProduct(), path, 'LAST_INSTALLMENT_INCREASE')).to.deep.equal([
      `LOAN_PRODUCT_MISMATCH ${path}`,
    ]);
  });

  it('follow the type of the product', () => {
    expect(refused(dynamicProduct(), 'scheduleSettings.repaymentScheduleMethod', 'DYNAMIC')).to.deep.equal([]);
    expect(refused(dynamicProduct(), 'interestSettings.interestApplicationMethod', 'REPAYMENT_DUE_DATE')).to.deep.equal(
      [],
    );
    expect(refused(product(), 'interestSettings.interestApplicationMethod', 'REPAYMENT_DUE_DATE')).to.have.length(1);
  });

  it('are all accepted as the account shows them', () => {
    for (const shownBy of [product(), dynamicProduct(), withMore]) {
      const shown = shownSettings(shownBy);
      const sent = repeatedSettingPaths.flatMap((path) => {
        const [group = '', name] = path.split('.');
        const value = name === undefined ? shown[group] : (shown[group] as Record<string, unknown> | undefined)?.[name];
        return value === undefined ? [] : [{ path, text: JSON.stringify(value).replaceAll('"', '') }];
      });
      expect(sent.length).to.be.greaterThan(15);
      expect(refusalsOfSettings(shownBy, sent)).to.deep.equal([]);
    }
  });

  it('are found at their place in the product, also among what no rule reads', () => {
    expect(settingAt(withMore, 'paymentSettings.paymentMethod')).to.equal('HORIZONTAL');
    expect(settingAt(withMore, 'securitySettings.isCollateralEnabled')).to.equal(true);
    expect(settingAt(withMore, 'securitySettings')).to.equal(undefined);
    expect(settingAt(withMore, 'no.such.place')).to.equal(undefined);
  });

  it('allow assets and guarantors one by one', () => {
    const securities = { assets: [{ assetName: 'Car' }], guarantors: [{ guarantorKey: 'g' }] };
    expect(refusalsOfSecurities(withMore, securities).map(({ errorSource }) => errorSource)).to.deep.equal([
      'guarantors',
    ]);
    expect(refusalsOfSecurities(product(), securities).map(({ errorSource }) => errorSource)).to.deep.equal([
      'assets',
      'guarantors',
    ]);
    expect(refusalsOfSecurities(product(), {})).to.deep.equal([]);
  });
});
