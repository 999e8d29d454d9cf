import { expect } from 'chai';
import { assert, constantFrom, integer, property, record } from 'fast-check';
import { after, before, describe, it } from 'mocha';
import { join } from 'node:path';
import { AccountTables } from '../../../src/accounts/account-tables.ts';
import { loanRow } from '../../../src/accounts/account-rows.ts';
import { loanFields } from '../../../src/accounts/queries/loan-fields.ts';
import { type OperatorName, fits, operatorNames, readCriteria } from '../../../src/accounts/queries/search-criteria.ts';
import type { SearchPage, SearchQuery } from '../../../src/accounts/queries/search-query.ts';
import { Searches } from '../../../src/accounts/queries/searches.ts';
import { examinedItemsMaximum } from '../../../src/accounts/queries/search.ts';
import { encodeAccount } from '../../../src/lending-format/account-pages.ts';
import { encodeAccountProduct } from '../../../src/lending/changelog/stored-product.ts';
import { namedProduct } from '../../../src/lending-format/account-products.ts';
import { decodeSummary } from '../../../src/lending/changelog/stored-loan.ts';
import { readExactObject } from '../../../src/lending-format/exact-json.ts';
import type { AccountState, Loan } from '../../../src/lending/loan.ts';
import { Decimal } from '../../../src/lending/money.ts';
import { type Connection, openDatabase } from '../../../src/sqlite.ts';
import { randomNumbers } from '../../support/random-numbers.ts';
import { removeFolder, temporaryFolder } from '../../support/processes/service.ts';
import { storedLoan } from '../stored-loans.ts';
import { propertyRuns } from '../../support/values/property-runs.ts';

/** 2026-11-20, noon: a Friday. */
const now = Date.parse('2026-11-20T12:00:00Z');
const hour = 3_600_000;

const random = randomNumbers(12);
const pick = <Value>(values: readonly Value[]): Value => values[Math.floor(random() * values.length)] as Value;

const names = ['Boat', 'boat', 'BOATHOUSE', 'Ärger', 'ärger', "O'Neil", 'a\\b', '100%', '_x'];
const amounts = ['0.5', '9.99', '10', '100', '100.01', '1000', '99999999.99'];
const days = ['2025-12-31', '2026-01-01', '2026-11-15', '2026-11-16', '2026-11-19', '2026-11-20', '2026-12-01'];
const states: AccountState[] = ['PENDING_APPROVAL', 'APPROVED', 'ACTIVE', 'CLOSED'];

function randomLoan(number: number): Loan {
  const createdAt = now - Math.floor(random() * 400 * 24) * hour + pick([0, 1, 500]);
  const loan = storedLoan({
    id: `${pick(['L', 'l', 'Loan'])}-${number}`,
    loanAmount: pick(amounts),
    createdAt,
    accountState: pick(states),
    ...(random() < 0.3 ? {} : { loanName: pick(names) }),
    ...(random() < 0.5 ? {} : { accountHolderKey: pick(['ann', 'Ann', 'bob']) }),
  });
  const score = pick([7, new Decimal('7.5'), '8', 'high', undefined]);
  return {
    ...loan,
    expectedDisbursementDate: random() < 0.4 ? null : pick(days),
    position: { ...loan.position, closedAt: random() < 0.6 ? null : now - Math.floor(random() * 100) * hour },
    additionalFields: {
      ...(score === undefined ? {} : { _risk: { score, since: pick(days) } }),
      ...(random() < 0.5 ? {} : { assignedBranchKey: pick(['north', 'south']) }),
    },
  };
}

/** What a field means: a plain reading of the loan, which knows nothing of the search. */
type Plain = string | number | null;
const fields: Readonly<
  Record<string, { kind: 'text' | 'key' | 'number' | 'instant' | 'day'; readonly of: (loan: Loan) => Plain }>
> = {
  id: { kind: 'text', of: ({ id }) => id },
  loanName: { kind: 'text', of: ({ loanName, product }) => loanName ?? product.name },
  accountHolderKey: { kind: 'key', of: ({ accountHolderKey }) => accountHolderKey },
  accountState: { kind: 'key', of: ({ position }) => position.accountState },
  assignedBranchKey: {
    kind: 'key',
    of: ({ additionalFields }) => (additionalFields['assignedBranchKey'] as string | undefined) ?? null,
  },
  loanAmount: { kind: 'number', of: ({ loanAmount }) => loanAmount.toNumber() },
  'scheduleSettings.gracePeriod': { kind: 'number', of: ({ terms }) => terms.gracePeriod },
  creationDate: { kind: 'instant', of: ({ createdAt }) => createdAt },
  closedDate: { kind: 'instant', of: ({ position }) => position.closedAt },
  'disbursementDetails.expectedDisbursementDate': { kind: 'day', of: (loan) => loan.expectedDisbursementDate },
};

