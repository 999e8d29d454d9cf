import { expect } from 'chai';
import * as fc from 'fast-check';
import { describe, it } from 'mocha';
import { annuityProduct } from '../../src/admin/example-product.ts';
import { type ExactJson, readExactObject } from '../../src/lending-format/exact-json.ts';
import { FieldReader } from '../../src/lending-format/payloads/field-reader.ts';
import {
  type ProductCommandType,
  decideProduct,
  isProductCommand,
  readProductRequest,
} from '../../src/lending-format/product-commands.ts';
import { writeProduct } from '../../src/lending-format/response-bodies.ts';
import { type ProductRecord, versionOf } from '../../src/lending-format/stored-products.ts';
import type { Refusal } from '../../src/lending/refusals.ts';
import { tenantProduct } from './tenant-product.ts';
import { propertyRuns } from '../support/values/property-runs.ts';

type Json = Record<string, unknown>;

/** What came of a command: the record, or the paths that were refused and the message. */
type Result =
  | { readonly record: ProductRecord | null | undefined }
  | { readonly paths: unknown[]; readonly message: unknown };

let commandCount = 0;

/** Does a command on product `p`, as it is read from JSON. */
function done(
  type: ProductCommandType,
  payload: unknown,
  known?: ProductRecord | null,
  { hasAccounts = false, receivedAt = 1_000 } = {},
): Result {
  commandCount += 1;
  const exact = readExactObject(JSON.stringify(payload));
  const refusals: Refusal[] = [];
  const reader = new FieldReader(exact, refusals);
  const newKey = (purpose: string): string => keyOf(`${commandCount} ${purpose}`);
  const request = readProductRequest(type, 'p', exact, reader, newKey);
  reader.refuseUnknown();
  if (refusals.length > 0) return { paths: refusals.map(({ errorSource }) => errorSource), message: undefined };
  const decision = decideProduct(request, known ?? undefined, {
    commandId: `command ${commandCount}`,
    commandDigest: 'digest',
    loanProductId: 'p',
    receivedAt,
    newKey,
    isKeyTaken: (key) => key === 'f'.repeat(32),
    hasAccounts: () => hasAccounts,
  });
  if (decision.outcome === 'committed') return { record: decision.record };
  const [first] = decision.refusals;
  const message = first === undefined ? undefined : decision.messages[first.errorReason];
  return { paths: decision.refusals.map(({ errorSource }) => errorSource), message };
}

function keyOf(text: string): string {
  return Buffer.from(text.padEnd(16).slice(0, 16)).toString('hex');
}

/** The record after a command that changes the product. */
function after(type: ProductCommandType, payload: unknown, known?: ProductRecord, receivedAt = 1_000): ProductRecord {
  const result = done(type, payload, known, { receivedAt });
  if ('paths' in result) throw new Error(`refused: ${JSON.stringify(result)}`);
  if (result.record === undefined || result.record === null) throw new Error('no record');
  return result.record;
}

const shown = (record: ProductRecord): Json => JSON.parse(writeProduct(versionOf(record))) as Json;

const patchOf = (...operations: readonly unknown[]): unknown => ({ operations });
const replace = (path: string, value: unknown): unknown => ({ op: 'REPLACE', path, value });

const created = after('CREATE_PRODUCT', annuityProduct('p'));

/** A product body in which these paths have these values. */
function changed(body: object, changes: Readonly<Record<string, unknown>>): Json {
  const copy = structuredClone(body) as Json;
  for (const [path, value] of Object.entries(changes)) {
    const names = path.split('.');
    let place = copy;
    for (const name of names.slice(0, -1)) place = (place[name] ??= {}) as Json;
    place[names.at(-1) ?? ''] = value;
  }
  return copy;
}

