import { expect } from 'chai';
import * as fc from 'fast-check';
import { describe, it } from 'mocha';
import { WireReader, WireWriter } from '../../../src/kafka/protocol/wire.ts';

describe('the primitive types of the protocol', () => {
  it('are written big endian, with lengths before strings, bytes and arrays', () => {
    const writer = new WireWriter(1);
    writer
      .int8(-1)
      .boolean(true)
      .int16(258)
      .int32(-2)
      .string('aé')
      .string(null)
      .bytes(Buffer.from([7]))
      .bytes(null);
    writer.array([1, 2], (item) => writer.int8(item)).array(null, () => undefined);
    expect(writer.toBuffer().toString('hex')).to.equal(
      ['ff', '01', '0102', 'fffffffe', '0003', '61c3a9', 'ffff', '00000001', '07', 'ffffffff'].join('') +
        ['00000002', '01', '02', 'ffffffff'].join(''),
    );
  });

  const longs: [number, string][] = [
    [0, '0000000000000000'],
    [-1, 'ffffffffffffffff'],
    [-2, 'fffffffffffffffe'],
    [4_294_967_296, '0000000100000000'],
    [Number.MAX_SAFE_INTEGER, '001fffffffffffff'],
  ];
  for (const [value, hex] of longs) {
    it(`have ${value} as ${hex}`, () => {
      expect(new WireWriter().int64(value).toBuffer().toString('hex')).to.equal(hex);
      expect(new WireReader(Buffer.from(hex, 'hex')).int64()).to.equal(value);
    });
  }

  it('are read as they were written', () => {
    const long = fc.maxSafeInteger();
    const text = fc.option(fc.string({ unit: 'grapheme' }));
    fc.assert(
      fc.property(fc.array(long), text, fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n }), (numbers, name, id) => {
        const writer = new WireWriter(2);
        writer.array(numbers, (number) => writer.int64(number)).string(name);
        const reader = new WireReader(writer.bigInt64(id).boolean(false).toBuffer());
        expect(reader.array(() => reader.int64())).to.deep.equal(numbers);
        expect(reader.nullableString()).to.equal(name);
        expect(reader.bigInt64()).to.equal(id);
        expect(reader.boolean()).to.equal(false);
        expect(reader.position).to.equal(reader.source.length);
      }),
    );
  });

  it('of flexible requests have their length plus one before strings and arrays', () => {
    const writer = new WireWriter(1).compactString('aé').compactString('').noTags();
    writer.compactArray([1, 2], (item) => writer.int8(item)).compactString('a'.repeat(200));
    expect(writer.toBuffer().toString('hex')).to.equal(
      ['04', '61c3a9', '01', '00', '03', '01', '02', 'c901', '61'.repeat(200)].join(''),
    );
    const reader = new WireReader(writer.toBuffer());
    expect([reader.compactString(), reader.compactNullableString()]).to.deep.equal(['aé', '']);
    reader.skipTags();
    expect(reader.compactArray(() => reader.int8())).to.deep.equal([1, 2]);
    expect(reader.compactString()).to.have.length(200);
    expect(new WireReader(Buffer.from([0])).compactNullableString()).to.equal(null);
  });

  it('of flexible responses skip unknown fields', () => {
    const reader = new WireReader(Buffer.from('02 05 02 aabb 81 01 00 2a'.replaceAll(' ', ''), 'hex'));
    reader.skipTags();
    expect(reader.int8()).to.equal(42);
    for (const spoilt of ['0105', '01050aaa', '8080808080', '05aa']) {
      const cutOff = new WireReader(Buffer.from(spoilt, 'hex'));
      expect(() => (spoilt === '05aa' ? cutOff.compactString() : cutOff.skipTags()), spoilt).to.throw(RangeError);
    }
  });

  it('of flexible requests write lengths with seven bits a byte, in five bytes at the most', () => {
    for (const [characters, prefix] of [
      [126, '7f'],
      [127, '8001'],
      [16_382, 'ff7f'],
      [16_383, '808001'],
    ] as const) {
      const text = 'a'.repeat(characters);
      const written = new WireWriter().compactString(text).toBuffer();
      expect(written.subarray(0, -characters).toString('hex')).to.equal(prefix);
      expect(new WireReader(written).compactString()).to.equal(text);
    }
    const lengthOf = (hex: string): number => new WireReader(Buffer.from(hex, 'hex')).compactArray(() => 0).length;
    expect(lengthOf('8280808000')).to.equal(1);
    expect(() => lengthOf('828080808000')).to.throw(RangeError, /more than 32 bits/);
  });

  it('need no more memory than was expected, and get it when it was too little', () => {
    const fields: [bytes: number, write: (writer: WireWriter) => WireWriter][] = [
      [1, (writer) => writer.int8(1)],
      [2, (writer) => writer.int16(1)],
      [4, (writer) => writer.int32(1)],
      [8, (writer) => writer.int64(1)],
      [8, (writer) => writer.bigInt64(1n)],
      [2 + 3, (writer) => writer.string('abc')],
      [4 + 3, (writer) => writer.bytes(Buffer.from('abc'))],
    ];
    // A length may take five bytes, whatever it takes.
    const five = new WireWriter(5);
    const before = five.toBuffer();
    expect(five.compactString('').toBuffer()).to.include({ buffer: before.buffer, byteOffset: before.byteOffset });
    for (const [bytes, write] of fields) {
      for (const expected of [1, bytes - 1, bytes]) {
        const written = write(new WireWriter(expected)).toBuffer();
        expect(written).to.have.length(bytes);
        expect(written).to.deep.equal(write(new WireWriter(100)).toBuffer());
      }
      const enough = new WireWriter(bytes);
      const memory = enough.toBuffer();
      expect(write(enough).toBuffer()).to.include({ buffer: memory.buffer, byteOffset: memory.byteOffset });
    }
  });

  it('are refused when they are cut off anywhere', () => {
    const whole = new WireWriter().int16(1).string('text').int32(5).int64(7).toBuffer();
    const readAll = (bytes: Buffer): void => {
      const reader = new WireReader(bytes);
      reader.int16();
      reader.string();
      reader.int32();
      reader.int64();
    };
    readAll(whole);
    for (let length = 0; length < whole.length; length += 1) {
      expect(() => readAll(whole.subarray(0, length)), `${length} bytes`).to.throw(RangeError);
    }
    const text = new WireWriter().string('text').toBuffer();
    for (let length = 0; length < text.length; length += 1) {
      const reader = new WireReader(text.subarray(0, length));
      expect(() => reader.string(), `${length} bytes of a text`).to.throw(RangeError);
    }
    const compact = new WireWriter().compactString('text').toBuffer();
    for (let length = 0; length < compact.length; length += 1) {
      const reader = new WireReader(compact.subarray(0, length));
      expect(() => reader.compactString(), `${length} bytes of a compact text`).to.throw(RangeError);
    }
  });
});