const lower = (text: Plain): string => String(text).toLowerCase();
const dayOf = (value: Plain): string =>
  typeof value === 'number' ? new Date(value).toISOString().slice(0, 10) : String(value);

/** The days that operators mean on 2026-11-20, a Friday. */
const relative: Partial<Record<OperatorName, readonly [string, string]>> = {
  TODAY: ['2026-11-20', '2026-11-20'],
  THIS_WEEK: ['2026-11-16', '2026-11-22'],
  THIS_MONTH: ['2026-11-01', '2026-11-30'],
  THIS_YEAR: ['2026-01-01', '2026-12-31'],
};

/** Whether a value meets a criterion, written down once more without any of the code under test. */
function meets(
  value: Plain,
  kind: string,
  operator: OperatorName,
  first: string,
  second: string,
  list: readonly string[],
): boolean {
  if (operator === 'EMPTY') return value === null;
  if (operator === 'NOT_EMPTY') return value !== null;
  const isEqual = (to: string): boolean => {
    if (value === null) return false;
    if (kind === 'text') return lower(value) === lower(to);
    return kind === 'number' ? value === Number(to) : kind === 'key' ? value === to : dayOf(value) === to;
  };
  if (operator === 'DIFFERENT_THAN') return !isEqual(first);
  if (value === null) return false;
  const days = relative[operator];
  if (days !== undefined) return days[0] <= dayOf(value) && dayOf(value) <= days[1];
  const isBetween = (from: string, to: string): boolean =>
    kind === 'number'
      ? Number(from) <= Number(value) && Number(value) <= Number(to)
      : from <= dayOf(value) && dayOf(value) <= to;
  const tests: Partial<Record<OperatorName, () => boolean>> = {
    EQUALS: () => isEqual(first),
    ON: () => isEqual(first),
    IN: () => list.some(isEqual),
    EQUALS_CASE_SENSITIVE: () => value === first,
    STARTS_WITH: () => (kind === 'text' ? lower(value).startsWith(lower(first)) : String(value).startsWith(first)),
    STARTS_WITH_CASE_SENSITIVE: () => String(value).startsWith(first),
    MORE_THAN: () => Number(value) > Number(first),
    LESS_THAN: () => Number(value) < Number(first),
    BETWEEN: () => isBetween(first, second),
    AFTER: () => dayOf(value) > first,
    AFTER_INCLUSIVE: () => dayOf(value) >= first,
    BEFORE: () => dayOf(value) < first,
    BEFORE_INCLUSIVE: () => dayOf(value) <= first,
    LAST_DAYS: () => isBetween(dayOf(now - Number(first) * 24 * hour), '2026-11-20'),
  };
  return (tests[operator] ?? expect.fail(operator))();
}

const valuesOf: Readonly<Record<string, readonly string[]>> = {
  text: [...names, 'L-1', 'l-2', 'Loan-3', 'loan'],
  key: ['ann', 'ANN', 'bob', 'north', 'ACTIVE', 'CLOSED'],
  number: [...amounts, '10.00', '0', '3'],
  instant: days,
  day: days,
};

function compare(one: Plain, other: Plain): number {
  if (one === other) return 0;
  if (one === null) return -1;
  if (other === null) return 1;
  if (typeof one === 'number' && typeof other === 'number') return one - other;
  return Buffer.compare(Buffer.from(String(one)), Buffer.from(String(other)));
}

