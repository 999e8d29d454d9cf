import { expect } from 'chai';
import * as fc from 'fast-check';
import { describe, it } from 'mocha';
import { validate as isUuid } from 'uuid';
import { ChunkBuilder } from '../../../../src/broker/streaming/chunk-builder.ts';
import { wrappedEvents } from '../../../../src/http/streaming/mambu/wrapped-events.ts';
import type { RecordBatch } from '../../../../src/ports/event-log.ts';
import { anyCharacter } from '../../../support/values/any-character.ts';

const eid = 'a28c8bd4-72ba-4d3c-8ab4-7e9d1c9b6f10';
const metadata = `{"occurred_at":"2026-01-15T08:30:00.5+01:00","published_by":"x","eid":"${eid}","partition":"0"}`;

/** A batch of these values, with other bytes around each. */
function batchOf(values: readonly string[], changes: Partial<RecordBatch> = {}): RecordBatch {
  const parts = values.map((value) => Buffer.from(value));
  const starts: number[] = [];
  let length = 1;
  for (const part of parts) {
    starts.push(length);
    length += part.length + 1;
  }
  return {
    topic: 'payments',
    partition: 3,
    count: values.length,
    appendedAt: Date.UTC(2026, 0, 31, 12),
    bytes: Buffer.concat([Buffer.from('>'), ...parts.flatMap((part) => [part, Buffer.from('|')])]),
    offsets: Float64Array.from(values.keys()),
    valueStarts: Uint32Array.from(starts),
    valueEnds: Uint32Array.from(parts, (part, index) => (starts[index] ?? 0) + part.length),
    contiguous: false,
    key: () => null,
    ...changes,
  };
}

function textOf(values: readonly string[]): string {
  const chunk = new ChunkBuilder();
  const run = { batch: batchOf(values), from: 0, to: values.length, isLast: true };
  wrappedEvents('payments', 3)(chunk, run);
  return chunk.build().toString();
}

interface Wrapped {
  readonly metadata: Readonly<Record<string, string>>;
  readonly body: string;
  readonly template_name: string;
}

function wrapped(value: string): Wrapped {
  return JSON.parse(textOf([value])) as Wrapped;
}

describe('an event as clients of Mambu read it', () => {
  it('has its id and time, the constants of the API, the rest as text, and its event type', () => {
    expect(textOf([`{"metadata":${metadata},"amount":1.50,"name":"Zoë \\"x\\" \\u00e9 \u{1f600}"}`])).to.equal(
      `{"metadata":{"eid":"${eid}","occurred_at":"2026-01-15T08:30:00.5+01:00","content_type":"application/json",` +
        '"category":"DATA","event_type":"payments"},"body":"{\\"amount\\":1.50,\\"name\\":\\"Zoë \\\\\\"x\\\\\\" ' +
        '\\\\u00e9 \u{1f600}\\"}","template_name":"payments"}',
    );
  });

  it('is separated from the next one by a comma', () => {
    const events = JSON.parse(`[${textOf([`{"metadata":${metadata},"n":1}`, '{"n":2}', '{"n":3}'])}]`) as Wrapped[];
    expect(events.map(({ body }) => body)).to.deep.equal(['{"n":1}', '{"n":2}', '{"n":3}']);
  });

  it('loses its metadata wherever they are, and one comma with them', () => {
    const bodies = {
      [`{"metadata":${metadata}}`]: '{}',
      [`{"metadata":${metadata},"a":1}`]: '{"a":1}',
      [`{"a":1,"metadata":${metadata}}`]: '{"a":1}',
      [`{"a":{"metadata":1},"metadata":${metadata},"b":"}"}`]: '{"a":{"metadata":1},"b":"}"}',
      [`{"met\\u0061data":${metadata},"b":2}`]: '{"b":2}',
      [` { "a" : [1, 2] , "metadata" : ${metadata} , "b" : 2 } `]: ' { "a" : [1, 2] , "b" : 2 } ',
    };
    for (const [value, body] of Object.entries(bodies)) {
      const event = wrapped(value);
      expect(JSON.parse(event.body), value).to.deep.equal(JSON.parse(body));
      expect(event.body.replaceAll(' ', ''), value).to.equal(body.replaceAll(' ', ''));
      expect(event.metadata['eid'], value).to.equal(eid);
    }
  });

  it('gets an id made from its position, and the time when it was stored, if it has none', () => {
    const without = ['{"a":1}', '[1]', '"text"', '17', 'null', '{"metadata":5,"a":1}', '{"metadata":{"eid":7},"a":1}'];
    for (const value of without) {
      const event = wrapped(value);
      expect(isUuid(event.metadata['eid']), value).to.equal(true);
      expect(event.metadata['occurred_at'], value).to.equal('2026-01-31T12:00:00.000Z');
    }
    const events = JSON.parse(`[${textOf(['{}', '{}'])}]`) as Wrapped[];
    expect(events[0]?.metadata['eid']).to.equal(wrapped('{}').metadata['eid']);
    expect(events[0]?.metadata['eid']).not.to.equal(events[1]?.metadata['eid']);
  });

  it('keeps metadata that are no object in its body', () => {
    expect(wrapped('{"metadata":[],"a":1}').body).to.equal('{"metadata":[],"a":1}');
  });

  it('has the value of any JSON in its body, whatever it contains', () => {
    fc.assert(
      fc.property(fc.dictionary(fc.string({ unit: anyCharacter }), fc.jsonValue()), (fields) => {
        const { metadata: _replaced, ...rest } = fields;
        const value = JSON.stringify({ ...rest, metadata: JSON.parse(metadata) as unknown });
        const event = wrapped(value);
        expect(JSON.parse(event.body)).to.deep.equal(JSON.parse(JSON.stringify(rest)));
        expect(event.metadata['eid']).to.equal(eid);
      }),
    );
  });

  it('gives the memory of its batch back with the chunk, if the stream needs nothing more of it', () => {
    let released = 0;
    const batch = batchOf(['{}', '{}'], { release: () => (released += 1) });
    const chunk = new ChunkBuilder();
    const addRun = wrappedEvents('payments', 3);
    addRun(chunk, { batch, from: 0, to: 1, isLast: false });
    addRun(chunk, { batch, from: 1, to: 2, isLast: true });
    const built = chunk.build();
    expect(released).to.equal(0);
    built.release();
    expect(released).to.equal(1);
  });
});