describe('a product as a tenant returns it', () => {
  it('is accepted, and given back with every setting at its place', () => {
    const sent = tenantProduct('p');
    const answer = shown(after('CREATE_PRODUCT', sent));
    const { creationDate, lastModifiedDate, notes, ...settings } = sent;
    expect([creationDate, lastModifiedDate, notes]).to.have.length(3);
    const { encodedKey: rateKey, ...rate } = settings.interestSettings.indexRateSettings;
    const { encodedKey: arrearsKey, ...arrears } = settings.arrearsSettings;
    expect([rateKey, arrearsKey]).to.have.length(2);
    expectContains(answer, {
      ...settings,
      interestSettings: { ...settings.interestSettings, indexRateSettings: rate },
      arrearsSettings: { ...arrears, tolerancePeriod: { defaultValue: 3 } },
      feesSettings: { allowArbitraryFees: false },
    });
    expect(answer).to.not.have.nested.property('interestSettings.indexRateSettings.encodedKey');
    expect(answer).to.have.nested.property('feesSettings.fees[0].accountingRules').that.deep.equals([]);
    expect(answer).to.include({ creationDate: '1970-01-01T00:00:01.000Z', version: 1 });
    expect(JSON.stringify(answer)).to.not.contain('null');
  });

  const cap = {
    cappingConstraintType: 'HARD_CAP',
    cappingMethod: 'ORIGINAL_PRINCIPAL_PERCENTAGE',
    cappingPercentage: 12.5,
  };
  const off: readonly (readonly [path: string, values: readonly unknown[], refused: readonly unknown[]])[] = [
    ['category', ['SME_LENDING', 'UNCATEGORIZED'], ['OTHER', 5]],
    ['useFeeIncludedInPMT', [false], [true]],
    ['adjustTotalDueForInstallmentsWithDifferentInterval', [false], [true]],
    ['accountingSettings.accountingMethod', ['NONE'], ['CASH', 'ACCRUAL']],
    ['accountingSettings.accountingRules', [[]], [[{ financialResource: 'FEE_INCOME', glAccountKey: 'k' }]]],
    ['accountLinkSettings.enabled', [false], [true]],
    ['accountLinkSettings.settlementMethod', ['PARTIAL_DUE_AMOUNTS'], ['OTHER']],
    ['creditArrangementSettings.creditArrangementRequirement', ['OPTIONAL', 'NOT_REQUIRED'], ['REQUIRED']],
    ['fundingSettings.enabled', [false], [true]],
    ['fundingSettings.requiredFunds', [0], [50]],
    ['gracePeriodSettings.gracePeriodType', ['NONE'], ['INTEREST_FORGIVENESS']],
    ['internalControls.dormancyPeriodDays', [0, 90], [-1, 1.5, 10_001, 'soon']],
    ['internalControls.fourEyesPrinciple.activeForLoanApproval', [false], [true]],
    ['internalControls.lockSettings', [{}, cap, { ...cap, lockPeriodDays: 3 }], [5, []]],
    ['internalControls.lockSettings.lockPeriodDays', [0, 5], [-1, 1.5, 10_001, 'soon']],
    ['internalControls.lockSettings.cappingConstraintType', [], ['NO_CAP']],
    ['internalControls.lockSettings.lockDays', [], [1]],
    ['loanAmountSettings.trancheSettings.maxNumberOfTranches', [1, '1'], [2]],
    ['newAccountSettings.accountInitialState', ['PARTIAL_APPLICATION'], ['ACTIVE']],
    [
      'newAccountSettings.idPattern',
      ['@@##', 'LOAN-$$$$', '####'],
      ['@@#', 'fixed', '#'.repeat(32), '@@@@ ##', '-@@@@', '@/@@@@'],
    ],
    ['offsetSettings.allowOffset', [false], [true]],
    ['redrawSettings.allowRedraw', [false], [true]],
    ['securitySettings.isCollateralEnabled', [false], [true]],
    ['interestSettings.interestRateSettings', [[]], [[{ interestRateSource: 'FIXED_INTEREST_RATE' }]]],
    ['interestSettings.decoupleInterestFromArrears', [false], [true]],
    ['interestSettings.compoundingFrequency', ['DAILY'], ['SEMI_ANNUALLY']],
    ['interestSettings.daysInYear', ['E30_42_365'], ['BUS_252']],
    ['interestSettings.interestType', ['SIMPLE_INTEREST'], ['CAPITALIZED_INTEREST']],
    ['interestSettings.interestBalanceCalculationMethod', ['ONLY_PRINCIPAL'], ['PRINCIPAL_AND_INTEREST']],
    [
      'interestSettings.interestApplicationMethod',
      ['AFTER_DISBURSEMENT'],
      ['REPAYMENT_DUE_DATE', 'FIXED_DAYS_OF_MONTH'],
    ],
    ['interestSettings.indexRateSettings.interestRateSource', ['FIXED_INTEREST_RATE'], ['INDEX_INTEREST_RATE']],
    ['interestSettings.indexRateSettings.interestRateTerms', ['FIXED'], ['TIERED']],
    // Its product is one of a fixed term.
    ['interestSettings.indexRateSettings.accrueInterestAfterMaturity', [false], [true, 'soon', 1]],
    ['interestSettings.indexRateSettings.allowNegativeInterestRate', [false], [true]],
    ['interestSettings.indexRateSettings.interestRateFloorValue', [], [1]],
    ['interestSettings.indexRateSettings.indexSourceKey', [], ['k']],
    ['scheduleSettings.repaymentScheduleMethod', ['FIXED'], ['DYNAMIC', 'NONE']],
    ['scheduleSettings.repaymentMethod', ['INSTALLMENTS'], ['AMOUNT']],
    ['scheduleSettings.interestAccrualSince', ['DISBURSEMENT'], ['DUE_DATE']],
    ['scheduleSettings.keepInstallmentsEqualIfLongFirstPeriod', [false], [true]],
    ['scheduleSettings.billingCycles.enabled', [false], [true]],
    ['scheduleSettings.previewSchedule.previewScheduleEnabled', [false], [true]],
    ['scheduleSettings.repaymentScheduleEditOptions', [['ADJUST_PAYMENT_DATES']], [['OTHER'], 'ADJUST_PAYMENT_DATES']],
    ['scheduleSettings.numInstallments.minValue', [0, 1], [-1]],
    ['scheduleSettings.numInstallments.maxValue', [1], [0]],
    ['paymentSettings.amortizationMethod', ['OPTIMIZED_PAYMENTS'], ['BALLOON_PAYMENTS']],
    [
      'paymentSettings.prepaymentSettings.futurePaymentsAcceptance',
      ['NO_FUTURE_PAYMENTS', 'ACCEPT_FUTURE_PAYMENTS', 'ACCEPT_OVERPAYMENTS'],
      ['SOME_FUTURE_PAYMENTS', true],
    ],
    ['paymentSettings.principalPaymentSettings.principalPaymentMethod', [], ['FLAT']],
    ['paymentSettings.principalPaymentSettings.amount', [{}], [{ defaultValue: 5 }]],
    ['paymentSettings.principalPaymentSettings.includeFeesInFloorAmount', [false], [true]],
    ['availabilitySettings.availableFor', [['PURE_GROUPS']], [['NOBODY'], 'INDIVIDUALS']],
    ['availabilitySettings.branchSettings.availableProductBranches', [['8a81']], [[5], '8a81']],
    ['taxSettings.taxSourceKey', ['8a81'], [5]],
    ['currency.currencyCode', ['EUR'], ['USD']],
    ['nothing', [], [1]],
  ];
  for (const [path, values, refused] of off) {
    it(`keeps ${path} while it changes nothing, and refuses any other value by its path`, () => {
      for (const value of values) {
        const answer = shown(after('CREATE_PRODUCT', changed(tenantProduct('p'), { [path]: value })));
        if (!path.startsWith('currency')) {
          const kept = value === '1' ? 1 : value;
          expect(JSON.stringify(at(answer, path))).to.equal(JSON.stringify(kept));
        }
      }
      for (const value of refused) {
        const result = done('CREATE_PRODUCT', changed(tenantProduct('p'), { [path]: value }));
        if (!('paths' in result)) expect.fail(`${path} ${JSON.stringify(value)} was accepted`);
        expect(
          result.paths.some((source) => path.startsWith(String(source))),
          JSON.stringify(result),
        ).to.equal(true);
      }
    });
  }

  it('takes the cap of the charges in arrears only with all of its settings, and not below zero', () => {
    const at = (settings: object): unknown =>
      done('CREATE_PRODUCT', changed(tenantProduct('p'), { 'internalControls.lockSettings': settings }));
    const own = 'internalControls.lockSettings';
    for (const name of ['cappingConstraintType', 'cappingMethod', 'cappingPercentage']) {
      expect(at({ ...cap, [name]: null })).to.deep.include({ paths: [`${own}.${name}`] });
    }
    expect(at({ ...cap, cappingPercentage: -0.01 })).to.deep.include({ paths: [`${own}.cappingPercentage`] });
    const none = changed(tenantProduct('p'), { 'internalControls.lockSettings': { ...cap, cappingPercentage: 0 } });
    expect(shown(after('CREATE_PRODUCT', none))).to.have.nested.property(`${own}.cappingPercentage`, 0);
    const nulls = { cappingConstraintType: null, lockPeriodDays: '' };
    const empty = shown(
      after('CREATE_PRODUCT', changed(tenantProduct('p'), { 'internalControls.lockSettings': nulls })),
    );
    expect(empty).to.not.have.nested.property(own);
  });

  it('lets interest go on after the last due date only of dynamic loans, and takes what it shows', () => {
    const path = 'interestSettings.indexRateSettings.accrueInterestAfterMaturity';
    const dynamic = (value: unknown): Json =>
      changed({ ...annuityProduct('p'), type: 'DYNAMIC_TERM_LOAN' }, { [path]: value });
    const record = after('CREATE_PRODUCT', dynamic(true));
    expect(shown(record)).to.have.nested.property(path, true);
    expect(done('UPDATE_PRODUCT', shown(record), record)).to.deep.equal({ record: undefined });
    const off = after(
      'PATCH_PRODUCT',
      patchOf({ op: 'REPLACE', path: path.replaceAll('.', '/'), value: 'false' }),
      record,
    );
    expect(shown(off)).to.have.nested.property(path, false);
    expect(shown(after('CREATE_PRODUCT', dynamic(null)))).to.not.have.nested.property(path);
    expect(done('CREATE_PRODUCT', changed(annuityProduct('p'), { [path]: true }))).to.deep.include({ paths: [path] });
  });

  it('puts interest of late principal where its method says, and takes what it shows', () => {
    const path = 'paymentSettings.latePaymentsRecalculationMethod';
    const isLate = 'interestSettings.accrueLateInterest';
    const dynamic = (method: unknown, accruesLate: boolean, type = 'DYNAMIC_TERM_LOAN'): Json =>
      changed({ ...annuityProduct('p'), type }, { [path]: method, [isLate]: accruesLate });
    for (const [method, accruesLate, type] of [
      ['LAST_INSTALLMENT_INCREASE', true, 'DYNAMIC_TERM_LOAN'],
      ['LAST_INSTALLMENT_INCREASE', false, 'DYNAMIC_TERM_LOAN'],
      ['NO_RECALCULATION', false, 'DYNAMIC_TERM_LOAN'],
      ['NO_RECALCULATION', true, 'FIXED_TERM_LOAN'],
      ['OVERDUE_INSTALLMENTS_INCREASE', true, 'DYNAMIC_TERM_LOAN'],
    ] as const) {
      const record = after('CREATE_PRODUCT', dynamic(method, accruesLate, type));
      expect(shown(record)).to.have.nested.property(path, method);
      expect(done('UPDATE_PRODUCT', shown(record), record)).to.deep.equal({ record: undefined });
      const patch = { op: 'REPLACE', path: path.replaceAll('.', '/'), value: 'OVERDUE_INSTALLMENTS_INCREASE' };
      if (method === patch.value) continue;
      expect(shown(after('PATCH_PRODUCT', patchOf(patch), record))).to.have.nested.property(path, patch.value);
    }
    for (const wrong of [
      dynamic('NO_RECALCULATION', true),
      dynamic('LAST_INSTALLMENT_INCREASE', true, 'FIXED_TERM_LOAN'),
      dynamic('LAST_INSTALLMENT_INCREASE', false, 'FIXED_TERM_LOAN'),
      dynamic('NEXT_INSTALLMENT_INCREASE', true),
    ]) {
      expect(done('CREATE_PRODUCT', wrong)).to.deep.include({ paths: [path] });
    }
  });

  it('keeps a source of tax rates only while nothing is taxed', () => {
    const taxed = changed(tenantProduct('p'), {
      'taxSettings.taxesOnFeesEnabled': true,
      'taxSettings.taxSourceKey': 'k',
    });
    expect(done('CREATE_PRODUCT', taxed)).to.have.property('paths').that.deep.equals(['taxSettings.taxSourceKey']);
  });

  it('keeps a tax method of a fee that differs from the product only while fees are not taxed', () => {
    const settings = { name: 'f', trigger: 'MANUAL', taxSettings: { taxableCalculationMethod: 'NON_TAXABLE' } };
    const untaxed = changed(tenantProduct('p'), { 'feesSettings.fees': [settings] });
    expect(shown(after('CREATE_PRODUCT', untaxed))).to.have.nested.property('feesSettings.fees[0].taxSettings');
    expect(done('CREATE_PRODUCT', changed(untaxed, { 'taxSettings.taxesOnFeesEnabled': true })))
      .to.have.property('paths')
      .that.deep.equals(['feesSettings.fees[0].taxSettings.taxableCalculationMethod']);
  });
});

