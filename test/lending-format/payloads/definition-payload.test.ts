import { expect } from 'chai';
import { describe, it } from 'mocha';
import { readExactObject } from '../../../src/lending-format/exact-json.ts';
import {
  readBranchFields,
  readCentreFields,
  readDefinition,
  readTransactionChannelFields,
} from '../../../src/lending-format/payloads/definition-payload.ts';

type Json = Record<string, unknown>;

const branchKey = 'b'.repeat(32);

/** What a body is read as, or the fields that are refused. */
function read(kind: 'branch' | 'centre' | 'channel', body: Json, id?: string): unknown {
  const isBranchKey = (key: string): boolean => key === branchKey;
  const exact = readExactObject(JSON.stringify(body));
  const payload =
    kind === 'branch'
      ? readDefinition(exact, id, readBranchFields, isBranchKey)
      : kind === 'centre'
        ? readDefinition(exact, id, readCentreFields, isBranchKey)
        : readDefinition(exact, id, readTransactionChannelFields, isBranchKey);
  return 'refusals' in payload ? payload.refusals.map(({ errorSource }) => errorSource) : payload;
}

const unconstrained = { usage: 'UNCONSTRAINED', matchFiltersOption: 'ALL', constraints: [] };
const channel = { id: 'cash', name: 'Cash', loanConstraints: unconstrained, depositConstraints: unconstrained };

describe('a requested branch, centre or channel', () => {
  it('is active by default', () => {
    const [id, name, state] = ['main', 'Main', 'ACTIVE'];
    expect(read('branch', { id, name })).to.deep.equal({ id, fields: { name, state } });
    expect(read('centre', { id, name })).to.deep.equal({ id, fields: { name, state } });
    expect(read('channel', channel)).to.deep.equal({ id: 'cash', fields: { name: 'Cash', state } });
  });

  it('keeps what no rule reads', () => {
    const contact = { notes: 'n', addresses: [{ city: 'Berlin', latitude: 52.5 }] };
    const fields = { name: 'Main', state: 'INACTIVE', ...contact, emailAddress: 'a@b.example', phoneNumber: '1' };
    expect(read('branch', { id: 'main', ...fields, branchHolidays: [] })).to.deep.equal({ id: 'main', fields });
  });

  it('may be sent back as it was answered, with the id of its path', () => {
    const answered = { encodedKey: branchKey, creationDate: '2026-01-01T00:00:00Z', lastModifiedDate: 'x' };
    const body = { id: 'main', name: 'Main', ...answered };
    expect(read('branch', body, 'main')).to.deep.equal({ id: 'main', fields: { name: 'Main', state: 'ACTIVE' } });
    expect(read('branch', body, 'other')).to.deep.equal(['id']);
    expect(read('branch', { name: 'Main' }, 'main')).to.have.property('id', 'main');
  });

  it('of a centre may have a branch that exists', () => {
    expect(read('centre', { id: 'c', name: 'C', assignedBranchKey: branchKey })).to.deep.nested.include({
      'fields.assignedBranchKey': branchKey,
    });
  });

  const refused: ['branch' | 'centre' | 'channel', string, Json, string[]][] = [
    ['branch', 'no id', { name: 'x' }, ['id']],
    ['branch', 'an id with a slash', { id: 'a/b', name: 'x' }, ['id']],
    ['branch', 'an id in the form of a key', { id: 'A'.repeat(32), name: 'x' }, ['id']],
    ['branch', 'an id that is no text', { id: 1, name: 'x' }, ['id']],
    ['branch', 'no name', { id: 'x' }, ['name']],
    ['branch', 'another state', { id: 'x', name: 'x', state: 'OPEN' }, ['state']],
    ['branch', 'holidays', { id: 'x', name: 'x', branchHolidays: [{ date: '2026-01-01' }] }, ['branchHolidays']],
    ['branch', 'an unknown field', { id: 'x', name: 'x', motto: 'm' }, ['motto']],
    ['branch', 'a wrong address', { id: 'x', name: 'x', addresses: [{ planet: 'm' }] }, ['addresses[0].planet']],
    ['centre', 'no branch', { id: 'x', name: 'x', assignedBranchKey: 'c'.repeat(32) }, ['assignedBranchKey']],
    ['centre', 'a meeting day', { id: 'x', name: 'x', meetingDay: 'MONDAY' }, ['meetingDay']],
    ['channel', 'no constraints', { id: 'x', name: 'x' }, ['loanConstraints', 'depositConstraints']],
    ['channel', 'limits', { ...channel, loanConstraints: { usage: 'LIMITED' } }, ['loanConstraints.usage']],
    [
      'channel',
      'a constraint',
      { ...channel, loanConstraints: { constraints: [{ criteria: 'AMOUNT' }] } },
      ['loanConstraints.constraints'],
    ],
    ['channel', 'being the default', { ...channel, isDefault: true }, ['isDefault']],
    ['channel', 'rights', { ...channel, usageRights: ['x'] }, ['usageRights']],
    ['channel', 'a ledger account', { ...channel, glAccount: 'x' }, ['glAccount']],
    [
      'channel',
      'an overdraft',
      { ...channel, attributes: { overdraftAllowed: true } },
      ['attributes.overdraftAllowed'],
    ],
  ];
  for (const [kind, what, body, fields] of refused) {
    it(`is refused for a ${kind} with ${what}`, () => {
      expect(read(kind, body)).to.deep.equal(fields);
    });
  }
});
