import { expect } from 'chai';
import { describe, it } from 'mocha';
import { descriptionForClients } from '../../../scripts/openapi/for-clients.ts';

type JsonObject = Record<string, unknown>;

/** A document in which one operation sends and receives these schemas. */
const documentOf = (sent: JsonObject, received: JsonObject, body: JsonObject = {}): JsonObject => ({
  components: { responses: {}, schemas: { Sent: sent, Received: received } },
  paths: {
    '/things': {
      post: {
        requestBody: { content: { 'application/json': { schema: { $ref: '#/components/schemas/Sent' }, ...body } } },
        responses: {
          '200': { content: { 'application/json': { schema: { $ref: '#/components/schemas/Received' } } } },
        },
      },
    },
  },
});

/** What becomes of a schema that clients send, and of one that they receive. */
function bothOf(schema: JsonObject): { readonly sent: unknown; readonly received: unknown } {
  const { components } = descriptionForClients(documentOf(schema, schema)) as { components: { schemas: JsonObject } };
  return { sent: components.schemas['Sent'], received: components.schemas['Received'] };
}

describe('the description for clients', () => {
  const cases: readonly (readonly [title: string, schema: JsonObject, sent: JsonObject])[] = [
    ['a number that may be a text', { type: ['number', 'string'], pattern: '^[0-9]+$' }, { type: 'number' }],
    [
      'one that may be null too',
      { type: ['integer', 'string', 'null'], minimum: 0 },
      { type: ['integer', 'null'], minimum: 0 },
    ],
    ['a text that may be a number', { type: ['string', 'number'], pattern: '^a' }, { type: 'string', pattern: '^a' }],
    ['a switch that may be a text', { enum: [true, false, 'true', 'false', '', null] }, { type: 'boolean' }],
    ['a switch that can only be off', { enum: [false, 'false'] }, { type: 'boolean' }],
    ['a number that can only be zero', { enum: [0, '0', '', null] }, { type: 'integer', enum: [0] }],
    [
      'names in capitals or not',
      { type: 'string', enum: ['ADD', 'MOVE', 'add', 'move'] },
      { type: 'string', enum: ['ADD', 'MOVE'] },
    ],
    ['a default', { type: 'string', default: 'hash' }, { type: 'string', description: 'By default "hash".' }],
    [
      'a default of a described field',
      { type: 'integer', description: 'A count.', default: 4 },
      { type: 'integer', description: 'A count. By default 4.' },
    ],
    [
      'fields with the names of keywords',
      {
        type: 'object',
        properties: { default: { type: 'string' }, type: { type: 'string', enum: ['a'] }, enum: { type: 'integer' } },
      },
      {
        type: 'object',
        properties: { default: { type: 'string' }, type: { type: 'string', enum: ['a'] }, enum: { type: 'integer' } },
      },
    ],
  ];

  for (const [title, schema, sent] of cases) {
    it(`asks for one form of ${title}, and keeps what the service responds with`, () => {
      expect(bothOf(schema)).to.deep.equal({ sent, received: schema });
    });
  }

  it('gives every list items, and names every field that is required', () => {
    const lists = bothOf({ type: 'array', maxItems: 0 });
    expect(lists.sent).to.deep.equal({ type: 'array', maxItems: 0, items: {} });
    expect(lists.received).to.deep.equal(lists.sent);
    const branches = bothOf({ type: 'object', required: ['a', 'b'], properties: { a: { type: 'string' } } });
    expect(branches.sent).to.deep.include({ properties: { a: { type: 'string' }, b: {} } });
    expect(branches.received).to.deep.equal(branches.sent);
  });

  it('describes constants that are no texts, and what is a list or an object, with types that generators know', () => {
    for (const [schema, described] of [
      [{ const: false }, { type: 'boolean', 'x-exactly': { const: false } }],
      [{ const: 1 }, { type: 'integer', 'x-exactly': { const: 1 } }],
      [
        { type: 'number', const: 0 },
        { type: 'number', 'x-exactly': { const: 0 } },
      ],
      [
        { type: 'object', properties: { a: {} }, patternProperties: { '^_': {} }, additionalProperties: false },
        {
          type: 'object',
          properties: { a: {} },
          additionalProperties: true,
          'x-exactly': { patternProperties: { '^_': {} }, properties: { a: {} }, additionalProperties: false },
        },
      ],
      [{ properties: { a: { type: 'null' } } }, { properties: { a: { 'x-exactly': { type: 'null' } } } }],
      [{ anyOf: [{ type: 'null' }] }, { anyOf: [{ type: 'null' }] }],
      [{ type: ['array', 'object'] }, { 'x-exactly': { type: ['array', 'object'] } }],
      [{ const: 'a' }, { type: 'string', const: 'a' }],
      [{ enum: ['a', null] }, { type: ['string', 'null'], enum: ['a', null] }],
      [{ if: { properties: { a: { const: true } } } }, { if: { properties: { a: { const: true } } } }],
      [
        { properties: { example: { const: 1 } } },
        { properties: { example: { type: 'integer', 'x-exactly': { const: 1 } } } },
      ],
    ] as const) {
      expect(bothOf(schema).received, JSON.stringify(schema)).to.deep.equal(described);
    }
  });

  it('keeps examples that show a refusal apart from those to start from', () => {
    const [good, bad] = [
      { value: { a: 1 }, 'x-status': 201 },
      { value: { default: 'x' }, 'x-status': 422 },
    ];
    const document = documentOf({ type: 'object' }, { type: 'object' }, { examples: { good, bad } });
    const text = JSON.stringify(descriptionForClients(document));
    expect(text).to.include(`"examples":${JSON.stringify({ good })},"x-refused-examples":${JSON.stringify({ bad })}`);
  });
});