describe('a setting that has two places', () => {
  const places: readonly (readonly [string, string, unknown, unknown])[] = [
    [
      'interestSettings.interestRate',
      'interestSettings.indexRateSettings.interestRate',
      { defaultValue: 5 },
      { defaultValue: 6 },
    ],
    [
      'interestSettings.interestChargeFrequency',
      'interestSettings.indexRateSettings.interestChargeFrequency',
      'EVERY_MONTH',
      'EVERY_WEEK',
    ],
    [
      'interestSettings.interestChargeFrequencyCount',
      'interestSettings.indexRateSettings.interestChargeFrequencyCount',
      1,
      2,
    ],
    [
      'scheduleSettings.defaultPrincipalRepaymentInterval',
      'paymentSettings.principalPaymentSettings.defaultPrincipalRepaymentInterval',
      2,
      3,
    ],
  ];
  for (const [short, contract, value, other] of places) {
    it(`is accepted as ${short} and as ${contract}, and given back as the latter`, () => {
      const body = { name: 'n', type: 'FIXED_TERM_LOAN', currency: { code: 'EUR' } };
      for (const sent of [{ [short]: value }, { [contract]: value }, { [short]: value, [contract]: value }]) {
        const answer = shown(after('CREATE_PRODUCT', changed(body, sent)));
        expect(at(answer, contract)).to.deep.equal(value);
        expect(at(answer, short)).to.equal(undefined);
      }
      expect(done('CREATE_PRODUCT', changed(body, { [short]: value, [contract]: other })))
        .to.have.property('paths')
        .that.deep.equals([short]);
    });
  }

  it('is the allocation of a fee in two words', () => {
    const fee = (allocations: object): Json =>
      changed(annuityProduct('p'), { 'feesSettings.fees': [{ name: 'f', trigger: 'MANUAL', ...allocations }] });
    for (const allocations of [
      { scheduleAllocationMethod: 'ON_INSTALLMENT' },
      { allocation: 'INSTALLMENT' },
      { allocation: 'INSTALLMENT', scheduleAllocationMethod: 'ON_INSTALLMENT' },
    ]) {
      expect(shown(after('CREATE_PRODUCT', fee(allocations)))).to.have.nested.property(
        'feesSettings.fees[0].scheduleAllocationMethod',
        'ON_INSTALLMENT',
      );
    }
    expect(done('CREATE_PRODUCT', fee({ allocation: 'INSTALLMENT', scheduleAllocationMethod: 'NO_ALLOCATION' })))
      .to.have.property('paths')
      .that.deep.equals(['feesSettings.fees[0].allocation']);
  });
});

