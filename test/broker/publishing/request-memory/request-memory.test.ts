import { expect } from 'chai';
import { describe, it } from 'mocha';
import { RequestMemory, type ShapeTable } from '../../../../src/broker/publishing/request-memory/request-memory.ts';
import { withoutEngine } from '../without-engine.ts';

/** Events that are one piece without a gap. */
function tableOf(piece: string): ShapeTable {
  return { entries: Int32Array.of(0, piece.length, 6, 0), pieces: Buffer.from(piece), fieldsOfEach: 5 };
}

describe('the memory of requests', () => {
  it('is one for the thread', () => {
    expect(RequestMemory.ofThread()).to.equal(RequestMemory.ofThread());
    expect(RequestMemory.create()).to.not.equal(RequestMemory.ofThread());
  });

  it('finds events by the table that is asked for', () => {
    const memory = RequestMemory.create();
    const [one, other] = ['{"a":true}', '{"b":null}'].map(tableOf) as [ShapeTable, ShapeTable];
    memory.load(Buffer.from('[{"a":true},{"a":true}]'));
    expect(memory.request.toString()).to.equal('[{"a":true},{"a":true}]');
    expect([one, other, one].map((table) => memory.find(table, 99))).to.deep.equal([2, 0, 2]);
    expect([...memory.fields.subarray(0, 2), ...memory.fields.subarray(5, 7)]).to.deep.equal([1, 11, 12, 22]);
    expect([...memory.unusualTimes()]).to.deep.equal([]);
    memory.load(Buffer.from('[{"b":null}]'));
    expect([one, other].map((table) => memory.find(table, 99))).to.deep.equal([0, 1]);
    expect([10, 9].map((bytes) => memory.find(other, bytes))).to.deep.equal([1, 0]);
  });

  it('finds none where the engine has no routines', () => {
    const memory = withoutEngine(() => RequestMemory.create());
    expect(memory.canFind).to.equal(false);
    memory.load(Buffer.from('[{}]'));
    expect(memory.find(tableOf('{}'), 99)).to.equal(0);
    expect(RequestMemory.create().canFind).to.equal(true);
  });
});
