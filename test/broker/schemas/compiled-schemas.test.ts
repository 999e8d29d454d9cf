import { expect } from 'chai';
import { describe, it } from 'mocha';
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { violationsOf } from '../../../src/broker/publishing/event-validation.ts';
import { prepareEventType } from '../../../src/broker/publishing/prepared-event-type.ts';
import { parseEvents } from '../../../src/broker/publishing/request-parsing.ts';
import { eventRules, cachedRulesMaximum } from '../../../src/broker/schemas/compiled-schemas.ts';
import { checkDefinition } from '../../../src/broker/publishing/dry-run.ts';
import { changedRecord, createdRecord, recordWithSchema } from '../../../src/broker/event-types/event-type-records.ts';
import { readEventType } from '../../../src/broker/event-types/requested-event-type.ts';
import { undescribed } from '../../../src/broker/schemas/schema-validator.ts';
import { schemaPartsMaximum, schemaPointerCharactersMaximum } from '../../../src/broker/schemas/schema-cost.ts';
import { inTurns } from '../../../src/broker/publishing/long-work-in-turns.ts';
import { ValidationBudget, validationStepsPerByte } from '../../../src/broker/schemas/validation-budget.ts';
import { eventTypeBody, exampleMetadata } from '../../support/broker-on-embedded-log.ts';

const type = { name: 'a', category: 'business', compatibility_mode: 'none', cleanup_policy: 'delete' } as const;

/** This many parts: two for the schema and its properties, two for each field, and one more. */
function schemaOf(parts: number, title = 'a'): string {
  const properties: Record<string, unknown> = {};
  for (let index = 0; index < Math.floor((parts - 2) / 2); index += 1) properties[`f${index}`] = { type: 'string' };
  if (parts % 2 === 1) properties['last'] = true;
  return JSON.stringify({ title, properties });
}

function definitionOf(schema: string, name = 'counted') {
  return readEventType(eventTypeBody(name, { schema: { type: 'json_schema', schema } }));
}

/** How many functions a step has compiled from code. Compiling a schema without references needs one. */
function compilationsOf(step: () => void): number {
  const original = globalThis.Function;
  let count = 0;
  globalThis.Function = new Proxy(original, {
    construct: (target, parts: string[]) => {
      count += 1;
      return Reflect.construct(target, parts);
    },
  });
  try {
    step();
  } finally {
    globalThis.Function = original;
  }
  return count;
}