describe('changing a product as a whole', () => {
  it('takes what GET shows, and changes nothing then', () => {
    for (const body of [annuityProduct('p'), tenantProduct('p')]) {
      const record = after('CREATE_PRODUCT', body);
      expect(done('UPDATE_PRODUCT', shown(record), record)).to.deep.equal({ record: undefined });
    }
  });

  it('takes what GET shows of any product, and shows it again', () => {
    fc.assert(
      fc.property(anyProduct, fc.boolean(), (body, hasVersion) => {
        const first = done('CREATE_PRODUCT', body);
        if ('paths' in first) throw new Error(JSON.stringify([first, body]));
        const record = first.record as ProductRecord;
        const stored = JSON.parse(JSON.stringify(record)) as ProductRecord;
        const answer = shown(stored);
        expect(done('UPDATE_PRODUCT', answer, stored)).to.deep.equal({ record: undefined });
        const { version, ...rest } = answer;
        const renamed = after(
          'UPDATE_PRODUCT',
          { ...rest, ...(hasVersion ? { version } : {}), name: 'new' },
          stored,
          2_000,
        );
        const expected = { ...answer, name: 'new', version: 2, lastModifiedDate: '1970-01-01T00:00:02.000Z' };
        expect(shown(renamed)).to.deep.equal(expected);
        const back = after('UPDATE_PRODUCT', { ...rest, version: 2 }, renamed, 3_000);
        const { version: last, lastModifiedDate, ...restored } = shown(back);
        expect([last, lastModifiedDate]).to.deep.equal([3, '1970-01-01T00:00:03.000Z']);
        const { lastModifiedDate: _first, ...original } = rest;
        expect(restored).to.deep.equal(original);
      }),
      propertyRuns(200),
    );
  });

  it('becomes any other product of its type when a patch sets what is different, but for its own fees', () => {
    // The keys of fees are those of their product.
    const own = ['encodedKey', 'version', 'lastModifiedDate', 'creationDate', 'feesSettings'];
    fc.assert(
      fc.property(anyProduct, anyProduct, fc.boolean(), (body, otherBody, hasSlash) => {
        const record = after('CREATE_PRODUCT', body);
        const created = done('CREATE_PRODUCT', { ...otherBody, type: body['type'] });
        // Some settings belong to the other type.
        fc.pre(!('paths' in created));
        const target = shown((created as { record: ProductRecord }).record);
        const present = shown(record);
        for (const name of own) target[name] = present[name];
        const path = (name: string): string => (hasSlash ? `/${name}` : name);
        const set = Object.entries(target)
          .filter(([name, value]) => JSON.stringify(present[name]) !== JSON.stringify(value))
          .map(([name, value]) => ({ op: name in present ? 'REPLACE' : 'add', path: path(name), value }));
        const removed = Object.keys(present)
          .filter((name) => !(name in target))
          .map((name) => ({ op: 'remove', path: path(name) }));
        fc.pre(set.length + removed.length > 0);
        const patched = shown(after('PATCH_PRODUCT', patchOf(...set, ...removed), record, 2_000));
        expect(patched).to.deep.equal({ ...target, version: 2, lastModifiedDate: '1970-01-01T00:00:02.000Z' });
      }),
      propertyRuns(200),
    );
  });

  it('makes the next version with its time, and keeps the encodedKey and the day of creation', () => {
    const { encodedKey, ...rest } = shown(created);
    const second = shown(after('UPDATE_PRODUCT', { ...rest, name: 'second' }, created, 5_000));
    expect(second).to.include({
      encodedKey,
      name: 'second',
      version: 2,
      creationDate: '1970-01-01T00:00:01.000Z',
      lastModifiedDate: '1970-01-01T00:00:05.000Z',
    });
  });

  it('gives a field that it leaves out its default', () => {
    const noted = after('CREATE_PRODUCT', { ...annuityProduct('p'), notes: 'n' });
    const answer = shown(after('UPDATE_PRODUCT', { ...annuityProduct('p'), state: 'INACTIVE' }, noted));
    expect(answer).to.not.have.property('notes');
    expect(answer).to.include({ state: 'INACTIVE' });
  });

  it('is refused when the product has another version than the body', () => {
    const second = after('UPDATE_PRODUCT', { ...shown(created), name: 'second' }, created);
    const result = done('UPDATE_PRODUCT', { ...shown(created), name: 'third' }, second);
    expect(result).to.deep.equal({
      paths: ['version'],
      message: 'The product was changed in the meantime: its version is 2.',
    });
  });

  it('cannot give it another id or encodedKey, or settings that do not fit together', () => {
    expect(done('UPDATE_PRODUCT', { ...shown(created), id: 'q' }, created))
      .to.have.property('paths')
      .that.deep.equals(['id']);
    expect(done('UPDATE_PRODUCT', { ...shown(created), encodedKey: 'b'.repeat(32) }, created))
      .to.have.property('paths')
      .that.deep.equals(['encodedKey']);
    expect(
      done(
        'UPDATE_PRODUCT',
        { ...annuityProduct('p'), type: 'DYNAMIC_TERM_LOAN', interestSettings: { interestCalculationMethod: 'FLAT' } },
        created,
      ),
    )
      .to.have.property('paths')
      .that.deep.equals(['interestSettings.interestCalculationMethod']);
    expect(done('UPDATE_PRODUCT', annuityProduct('p')))
      .to.have.property('paths')
      .that.deep.equals(['loanProductId']);
  });
});

