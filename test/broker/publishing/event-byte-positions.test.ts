import { expect } from 'chai';
import { array, assert, dictionary, jsonValue, nat, option, property, string, tuple } from 'fast-check';
import { describe, it } from 'mocha';
import { fieldsPerEvent, scanEvents, spanField } from '../../../src/broker/publishing/event-byte-positions.ts';
import { plainNumberCharactersMaximum } from '../../../src/broker/schemas/written-numbers.ts';

function scan(text: string) {
  const body = Buffer.from(text);
  const { count, fields } = scanEvents(body, (JSON.parse(text) as unknown[]).length);
  return Array.from({ length: count }, (_, index) => {
    const field = (name: keyof typeof spanField): number => fields[index * fieldsPerEvent + spanField[name]] ?? -1;
    const metadataStart = field('metadataStart');
    return {
      event: body.toString('utf8', field('start'), field('end')),
      metadata: metadataStart === -1 ? null : body.toString('utf8', metadataStart, field('metadataEnd')),
      keys: field('keys'),
      metadataKeys: field('metadataKeys'),
      whitespace: field('whitespace'),
      depth: field('depth'),
    };
  });
}

function hexadecimalEscape(unit: string): string {
  return `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`;
}

describe('scanEvents', () => {
  it('finds each event and its metadata', () => {
    expect(scan('[{"a":1},\n {"b":[{"metadata":{}}],"metadata":{"eid":"}","x":{"y":1}},"c":"\\"]"}]')).to.deep.equal([
      { event: '{"a":1}', metadata: null, keys: 1, metadataKeys: 0, whitespace: 0, depth: 1 },
      {
        event: '{"b":[{"metadata":{}}],"metadata":{"eid":"}","x":{"y":1}},"c":"\\"]"}',
        metadata: '{"eid":"}","x":{"y":1}}',
        keys: 3,
        metadataKeys: 2,
        whitespace: 0,
        depth: 4,
      },
    ]);
  });

  it('reads a key that is spelled with escapes', () => {
    expect(scan('[{"met\\u0061data":{"eid":"1"}}]')[0]?.metadata).to.equal('{"eid":"1"}');
  });

  it('finds the end of a string that ends with escaped quotes or backslashes, and of one with multi-byte characters', () => {
    for (const written of ['"\\""', '"\\\\"', '"\\\\\\""', '"\\u0022"', '"\\u005c"', '"\u{1f600}\\""', '"[{\\"}]"']) {
      const text = `{"a":${written},"metadata":{"b":${written}}}`;
      expect(scan(`[${text},${text}]`), written).to.deep.equal(
        [0, 1].map(() => ({
          event: text,
          metadata: `{"b":${written}}`,
          keys: 2,
          metadataKeys: 1,
          whitespace: 0,
          depth: 2,
        })),
      );
    }
  });

  it('recognises the key metadata in its longest spelling, and no other key of that length', () => {
    const escaped = (key: string): string => key.replaceAll(/./g, hexadecimalEscape);
    expect(scan(`[{"${escaped('metadata')}":{"eid":"1"}}]`)[0]?.metadata).to.equal('{"eid":"1"}');
    for (const key of [escaped('metadatb'), 'metadatb', 'metadat', 'metadata1', 'metadata\\u0000', 'Metadata']) {
      expect(scan(`[{"${key}":{"eid":"1"}}]`)[0]?.metadata, key).to.equal(null);
    }
  });

  it('does not confuse a value, a nested key or an array with the metadata', () => {
    for (const text of [
      '[{"a":"metadata","b":{}}]',
      '[{"metadata":[{"x":1}],"b":{"y":1}}]',
      '[{"metadata":1,"b":{}}]',
    ]) {
      expect(scan(text)[0]?.metadata, text).to.equal(null);
    }
  });

  it('counts every occurrence of a key, and the white space between tokens only', () => {
    const [event] = scan('[{"a": 1, "a":" 2 ","metadata":{"e":1,"e":{"f":1,"g":2}, "h":["i","j"]}}]');
    expect(event).to.include({ keys: 3, metadataKeys: 3, whitespace: 3 });
  });

  it('counts the numbers that a double may not hold, each once', () => {
    const countIn = (value: string): number => {
      const body = Buffer.from(`[{},{"text":"${'x'.repeat(99)}","value":${value}}]`);
      return scanEvents(body, 2).fields[fieldsPerEvent + spanField.longNumbers] ?? -1;
    };
    const digits = '1'.repeat(plainNumberCharactersMaximum);
    for (const [value, count] of [
      [digits, 0],
      [`${digits}1`, 1],
      [`-${digits.slice(2)}.1`, 1],
      [`1${'0'.repeat(plainNumberCharactersMaximum)}`, 1],
      [`1${'9'.repeat(plainNumberCharactersMaximum)}`, 1],
      [`[${digits},${digits}]`, 0],
      [`"${digits}11"`, 0],
      ['1e5', 1],
      ['[1E+5,-2.5e-7]', 2],
      [`1e+${digits}11`, 1],
      [`1e-${digits}11`, 1],
      [`1e${digits}11`, 1],
    ] as const) {
      expect(countIn(value), value).to.equal(count);
    }
  });

  it('counts every key, at any depth', () => {
    const { fields } = scanEvents(Buffer.from('[{"a":{"b":[{"c":":"}]},"d":1},{"e":1}]'), 2);
    expect([fields[spanField.allKeys], fields[fieldsPerEvent + spanField.allKeys]]).to.deep.equal([4, 1]);
  });

  it('agrees with the JSON parser on any events', () => {
    const event = dictionary(string({ unit: 'grapheme' }), jsonValue(), { maxKeys: 5 });
    const withMetadata = tuple(event, option(event)).map(([own, metadata]) =>
      metadata === null ? own : { ...own, metadata },
    );
    assert(
      property(array(withMetadata, { maxLength: 5 }), nat(2), (events, indent) => {
        const found = scan(JSON.stringify(events, null, indent));
        expect(found.map((span) => JSON.parse(span.event) as unknown)).to.deep.equal(
          JSON.parse(JSON.stringify(events)),
        );
        for (const [index, span] of found.entries()) {
          const sent = JSON.parse(JSON.stringify(events[index])) as Record<string, unknown>;
          expect(span.keys).to.equal(Object.keys(sent).length);
          const metadata = sent['metadata'];
          const isObject = typeof metadata === 'object' && metadata !== null && !Array.isArray(metadata);
          expect(span.metadata === null ? undefined : JSON.parse(span.metadata)).to.deep.equal(
            isObject ? metadata : undefined,
          );
          if (isObject) expect(span.metadataKeys).to.equal(Object.keys(metadata).length);
        }
      }),
    );
  });
});
