import { expect } from 'chai';
import { describe, it } from 'mocha';
import { effectiveSchema, type ValidatedType } from '../../../src/broker/schemas/effective-schema.ts';
import { readAdminSchema } from '../../../src/broker/schemas/admin-schema.ts';
import { compileValidator } from '../../../src/broker/schemas/schema-validator.ts';

const business: ValidatedType = {
  name: 'orders.created',
  category: 'business',
  compatibility_mode: 'forward',
  cleanup_policy: 'delete',
};
const metadata = { eid: '4AE5011E-eb01-11e5-8b4a-1c6f65464fc6', occurred_at: '2026-03-15T23:47:15Z' };

function findings(schema: Record<string, unknown>, type: ValidatedType, event: unknown): string[] {
  const text = JSON.stringify(schema);
  const validate = compileValidator(effectiveSchema(readAdminSchema(text, type), type));
  return validate(event).map(({ pointer, message }) => `${pointer}: ${message}`);
}

describe('effectiveSchema', () => {
  it('validates undefined events against the schema only', () => {
    const type: ValidatedType = { ...business, category: 'undefined' };
    expect(findings({ required: ['a'] }, type, { a: 1, metadata: 'mine' })).to.deep.equal([]);
  });

  it('requires metadata in business events, even if the schema is closed', () => {
    const closed = { type: 'object', properties: { a: {} }, additionalProperties: false };
    expect(findings(closed, business, { a: 1, metadata })).to.deep.equal([]);
    expect(findings(closed, business, { a: 1 })).to.deep.equal(['#: required key [metadata] not found']);
  });

  it('puts the schema of data events, references included, under data', () => {
    const type: ValidatedType = { ...business, category: 'data' };
    const schema = {
      $id: 'https://example.org/x',
      definitions: { a: { type: 'string' } },
      properties: { a: { $ref: '#/definitions/a' }, child: { $ref: '#' } },
    };
    const event = { metadata, data_type: 'x', data_op: 'C', data: { a: 'x', child: { a: 'y' } } };
    expect(findings(schema, type, event)).to.deep.equal([]);
    expect(findings(schema, type, { ...event, data: { child: { a: 1 } } })).to.deep.equal([
      '#/data/child/a: expected type: String, found: Integer',
    ]);
    expect(findings(schema, type, { ...event, data_op: 'X', other: 1 })).to.have.length(2);
    expect(findings(schema, type, { metadata })).to.have.length(3);
  });

  const metadataCases: [name: string, metadata: unknown, finding: string | null][] = [
    ['no object', 1, '#/metadata: expected type: Object, found: Integer'],
    ['no eid', { occurred_at: metadata.occurred_at }, '#/metadata: required key [eid] not found'],
    ['an invalid eid', { ...metadata, eid: 'x' }, '#/metadata/eid: [x] is not a valid uuid'],
    [
      'a time without a zone',
      { ...metadata, occurred_at: '2026-03-15T23:47:15' },
      '#/metadata/occurred_at: [2026-03-15T23:47:15] is not a valid date-time',
    ],
    [
      'another event type',
      { ...metadata, event_type: 'other' },
      '#/metadata/event_type: other is not a valid enum value',
    ],
    [
      'fields that only the broker sets',
      { ...metadata, version: '1' },
      '#/metadata: extraneous key [version] is not permitted',
    ],
    [
      'all allowed fields',
      {
        ...metadata,
        event_type: 'orders.created',
        partition: '1',
        parent_eids: [metadata.eid],
        flow_id: '',
        span_ctx: { a: 'b' },
      },
      null,
    ],
  ];
  for (const [name, sent, finding] of metadataCases) {
    it(`judges metadata with ${name}`, () => {
      expect(findings({}, business, { metadata: sent })).to.deep.equal(finding === null ? [] : [finding]);
    });
  }

  it('requires a compaction key where the log is compacted', () => {
    const type: ValidatedType = { ...business, cleanup_policy: 'compact' };
    expect(findings({}, type, { metadata })).to.deep.equal([
      '#/metadata: required key [partition_compaction_key] not found',
    ]);
    expect(findings({}, type, { metadata: { ...metadata, partition_compaction_key: 'k' } })).to.deep.equal([]);
  });

  it('closes objects in mode compatible, in all parts of a composition', () => {
    const type: ValidatedType = { ...business, compatibility_mode: 'compatible' };
    const schema = {
      $schema: 'http://json-schema.org/draft-07/schema#',
      definitions: { base: { type: 'object', properties: { a: {} } } },
      properties: {
        plain: { type: 'object', properties: { a: {} } },
        open: { type: 'object', additionalProperties: true },
        composed: { allOf: [{ $ref: '#/definitions/base' }, { properties: { b: {} } }] },
      },
    };
    const event = { metadata, plain: { a: 1 }, open: { x: 1 }, composed: { a: 1, b: 2 } };
    expect(findings(schema, type, event)).to.deep.equal([]);
    expect(findings(schema, type, { ...event, plain: { z: 1 } })).to.deep.equal([
      '#/plain: extraneous key [z] is not permitted',
    ]);
    expect(findings(schema, type, { ...event, composed: { z: 1 } })).to.deep.equal([
      '#/composed: extraneous key [z] is not permitted',
    ]);
    expect(findings(schema, type, { ...event, z: 1 })).to.deep.equal(['#: extraneous key [z] is not permitted']);
    expect(findings(schema, business, { ...event, z: 1 })).to.deep.equal([]);
  });
});
