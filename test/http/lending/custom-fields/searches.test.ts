import { expect } from 'chai';
import { before, describe, it } from 'mocha';
import { lendingServiceForSuite } from '../lending-service.ts';

/** A criterion of a search by a custom field: its operator, its values, and the loans that it finds. */
type Row = [field: string, operator: string, values: object, found: string[]];

describe('searching by custom fields that are defined', () => {
  const running = lendingServiceForSuite();
  const search = (field: string, operator: string, values: object) =>
    running.service.post('/loans:search', {
      filterCriteria: [{ field: `_s.${field}`, operator, ...values }],
      sortingCriteria: { field: 'id', order: 'ASC' },
    });
  const done = async (answer: Promise<{ status: number; text: string }>): Promise<void> => {
    const { status, text } = await answer;
    expect(status, text).to.equal(201);
  };

  before(async () => {
    const displaySettings = { displayName: 'x' };
    await done(running.service.post('/customfieldsets', { id: '_s', availableFor: 'LOAN_ACCOUNT', displaySettings }));
    for (const [id, type] of Object.entries({ text: 'FREE_TEXT', number: 'NUMBER', day: 'DATE', time: 'DATE_TIME' })) {
      await done(running.service.post('/customfieldsets/_s/customfields', { id, type, displaySettings }));
    }
    const loans = {
      a: { text: '007', number: '9', day: '2026-01-31', time: '2026-01-31T23:30:00-02:00' },
      b: { text: '7', number: '10.50', day: '2026-02-01', time: '2026-01-31T23:30:00Z' },
      c: { text: 'x', number: '-100' },
    };
    for (const [id, _s] of Object.entries(loans)) {
      await done(running.service.post('/loans', { id, productTypeKey: 'annuity', loanAmount: 1000, _s }));
    }
  });

  const rows: Row[] = [
    ['number', 'EQUALS', { value: '10.5' }, ['b']],
    ['number', 'MORE_THAN', { value: 9 }, ['b']],
    ['number', 'LESS_THAN', { value: '9.0000001' }, ['a', 'c']],
    ['number', 'BETWEEN', { value: -100, secondValue: 9 }, ['a', 'c']],
    ['number', 'IN', { values: ['10.500', '9.0'] }, ['a', 'b']],
    ['text', 'EQUALS', { value: '7' }, ['b']],
    ['text', 'IN', { values: ['7', 'X'] }, ['b', 'c']],
    ['text', 'STARTS_WITH', { value: '0' }, ['a']],
    ['day', 'EQUALS', { value: '2026-01-31' }, ['a']],
    ['day', 'AFTER', { value: '2026-01-31' }, ['b']],
    ['day', 'EMPTY', {}, ['c']],
    ['time', 'BEFORE', { value: '2026-02-01T00:00:00Z' }, ['b']],
    ['time', 'AFTER', { value: '2026-02-01T01:00:00Z' }, ['a']],
  ];
  for (const [field, operator, values, found] of rows) {
    it(`${operator} compares the field ${field} as its type says: ${JSON.stringify(values)}`, async () => {
      const { status, body, text } = await search(field, operator, values);
      expect(status, text).to.equal(200);
      expect((body as unknown as { id: string }[]).map(({ id }) => id)).to.deep.equal(found);
    });
  }

  for (const [field, operator, values, path] of [
    ['text', 'MORE_THAN', { value: 1 }, 'operator'],
    ['number', 'STARTS_WITH', { value: '1' }, 'operator'],
    ['number', 'EQUALS', { value: 'ten' }, 'value'],
    ['day', 'EQUALS', { value: 'ten' }, 'value'],
  ] as const) {
    it(`${operator} of ${JSON.stringify(values)} is refused for the field ${field}`, async () => {
      const { status, body } = await search(field, operator, values);
      expect(status).to.equal(400);
      expect(body['errors']).to.deep.include({
        errorCode: 4,
        errorReason: 'INVALID_PARAMETERS',
        errorSource: `filterCriteria[0].${path}`,
      });
    });
  }
});
