import { expect } from 'chai';
import * as fc from 'fast-check';
import { describe, it } from 'mocha';
import { addDays } from '../../../src/lending/dates.ts';
import type { Loan } from '../../../src/lending/loan.ts';
import { readExactObject } from '../../../src/lending-format/exact-json.ts';
import {
  isLoanChange,
  isRefused,
  readLoanChange,
  requestedLoan,
} from '../../../src/lending-format/loan-changes/loan-changes.ts';
import { writeAccount, writeBalances, writeSchedule } from '../../../src/lending-format/response-bodies.ts';
import { alwaysOpen } from '../../../src/lending/schedule/calendar.ts';
import { closedBefore } from '../../lending/business-days/closed-days.ts';
import { anyProduct, anySteps, anyToggles, walk } from '../../lending/loan-arbitraries.ts';
import {
  type AskedCommand,
  type Story,
  approve,
  create,
  disburse,
  loanOf,
  money,
  under,
  when,
} from '../../lending/loan-fixtures.ts';
import { propertyRuns } from '../../support/values/property-runs.ts';

type Json = Record<string, unknown>;
type Group = Record<string, string>;

/** Where custom fields of an account are: beside its other fields, and in the details of its disbursement. */
interface Sets {
  readonly _risk?: Group;
  readonly _cars?: readonly Group[];
}

const anyGroup: fc.Arbitrary<Group> = fc.dictionary(fc.constantFrom('a', 'b', 'c'), fc.constantFrom('1', 'x', 'TRUE'), {
  minKeys: 1,
});
const anySets: fc.Arbitrary<Sets> = fc.record(
  { _risk: anyGroup, _cars: fc.array(anyGroup, { minLength: 1, maxLength: 3 }) },
  { requiredKeys: [] },
);

/** A life of some years: opened with custom fields, in any state, after any commands and ends of days. */
const anyLife: fc.Arbitrary<Story> = fc
  .record({
    product: anyProduct,
    toggles: anyToggles,
    amount: fc.integer({ min: 2000, max: 500_000 }),
    sets: anySets,
    ofDisbursement: anySets,
    notes: fc.constantFrom(null, 'Called'),
    state: fc.constantFrom('OPENED', 'APPROVED', 'ACTIVE', 'ACTIVE'),
    steps: anySteps,
    days: fc.constantFrom(0, 0, 40, 400, 3_650),
  })
  .map(({ product, toggles, amount, sets, ofDisbursement, notes, state, steps, days }) => {
    const disbursementDetails = Object.keys(ofDisbursement).length === 0 ? {} : { disbursementDetails: ofDisbursement };
    const asked = {
      ...create(product, money(amount).dividedBy(100)),
      notes,
      additionalFields: { ...sets, ...disbursementDetails },
    };
    const opened = when(under(toggles), asked as unknown as AskedCommand);
    if (state === 'OPENED') return opened;
    const approved = when(opened, approve);
    if (state === 'APPROVED') return approved;
    const lived = steps.reduce(walk, when(approved, disburse('2011-01-23')));
    return days === 0 ? lived : closedBefore(lived, addDays(loanOf(lived).position.asOf ?? '2011-01-23', days));
  });

/** The account after UPDATE_LOAN with this payload. @throws when it is refused */
function updated(story: Story, payload: object): Loan {
  const loan = loanOf(story);
  const change = readLoanChange(readExactObject(JSON.stringify(payload)), loan.id);
  const requested = isLoanChange(change) ? requestedLoan(loan, change) : change;
  if (isRefused(requested)) throw new Error(JSON.stringify(requested));
  const after = when(story, { type: 'UPDATE_LOAN', requested });
  if (after.outcome !== 'committed') throw new Error(JSON.stringify(after.refusals));
  return loanOf(after);
}

/** What GET shows of an account, without the times of its last change. */
function shown(loan: Loan, { toggles }: Story): string {
  const account = writeAccount(loan).replaceAll(/"(?:lastModifiedDate|lastAccountAppraisalDate)":"[^"]*",?/g, '');
  return [account, writeBalances(loan, toggles), JSON.stringify(writeSchedule(loan, toggles, alwaysOpen))].join('\n');
}

describe('any account in any state', () => {
  it('is taken back by PUT as GET shows it, with or without details, and does not change by a byte', () => {
    fc.assert(
      fc.property(anyLife, fc.constantFrom('BASIC', 'FULL'), (story, detailsLevel) => {
        const loan = loanOf(story);
        const account = JSON.parse(writeAccount(loan, detailsLevel)) as Json;
        expect(shown(updated(story, { account }), story)).to.equal(shown(loan, story));
      }),
      propertyRuns(100),
    );
  });

  it('shows after any PATCH of custom fields just what its operations say', () => {
    fc.assert(
      fc.property(anyLife, fc.array(anyEdit, { minLength: 1, maxLength: 6 }), (story, edits) => {
        const before = JSON.parse(writeAccount(loanOf(story))) as Json;
        let expected = withoutIndexes(before);
        const operations: object[] = [];
        for (const edit of edits) {
          const done = edited(expected, edit);
          if (done === undefined) continue;
          operations.push(done.operation);
          expected = done.document;
        }
        fc.pre(operations.length > 0);
        const after = updated(story, { operations });
        const times = { lastModifiedDate: 'any', lastAccountAppraisalDate: 'any' };
        const account = JSON.parse(writeAccount(after)) as Json;
        const found = withoutEmpty(withoutIndexes(account));
        expect({ ...found, ...times }).to.deep.equal({ ...withoutEmpty(expected), ...times });
        for (const place of [account, (account['disbursementDetails'] ?? {}) as Json]) {
          const cars = (place['_cars'] ?? []) as Json[];
          expect(cars.map(({ _index: index }) => index)).to.deep.equal(cars.map((_, index) => String(index)));
        }
      }),
      propertyRuns(100),
    );
  });
});