describe('patching a product', () => {
  it('from INTERVAL to FIXED_DAYS_OF_MONTH needs both fields, and one alone leaves it unchanged', () => {
    const method = replace('/scheduleSettings/scheduleDueDatesMethod', 'FIXED_DAYS_OF_MONTH');
    const days = replace('/scheduleSettings/fixedDaysOfMonth', [5]);
    for (const alone of [method, days]) {
      expect(done('PATCH_PRODUCT', patchOf(alone), created))
        .to.have.property('paths')
        .that.deep.equals(['scheduleSettings.fixedDaysOfMonth']);
    }
    const patched = shown(after('PATCH_PRODUCT', patchOf(method, days), created));
    expect(patched).to.have.nested.property('scheduleSettings.scheduleDueDatesMethod', 'FIXED_DAYS_OF_MONTH');
    expect(patched).to.have.nested.property('scheduleSettings.fixedDaysOfMonth').that.deep.equals([5]);
  });

  it('with FIXED_DAYS_OF_MONTH changes an unrelated field', () => {
    const fixedDays = {
      'scheduleSettings.scheduleDueDatesMethod': 'FIXED_DAYS_OF_MONTH',
      'scheduleSettings.fixedDaysOfMonth': [5, 31],
      'scheduleSettings.shortMonthHandlingMethod': 'LAST_DAY_IN_MONTH',
    };
    const record = after('CREATE_PRODUCT', changed(annuityProduct('p'), fixedDays));
    const { notes, ...rest } = shown(after('PATCH_PRODUCT', patchOf(replace('/notes', 'n')), record));
    expect(notes).to.equal('n');
    expect(rest).to.deep.equal({ ...shown(record), version: 2 });
  });

  it('sets the branches that it is available in, whether or not it named any', () => {
    const availability = {
      branchSettings: { forAllBranches: false, availableProductBranches: ['8a8187136eaec3f5016eb324a5242dd8'] },
      availableFor: ['INDIVIDUALS'],
    };
    for (const body of [annuityProduct('p'), tenantProduct('p')]) {
      const record = after('CREATE_PRODUCT', body);
      const patched = shown(after('PATCH_PRODUCT', patchOf(replace('availabilitySettings', availability)), record));
      expect(patched['availabilitySettings']).to.deep.equal(availability);
    }
  });

  it('does all of its operations in their order, or none', () => {
    const patch = patchOf(
      replace('/name', 'second'),
      { op: 'MOVE', from: '/name', path: '/notes' },
      { op: 'ADD', path: 'name', value: 'third' },
      { op: 'ADD', path: '/feesSettings/fees/-', value: { name: 'f', trigger: 'MANUAL' } },
    );
    const patched = shown(after('PATCH_PRODUCT', patch, created));
    expect(patched).to.include({ name: 'third', notes: 'second' });
    expect(patched).to.have.nested.property('feesSettings.fees[0].name', 'f');
    const result = done('PATCH_PRODUCT', patchOf(replace('/name', 'x'), { op: 'REMOVE', path: '/nothing' }), created);
    expect(result).to.deep.equal({
      paths: ['[1]/nothing'],
      message: 'Operation 1, path: There is nothing at this path.',
    });
  });

  it('is decided on the version that it meets, so that two patches of one version both count', () => {
    const first = after('PATCH_PRODUCT', patchOf(replace('/name', 'second')), created);
    const second = shown(after('PATCH_PRODUCT', patchOf(replace('/notes', 'n')), first));
    expect(second).to.include({ name: 'second', notes: 'n', version: 3 });
  });

  it('refuses what no product has, and an allocation outside the schedule without custom repayments', () => {
    expect(done('PATCH_PRODUCT', patchOf(replace('/interestSettings/interestRates', 5)), created))
      .to.have.property('paths')
      .that.deep.equals(['interestSettings.interestRates']);
    const fee = { name: 'f', trigger: 'MANUAL', scheduleAllocationMethod: 'NO_ALLOCATION' };
    const result = done('PATCH_PRODUCT', patchOf(replace('/feesSettings/fees', [fee])), created);
    expect(result).to.have.property('paths').that.deep.equals(['feesSettings.fees[0]']);
    expect(result)
      .to.have.property('message')
      .that.matches(/allowCustomRepaymentAllocation/);
  });

  it('keeps the encodedKey when it removes it', () => {
    const patch = patchOf({ op: 'REMOVE', path: '/encodedKey' }, replace('/name', 'x'));
    expect(shown(after('PATCH_PRODUCT', patch, created))['encodedKey']).to.equal(shown(created)['encodedKey']);
  });
});