describe('a search of accounts', function () {
  this.timeout(60_000);
  const loans = Array.from({ length: 60 }, (_, number) => randomLoan(number));
  let folder: string;
  let tables: AccountTables;
  let database: Connection;
  let searches: Searches;

  before(async () => {
    folder = await temporaryFolder();
    const file = join(folder, 'accounts.db');
    tables = new AccountTables(file);
    const products = new Map(
      loans.map(({ product }) => [namedProduct(product).reference, encodeAccountProduct(namedProduct(product))]),
    );
    const none = new Map<string, never>();
    const records = loans.map((loan) => ({ loan, ...encodeAccount(loan) }));
    tables.apply({
      partition: 0,
      nextOffset: 1,
      products,
      pages: records.flatMap(({ loan, pages }) =>
        pages.map(({ list, number, text }) => ({ loanId: loan.id, list, number, state: text })),
      ),
      loans: new Map(records.map(({ loan, text }) => [loan.id, loanRow(text)])),
      transactions: none,
      commands: none,
      commandOffset: undefined,
    });
    await tables.finishFilling(() => Promise.resolve());
    database = openDatabase(file);
    searches = new Searches(database);
  });
  after(async () => {
    database.close();
    tables.close();
    await removeFolder(folder);
  });

  function queryOf(body: unknown, zone = 'UTC'): Pick<SearchQuery, 'conditions' | 'sorting'> {
    const refusals: Parameters<typeof readCriteria>[3] = [];
    const { conditions, sorting } = readCriteria(
      readExactObject(JSON.stringify(body)),
      loanFields,
      { zone, now },
      refusals,
    );
    expect(refusals, JSON.stringify(body)).to.deep.equal([]);
    return { conditions, sorting: sorting === undefined ? [] : [sorting] };
  }

  function pageOf(query: SearchQuery): SearchPage<string> {
    const { items, last } = searches.resultOf({ name: 'loans', query }) as SearchPage<readonly string[]>;
    return { items: items.map(([text = '']) => decodeSummary(text).id), last };
  }

  const found = (body: unknown, zone?: string): string[] => [
    ...pageOf({ ...queryOf(body, zone), offset: 0, limit: 1_000 }).items,
  ];

  for (const operator of operatorNames) {
    it(`finds what a plain reading of the accounts finds: ${operator}`, () => {
      const usable = Object.entries(fields).filter(([, { kind }]) => fits(operator, kind));
      expect(usable).to.not.have.length(0);
      for (const [name, { kind, of }] of usable) {
        for (let round = 0; round < 12; round += 1) {
          const words = name === 'accountState' ? states : (valuesOf[kind] ?? []);
          const [first, second] = operator === 'LAST_DAYS' ? [String(round * 5), ''] : [pick(words), pick(words)];
          const list = [pick(words), pick(words)];
          const needsNone = ['EMPTY', 'NOT_EMPTY', 'TODAY', 'THIS_WEEK', 'THIS_MONTH', 'THIS_YEAR'].includes(operator);
          const value = needsNone ? {} : operator === 'IN' ? { values: list } : { value: first };
          const criterion = {
            field: name,
            operator,
            ...value,
            ...(operator === 'BETWEEN' ? { secondValue: second } : {}),
          };
          const expected = loans.filter((loan) => meets(of(loan), kind, operator, first, second, list));
          expect(found({ filterCriteria: [criterion] }), JSON.stringify(criterion)).to.deep.equal(
            expected.map(({ id }) => id).toSorted(),
          );
        }
      }
    });
  }

  it('sorts by every kind of field, in pages by offset and by cursor alike', () => {
    const cases = record({
      field: constantFrom(...Object.keys(fields)),
      order: constantFrom('ASC', 'DESC'),
      filter: constantFrom('loanName', 'assignedBranchKey', undefined),
      limit: integer({ min: 1, max: 70 }),
    });
    assert(
      property(cases, ({ field, order, filter, limit }) => {
        const { of } = fields[field] ?? expect.fail();
        const sign = order === 'DESC' ? -1 : 1;
        const expected = loans
          .filter((loan) => filter === undefined || fields[filter]?.of(loan) !== null)
          .toSorted((one, other) =>
            field === 'id'
              ? sign * compare(one.id, other.id)
              : sign * compare(of(one), of(other)) || compare(one.id, other.id),
          )
          .map(({ id }) => id);
        const criteria = filter === undefined ? [] : [{ field: filter, operator: 'NOT_EMPTY' }];
        const query = queryOf({ filterCriteria: criteria, sortingCriteria: { field, order } });
        const byOffset: string[] = [];
        for (let offset = 0; offset < expected.length; offset += limit) {
          byOffset.push(...pageOf({ ...query, offset, limit }).items);
        }
        expect(byOffset).to.deep.equal(expected);
        const byCursor: string[] = [];
        for (let page: SearchPage<string> | undefined; page === undefined || page.last !== null;) {
          const after = page?.last ?? null;
          page = pageOf({ ...query, offset: 0, limit, ...(after === null ? {} : { after }) });
          byCursor.push(...page.items);
        }
        expect(byCursor).to.deep.equal(expected);
        expect(searches.resultOf({ name: 'countLoans', query: { ...query, offset: 0, limit } })).to.equal(
          expected.length,
        );
      }),
      propertyRuns(60),
    );
  });

  it('compares custom fields as the criterion says: numbers, texts and days', () => {
    const scoreOf = ({ additionalFields }: Loan): unknown =>
      (additionalFields['_risk'] as { score?: unknown } | undefined)?.score;
    const ids = (test: (score: unknown) => boolean): string[] =>
      loans
        .filter((loan) => test(scoreOf(loan)))
        .map(({ id }) => id)
        .toSorted();
    const criterion = (operator: string, rest: object = {}, field = '_risk.score'): unknown => ({
      filterCriteria: [{ field, operator, ...rest }],
    });
    const isNumber = (score: unknown): boolean => score !== undefined && !Number.isNaN(Number(score));
    expect(found(criterion('MORE_THAN', { value: 7 }))).to.deep.equal(
      ids((score) => isNumber(score) && Number(score) > 7),
    );
    expect(found(criterion('EQUALS', { value: '7.50' }))).to.deep.equal(ids((score) => Number(score) === 7.5));
    expect(found(criterion('EQUALS', { value: 'HIGH' }))).to.deep.equal(ids((score) => score === 'high'));
    expect(found(criterion('IN', { values: ['high', 'low'] }))).to.deep.equal(ids((score) => score === 'high'));
    expect(found(criterion('EMPTY'))).to.deep.equal(ids((score) => score === undefined));
    expect(found(criterion('EMPTY', {}, '_other.field'))).to.have.length(loans.length);
    const late = loans.filter(
      ({ additionalFields }) =>
        String((additionalFields['_risk'] as { since?: string } | undefined)?.since) === '2026-12-01',
    );
    expect(found(criterion('AFTER', { value: '2026-11-20' }, '_risk.since'))).to.deep.equal(
      late.map(({ id }) => id).toSorted(),
    );
  });

  it('compares instants to less than a millisecond, and days of the zone', () => {
    const [first = expect.fail()] = loans;
    const { createdAt } = first;
    const at = (value: string, operator: string): string[] =>
      found({ filterCriteria: [{ field: 'creationDate', operator, value }] });
    const text = new Date(createdAt).toISOString();
    const same = loans
      .filter((loan) => loan.createdAt === createdAt)
      .map(({ id }) => id)
      .toSorted();
    expect(at(text, 'EQUALS')).to.deep.equal(same);
    expect(at(text.replace('Z', '000Z'), 'EQUALS')).to.deep.equal(same);
    expect(at(text.replace('Z', '001Z'), 'EQUALS')).to.deep.equal([]);
    expect(at(text.replace('Z', '001Z'), 'BEFORE')).to.include.members(same);
    expect(at(text, 'BEFORE')).to.not.include(same[0]);
    expect(at(text, 'AFTER_INCLUSIVE')).to.include.members(same);
    expect(at(text, 'AFTER')).to.not.include(same[0]);
    const inTokyo = loans.filter(({ createdAt }) =>
      new Date(createdAt + 9 * hour).toISOString().startsWith('2026-11-20'),
    );
    expect(found({ filterCriteria: [{ field: 'creationDate', operator: 'TODAY' }] }, 'Asia/Tokyo')).to.deep.equal(
      inTokyo.map(({ id }) => id).toSorted(),
    );
  });

  it('looks at 25,000 accounts one by one at most', () => {
    expect(examinedItemsMaximum).to.equal(25_000);
  });

  it('ends with the reason when it would look at too many accounts one by one', () => {
    const query = {
      ...queryOf({ filterCriteria: [{ field: 'totalDue', operator: 'LESS_THAN', value: 0 }] }),
      offset: 0,
      limit: 1,
    };
    expect(pageOf(query).items).to.deep.equal([]);
    const many = new Searches(database, 59);
    expect(() => many.resultOf({ name: 'loans', query })).to.throw('more than 59 items one by one. Add a criterion');
    expect(() => many.resultOf({ name: 'countLoans', query })).to.throw('more than 59 items');
    expect(many.resultOf({ name: 'countLoans', query: { ...query, conditions: [] } })).to.equal(60);
    expect(new Searches(database, 60).resultOf({ name: 'countLoans', query })).to.equal(0);
  });
});