interface Edit {
  readonly kind: 'field' | 'set' | 'group' | 'fieldOfGroup';
  readonly op: 'ADD' | 'REPLACE' | 'REMOVE' | 'MOVE';
  readonly ofDisbursement: boolean;
  readonly name: string;
  readonly to: string;
  readonly value: string;
  readonly group: Group;
  readonly place: number;
  readonly hasSlash: boolean;
}

const anyEdit: fc.Arbitrary<Edit> = fc.record({
  kind: fc.constantFrom('field', 'set', 'group', 'fieldOfGroup'),
  op: fc.constantFrom('ADD', 'REPLACE', 'REMOVE', 'MOVE'),
  ofDisbursement: fc.boolean(),
  name: fc.constantFrom('a', 'b', 'c'),
  to: fc.constantFrom('a', 'b', 'c'),
  value: fc.constantFrom('2', 'y'),
  group: anyGroup,
  place: fc.nat(3),
  hasSlash: fc.boolean(),
});

/**
 * The operation of an edit and the document after it, made without the code under test. Undefined where the document
 * has nothing at the place of the edit.
 */
function edited(document: Json, edit: Edit): { readonly operation: object; readonly document: Json } | undefined {
  const { kind, op, ofDisbursement, name, to, value, group, place, hasSlash } = edit;
  const copy = structuredClone(document);
  const parent = ofDisbursement ? ((copy['disbursementDetails'] ??= {}) as Json) : copy;
  const prefix = `${hasSlash ? '/' : ''}${ofDisbursement ? 'disbursementDetails/' : ''}`;
  const make = (
    path: string,
    sent: unknown,
    from?: string,
  ): { readonly operation: object; readonly document: Json } => ({
    operation: {
      op: hasSlash ? op : op.toLowerCase(),
      path: `${prefix}${path}`,
      ...(op === 'ADD' || op === 'REPLACE' ? { value: sent } : {}),
      ...(op === 'MOVE' ? { from: `${prefix}${String(from)}` } : {}),
    },
    document: copy,
  });
  const fieldOf = (fields: Group | undefined, path: string) => {
    if (op === 'ADD' || op === 'REPLACE') {
      if (fields === undefined) return undefined;
      fields[name] = value;
      return make(`${path}/${name}`, value);
    }
    const present = fields?.[name];
    if (fields === undefined || present === undefined || Object.keys(fields).length === 1) return undefined;
    delete fields[name];
    if (op === 'REMOVE') return make(`${path}/${name}`, undefined);
    fields[to] = present;
    return make(`${path}/${to}`, undefined, `${path}/${name}`);
  };
  const cars = parent['_cars'] as Group[] | undefined;
  switch (kind) {
    case 'field':
      return fieldOf(parent['_risk'] as Group | undefined, '_risk');
    case 'fieldOfGroup':
      return fieldOf(cars?.[place], `_cars/${place}`);
    case 'set':
      if (op === 'MOVE') return undefined;
      if (op === 'REMOVE') {
        if (parent['_risk'] === undefined) return undefined;
        delete parent['_risk'];
        return make('_risk', undefined);
      }
      parent['_risk'] = { ...group };
      return make('_risk', group);
    case 'group':
      break;
  }
  if (op === 'MOVE' || cars === undefined) return undefined;
  if (op === 'ADD') {
    // A group is added to its set, after the others.
    cars.push({ ...group });
    return make('_cars', place < 2 ? group : [group]);
  }
  if (place >= cars.length || (op === 'REMOVE' && cars.length === 1)) return undefined;
  if (op === 'REMOVE') cars.splice(place, 1);
  else cars[place] = { ...group };
  return make(`_cars/${place}`, group);
}

/** An account without the places that its groups show. */
function withoutIndexes(account: Json): Json {
  const at = (place: Json): Json => {
    const cars = place['_cars'] as Json[] | undefined;
    return cars === undefined ? place : { ...place, _cars: cars.map(({ _index, ...fields }) => fields) };
  };
  const details = account['disbursementDetails'] as Json | undefined;
  return { ...at(account), ...(details === undefined ? {} : { disbursementDetails: at(details) }) };
}

/** An account without the details of a disbursement that has none. */
function withoutEmpty(account: Json): Json {
  const { disbursementDetails, ...others } = account;
  const isEmpty = disbursementDetails === undefined || Object.keys(disbursementDetails as Json).length === 0;
  return isEmpty ? others : account;
}