describe('eventRules', () => {
  it('accepts a schema with the maximum number of parts and refuses one part more', () => {
    const event = { metadata: exampleMetadata(), f0: 'x' };
    expect(eventRules(schemaOf(schemaPartsMaximum), type).validate(event)).to.deep.equal([]);
    expect(eventRules(schemaOf(schemaPartsMaximum - 1), type).findAll()({ ...event, f1: 1 })).to.have.length(1);
    expect(() => eventRules(schemaOf(schemaPartsMaximum + 1), type)).to.throw(
      `it has ${schemaPartsMaximum + 1} parts, more than ${schemaPartsMaximum}`,
    );
  });

  it('checks that a schema is one, unless it is of the service', () => {
    expect(() => eventRules('{"title":7}', type)).to.throw('Invalid schema: #/title: must be string');
    expect(eventRules('{"title":7}', type, true).findAll()({ metadata: exampleMetadata() })).to.deep.equal([]);
  });

  it('finds all violations, or the first, and none in a valid event', () => {
    const rules = eventRules('{"required":["a","b"]}', type);
    expect(rules.findAll()({ metadata: exampleMetadata() })).to.have.length(2);
    expect(rules.findFirst()({ metadata: exampleMetadata() })).to.have.length(1);
    expect(rules.validate({ metadata: exampleMetadata() })).to.equal(undescribed);
    expect(rules.validate({ metadata: exampleMetadata(), a: 1, b: 2 })).to.deep.equal([]);
  });

  it('compiles the longest name that a schema may have, beside rules for all other names', () => {
    // In code it is an identifier, which must be scanned once.
    const name = 'a'.repeat(schemaPointerCharactersMaximum / 2 - 100);
    const rules = eventRules(
      JSON.stringify({ properties: { [name]: { type: 'integer' } }, additionalProperties: { type: 'string' } }),
      { ...type, category: 'undefined' },
    );
    expect(rules.findAll()({ [name]: 'x', b: 1, c: 'x' })).to.have.length(2);
  });

  it('distinguishes types by name, category and mode', () => {
    const schema = '{"title":"apart","properties":{"a":{}}}';
    const of = (changes: object) => eventRules(schema, { ...type, ...changes });
    expect(of({})).to.equal(of({}));
    expect(of({})).not.to.equal(of({ name: 'b' }));
    const event = { metadata: exampleMetadata(), c: 1 };
    expect(of({}).validate(event)).to.deep.equal([]);
    expect(of({ compatibility_mode: 'compatible' }).validate(event)).to.have.length(1);
    expect(of({ category: 'undefined' }).validate({})).to.deep.equal([]);
  });

  it('compiles a definition once, although it is checked, created, published to, and changed in all but its schema', () => {
    eventRules('{}', type);
    const definition = definitionOf(schemaOf(schemaPartsMaximum, 'once'));
    const body = Buffer.from(JSON.stringify([{ metadata: exampleMetadata(), f0: 'x' }]));
    const counts = [
      () => void checkDefinition(undefined, () => definition, 'now'),
      () => void createdRecord(definition, 'now'),
      () => void prepareEventType(createdRecord(definition, 'now')),
      () => {
        const rules = prepareEventType(changedRecord(createdRecord(definition, 'now'), definition, 'later'));
        expect(inTurns(violationsOf(rules, parseEvents(body), 0, new ValidationBudget(0)))).to.deep.equal([]);
      },
      () => void recordWithSchema(createdRecord(definition, 'now'), schemaOf(schemaPartsMaximum, 'next'), 'later'),
      () => void prepareEventType(createdRecord(definitionOf(schemaOf(schemaPartsMaximum, 'next')), 'now')),
    ].map(compilationsOf);
    expect(counts).to.deep.equal([1, 0, 0, 0, 1, 0]);
  });

  it('compiles the descriptions of violations with the first of them', () => {
    const rules = eventRules(schemaOf(20, 'described'), type);
    const uses = [
      () => void rules.validate({ metadata: exampleMetadata(), f0: 1 }),
      () => void rules.findAll()({ metadata: exampleMetadata(), f0: 1 }),
      () => void rules.findAll()({}),
      () => void rules.findFirst()({}),
    ];
    expect(uses.map(compilationsOf)).to.deep.equal([0, 1, 0, 1]);
  });

  it('gives way before the descriptions of violations are compiled, and before they are run', () => {
    const definition = definitionOf(schemaOf(schemaPartsMaximum - 5, 'in turns'));
    const prepared = prepareEventType(createdRecord(definition, 'now'));
    const body = Buffer.from(JSON.stringify([{ metadata: exampleMetadata(), f0: 1 }]));
    const work = violationsOf(prepared, parseEvents(body), 0, new ValidationBudget(0));
    const found: unknown[] = [];
    const turn = () => {
      const { done, value } = work.next();
      if (done === true) found.push(...value);
    };
    expect([turn, turn, turn].map(compilationsOf)).to.deep.equal([0, 1, 0]);
    expect(found).to.deep.equal([{ pointer: '#/f0', message: 'expected type: String, found: Integer' }]);
  });

  it('keeps a limited number of definitions and drops the least recently used one', () => {
    const ask = (title: string) => compilationsOf(() => void eventRules(JSON.stringify({ title }), type));
    ask('kept');
    for (let index = 1; index < cachedRulesMaximum; index += 1) ask(`other ${index}`);
    expect(ask('kept')).to.equal(0);
    for (let index = 1; index < cachedRulesMaximum; index += 1) ask(`more ${index}`);
    expect(ask('kept')).to.equal(0);
    for (let index = 1; index <= cachedRulesMaximum; index += 1) ask(`yet more ${index}`);
    expect(ask('kept')).to.equal(1);
  });

  const optional: readonly (readonly [what: string, field: Record<string, unknown>, count: number])[] = [
    ['texts', { type: 'string', maxLength: 70 }, 300],
    ['formatted texts', { type: 'string', format: 'date-time', minLength: 1, pattern: '^2' }, 79],
    ['whole numbers', { type: 'integer', minimum: 0 }, 299],
    ['amounts', { type: 'number', minimum: 0, maximum: 5, multipleOf: 0.01 }, 230],
    ['objects', { type: 'object', required: ['a'], properties: { a: { type: 'string' } } }, 170],
    ['lists', { type: 'array', items: { type: 'string' } }, 290],
    ['alternatives', { anyOf: [{ type: 'string' }, { type: 'null' }] }, 190],
  ];
  for (const [what, field, count] of optional) {
    it(`lets any number of events leave out ${count} ${what}: each costs less than the budget of its bytes`, () => {
      const properties = Object.fromEntries(Array.from({ length: count }, (_, index) => [`f${index}`, field]));
      const event = { metadata: exampleMetadata() };
      const budget = new ValidationBudget(0);
      expect(eventRules(JSON.stringify({ properties }), type).validate(event, budget)).to.deep.equal([]);
      const bytes = JSON.stringify(event).length;
      expect(budget.stepsMaximum - budget.steps).to.be.lessThan(bytes * validationStepsPerByte);
    });
  }

  it('compiles the largest schema first in a process, without a budget', async () => {
    // Long names are the reason for patterns in the dialect.
    const anchor = 'a'.repeat(200_000);
    const schema = JSON.stringify({ ...(JSON.parse(schemaOf(schemaPartsMaximum - 1)) as object), $anchor: anchor });
    const code = [
      `import { eventRules } from ${JSON.stringify(new URL('../../../src/broker/schemas/compiled-schemas.js', import.meta.url).href)};`,
      'let text = "";',
      'for await (const chunk of process.stdin) text += chunk;',
      `const found = eventRules(text, ${JSON.stringify(type)}).validate(${JSON.stringify({ metadata: exampleMetadata() })});`,
      'console.log(JSON.stringify(found));',
    ].join('\n');
    const run = promisify(execFile)(process.execPath, ['--input-type=module', '--eval', code]);
    run.child.stdin?.end(schema);
    expect(JSON.parse((await run).stdout)).to.deep.equal([]);
  });
});