describe('creating and deleting a product', () => {
  it('refuses an id or an encodedKey that exists', () => {
    const body = { ...annuityProduct('p'), encodedKey: 'f'.repeat(32) };
    expect(done('CREATE_PRODUCT', body, created))
      .to.have.property('paths')
      .that.deep.equals(['id', 'encodedKey']);
  });

  it('deletes a product without accounts, and says why it cannot delete another one', () => {
    expect(done('DELETE_PRODUCT', {}, created)).to.deep.equal({ record: null });
    expect(done('DELETE_PRODUCT', {}, created, { hasAccounts: true })).to.deep.equal({
      paths: ['loanProductId'],
      message: 'Accounts were opened under the product. It can be made INACTIVE, and not be deleted.',
    });
    expect(done('DELETE_PRODUCT', {})).to.have.property('paths').that.deep.equals(['loanProductId']);
  });

  it('knows which commands are about products', () => {
    expect(['CREATE_PRODUCT', 'PATCH_PRODUCT', 'REPAY', 'toString'].map(isProductCommand)).to.deep.equal([
      true,
      true,
      false,
      false,
    ]);
  });
});

/** The value at a path of names with points between them. */
function at(value: unknown, path: string): unknown {
  return path.split('.').reduce((place, name) => (place as ExactJson | undefined)?.[name], value);
}

