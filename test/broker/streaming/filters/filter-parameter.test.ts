import { expect } from 'chai';
import { describe, it } from 'mocha';
import {
  filterLengthMaximum,
  filtersMaximum,
  readFilter,
} from '../../../../src/broker/streaming/filters/filter-parameter.ts';
import { LendstreamError } from '../../../../src/errors.ts';

function refusal(parameter: unknown): string {
  try {
    readFilter(parameter);
  } catch (error) {
    if (error instanceof LendstreamError) return `${error.code} ${error.message}`;
    throw error;
  }
  return 'accepted';
}

function pointers(parameter: unknown): unknown {
  return readFilter(parameter)?.conditions.map(({ pointer, text, kind }) => [
    pointer.map(({ name }) => name.text),
    kind,
    text.text,
  ]);
}

describe('the parameter filter', () => {
  it('is one text or several, of a pointer and a value', () => {
    expect(pointers('/metadata/event_type=loan.opened')).to.deep.equal([
      [['metadata', 'event_type'], 'text', 'loan.opened'],
    ]);
    expect(pointers(['/a=1', '/b=true', '/c="1"', '/d='])).to.deep.equal([
      [['a'], 'number', '1'],
      [['b'], 'word', 'true'],
      [['c'], 'text', '1'],
      [['d'], 'text', ''],
    ]);
  });

  it('is none when it is left out or empty', () => {
    for (const none of [undefined, null, '', []]) expect(readFilter(none)).to.equal(undefined);
  });

  it('has the escapes of JSON Pointer, and ~2 for an equals sign in a name', () => {
    expect(pointers('/a~1b/c~0d/e~2f/~01/=g=h')).to.deep.equal([[['a/b', 'c~d', 'e=f', '~1', ''], 'text', 'g=h']]);
    expect(pointers('/=x')).to.deep.equal([[[''], 'text', 'x']]);
  });

  it('takes a value in quotes as a JSON string', () => {
    expect(pointers('/a="\\u0031\\n"')).to.deep.equal([[['a'], 'text', '1\n']]);
    for (const wrong of ['/a="', '/a="b', '/a="b"c', '/a="\\x"', '/a="\\ud800"']) {
      expect(refusal(wrong)).to.equal(
        `MALFORMED_REQUEST Filter 1, '${wrong}', is wrong at character 4: a value that begins with " is a JSON string`,
      );
    }
  });

  it('names the place of what is wrong', () => {
    expect(refusal(['/a=b', 'a=b'])).to.equal(
      "MALFORMED_REQUEST Filter 2, 'a=b', is wrong at character 1: a JSON Pointer begins with /",
    );
    expect(refusal('/a')).to.equal(
      "MALFORMED_REQUEST Filter 1, '/a', is wrong at character 3: an = and a value must follow",
    );
    for (const wrong of ['/a~=b', '/a~3=b', '/a~/b=c']) {
      expect(refusal(wrong)).to.equal(
        `MALFORMED_REQUEST Filter 1, '${wrong}', is wrong at character 3: ` +
          '~ must be followed by 0 (for ~), 1 (for /) or 2 (for =)',
      );
    }
    expect(refusal('/a=b\ud800')).to.include('is wrong at character 5: it is half of a character');
    expect(refusal(['/a=b', ''])).to.include("Filter 2, '', is wrong at character 1");
    expect(refusal(5)).to.include('MALFORMED_REQUEST').and.to.include('but filter 1 was 5');
    expect(refusal(['/a=b', { a: 1 }])).to.include('but filter 2 was {"a":1}');
  });

  it('may be given as often as the limit says, and not once more', () => {
    const many = (count: number): string[] => Array.from({ length: count }, (_, index) => `/a${index}=b`);
    expect(refusal(many(filtersMaximum))).to.equal('accepted');
    expect(refusal(many(filtersMaximum + 1))).to.equal(
      'UNPROCESSABLE A stream has at most 10 filters, but 11 were given',
    );
  });

  it('may be as long as the limit says, and not longer', () => {
    const long = (length: number): string => `/a=${'x'.repeat(length - 3)}`;
    expect(refusal(long(filterLengthMaximum))).to.equal('accepted');
    expect(refusal(long(filterLengthMaximum - 1) + '😀'), 'two units are one character').to.equal('accepted');
    expect(refusal(['/a=b', long(filterLengthMaximum + 1)])).to.equal(
      'UNPROCESSABLE Filter 2 has 1025 characters, and may have 1024',
    );
  });
});
