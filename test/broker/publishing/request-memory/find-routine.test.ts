import { expect } from 'chai';
import { describe, it } from 'mocha';
import { shapeOf } from '../../../../src/broker/publishing/known-shapes/event-shape.ts';
import { matchEvents, tableOf } from '../../../../src/broker/publishing/known-shapes/shape-matching.ts';
import { RequestMemory } from '../../../../src/broker/publishing/request-memory/request-memory.ts';
import { isDateTime } from '../../../../src/clock.ts';
import { exampleId, idsAndNeighbours, isUuid, neighboursOf, timesAndNeighbours } from '../formatted-texts.ts';

describe('the routine that finds events of a shape', () => {
  const memory = RequestMemory.create();

  /** Whether an event with one value has the shape of an event with another one. */
  function recogniser(schema: object, example: string): (value: string) => boolean {
    const body = Buffer.from(`{"value":${example}}`);
    const request = { body, start: 0, end: body.length, schema: { properties: { value: schema } } };
    const shape = tableOf(shapeOf({ ...request, paths: [], marked: null })!)!;
    return (value) => {
      expect(memory.load(Buffer.from(`[{"value":${value}}]`))).to.equal(true);
      return matchEvents(memory, shape)?.count === 1;
    };
  }

  it('knows the ids that are UUIDs', () => {
    const isKnown = recogniser({ type: 'string', format: 'uuid' }, `"${exampleId}"`);
    for (const id of idsAndNeighbours()) expect(isKnown(`"${id}"`), id).to.equal(isUuid(id));
  });

  it('knows the times that exist', () => {
    const isKnown = recogniser({ type: 'string', format: 'date-time' }, '"2026-01-12T10:00:00Z"');
    for (const time of timesAndNeighbours()) {
      expect(isKnown(`"${time}"`), time).to.equal(isDateTime(time));
    }
  });

  it('knows the numbers and integers without an exponent', () => {
    const numbers = ['0', '-0', '10', '-12.50', '7.0', '-', '', '1.', '.5', '01', '-01.5', '1e3', '1.5E3', '+1', '--1'];
    const isNumber = recogniser({ type: 'number' }, '1.5');
    const isInteger = recogniser({ type: 'integer' }, '1');
    for (const text of [...numbers, ...numbers.flatMap(neighboursOf)]) {
      expect(isNumber(text), text).to.equal(/^-?(?:0|[1-9]\d*)(?:\.\d+)?$/.test(text));
      expect(isInteger(text), text).to.equal(/^-?(?:0|[1-9]\d*)$/.test(text));
    }
  });

  it('knows the texts without escapes, wherever a character is in them', () => {
    const isKnown = recogniser({ type: 'string' }, '""');
    for (const length of [0, 1, 15, 16, 17, 31, 32, 33]) {
      for (let code = 0; code < 256; code += 1) {
        const character = String.fromCharCode(code);
        const isPlain = code >= 0x20 && character !== '"' && character !== '\\';
        const text = `"${'x'.repeat(length)}${character}${'y'.repeat(33 - length)}"`;
        expect(isKnown(text), text).to.equal(isPlain);
      }
    }
  });
});