/** Expects every field of `part`, at any depth, in `whole`. */
function expectContains(whole: unknown, part: unknown, path = ''): void {
  if (typeof part !== 'object' || part === null || Array.isArray(part)) {
    expect(whole, path).to.deep.equal(part);
    return;
  }
  for (const [name, value] of Object.entries(part)) expectContains(at(whole, name), value, `${path}.${name}`);
}

/** A body with a random part of a tenant's settings, and random values of those that rules read. */
const anyProduct = fc
  .record({
    type: fc.constantFrom('FIXED_TERM_LOAN', 'DYNAMIC_TERM_LOAN'),
    kept: fc.subarray([
      'category',
      'templates',
      'accountingSettings',
      'accountLinkSettings',
      'arrearsSettings',
      'availabilitySettings',
      'fundingSettings',
      'internalControls',
      'penaltySettings',
      'securitySettings',
      'redrawSettings',
      'feesSettings',
    ] as const),
    rate: fc.record(
      {
        defaultValue: fc.integer({ min: 10, max: 20 }).map((tenths) => tenths / 8),
        minValue: fc.constant(0.5),
        maxValue: fc.constant(99.99),
      },
      { requiredKeys: [] },
    ),
    amount: fc.record(
      { defaultValue: fc.integer({ min: 1, max: 9_999 }), maxValue: fc.constant(10_000.01) },
      { requiredKeys: [] },
    ),
    interval: fc.integer({ min: 1, max: 5 }),
    days: fc.uniqueArray(fc.integer({ min: 1, max: 31 }), { maxLength: 4 }).map((days) => days.sort((a, b) => a - b)),
    count: fc.record(
      { minValue: fc.integer({ min: 0, max: 3 }), defaultValue: fc.integer({ min: 3, max: 9 }) },
      { requiredKeys: [] },
    ),
    requirement: fc.option(fc.constantFrom('OPTIONAL', 'NOT_REQUIRED'), { nil: undefined }),
    idPattern: fc.option(fc.constantFrom('@@@@###', '$$$$', 'L-######'), { nil: undefined }),
    currency: fc.constantFrom('EUR', 'JPY', 'JOD'),
    notes: fc.option(fc.constantFrom('n', 'new', ''), { nil: undefined }),
    name: fc.constantFrom('n', 'new name'),
    order: fc.shuffledSubarray(['FEE', 'PENALTY', 'INTEREST', 'PRINCIPAL'], { minLength: 4 }),
    future: fc.option(fc.constantFrom('NO_FUTURE_PAYMENTS', 'ACCEPT_OVERPAYMENTS', 'ACCEPT_FUTURE_PAYMENTS'), {
      nil: undefined,
    }),
    afterMaturity: fc.option(fc.boolean(), { nil: undefined }),
    lockPeriod: fc.record({ lockPeriodDays: fc.integer({ min: 0, max: 90 }) }, { requiredKeys: [] }),
    cap: fc.option(
      fc.record({
        cappingConstraintType: fc.constantFrom('SOFT_CAP', 'HARD_CAP'),
        cappingMethod: fc.constantFrom('OUTSTANDING_PRINCIPAL_PERCENTAGE', 'ORIGINAL_PRINCIPAL_PERCENTAGE'),
        cappingPercentage: fc.integer({ min: 0, max: 999 }).map((eighths) => eighths / 8),
      }),
    ),
  })
  .map(
    ({
      type,
      kept,
      rate,
      amount,
      interval,
      days,
      count,
      requirement,
      idPattern,
      currency,
      notes,
      name,
      order,
      future,
      afterMaturity,
      lockPeriod,
      cap,
    }) => {
      const tenant = tenantProduct('p');
      const fixed = days.length > 0;
      return {
        id: 'p',
        name,
        type,
        currency: { code: currency },
        notes,
        ...Object.fromEntries(kept.map((section) => [section, tenant[section]])),
        loanAmountSettings: { loanAmount: amount },
        interestSettings: {
          indexRateSettings: {
            interestRate: rate,
            interestRateTiers: [],
            accrueInterestAfterMaturity: type === 'DYNAMIC_TERM_LOAN' ? afterMaturity : undefined,
          },
        },
        scheduleSettings: {
          scheduleDueDatesMethod: fixed ? 'FIXED_DAYS_OF_MONTH' : 'INTERVAL',
          fixedDaysOfMonth: days,
          numInstallments: count,
        },
        paymentSettings: {
          repaymentAllocationOrder: order,
          principalPaymentSettings: { defaultPrincipalRepaymentInterval: interval },
          prepaymentSettings: { futurePaymentsAcceptance: future },
        },
        creditArrangementSettings: { creditArrangementRequirement: requirement },
        newAccountSettings: { idPattern },
        ...(kept.includes('internalControls')
          ? { internalControls: { ...tenant.internalControls, lockSettings: { ...lockPeriod, ...cap } } }
          : {}),
      };
    },
  );
