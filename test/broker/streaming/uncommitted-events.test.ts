import { expect } from 'chai';
import * as fastCheck from 'fast-check';
import { describe, it } from 'mocha';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { recordBatch } from '../../support/kafka/record-batch.ts';
import { UncommittedEvents } from '../../../src/broker/streaming/uncommitted-events.ts';

setFlagsFromString('--expose-gc');
const collectGarbage = runInNewContext('gc') as () => void;

function bytesInUse(): number {
  collectGarbage();
  return process.memoryUsage().heapUsed;
}

describe('uncommitted events', () => {
  it('are counted one by one, whatever gaps their offsets have', () => {
    const uncommitted = new UncommittedEvents();
    uncommitted.add(0, 4);
    uncommitted.add(9, 9);
    expect(uncommitted.count).to.equal(6);
    uncommitted.commitThrough(2);
    expect(uncommitted.count).to.equal(3);
    uncommitted.commitThrough(8);
    expect(uncommitted.count).to.equal(1);
    uncommitted.commitThrough(100);
    expect(uncommitted.count).to.equal(0);
  });

  it('have a first one, and places that count no gaps', () => {
    const uncommitted = new UncommittedEvents();
    expect(uncommitted.first).to.equal(undefined);
    uncommitted.add(5, 6);
    uncommitted.add(9, 9);
    uncommitted.add(12, 14);
    expect(uncommitted.first).to.equal(5);
    expect([1, 2, 3, 4, 6, 7, 100].map((place) => uncommitted.offsetAt(place))).to.deep.equal([
      5, 6, 9, 12, 14, 14, 14,
    ]);
    uncommitted.commitThrough(5);
    expect([uncommitted.first, uncommitted.offsetAt(1), uncommitted.offsetAt(3)]).to.deep.equal([6, 6, 12]);
    uncommitted.commitThrough(14);
    expect(uncommitted.first).to.equal(undefined);
  });

  it('are counted by the records of a run, wherever in its batch the run begins', () => {
    const batch = recordBatch([0, 1, 4, 5, 6].map((offset) => ({ offset, value: 'x' })));
    const uncommitted = new UncommittedEvents();
    uncommitted.addRun({ batch, from: 1, to: 3, isLast: false });
    expect(uncommitted.count).to.equal(2);
    uncommitted.addRun({ batch, from: 3, to: 5, isLast: true });
    expect(uncommitted.count).to.equal(4);
    uncommitted.commitThrough(3);
    expect(uncommitted.count).to.equal(3);
  });

  it('are counted right when very many gaps were committed', () => {
    const uncommitted = new UncommittedEvents();
    for (let offset = 0; offset < 1_200; offset += 3) uncommitted.add(offset, offset + 1);
    let left = 800;
    for (let offset = 0; offset < 1_200; offset += 1) {
      uncommitted.commitThrough(offset);
      if (offset % 3 < 2) left -= 1;
      expect(uncommitted.count, String(offset)).to.equal(left);
    }
  });

  it('take no memory after they were committed, also when there is always one left', () => {
    const uncommitted = new UncommittedEvents();
    const before = bytesInUse();
    for (let offset = 0; offset < 400_000; offset += 2) {
      uncommitted.add(offset, offset);
      uncommitted.commitThrough(offset - 2);
    }
    expect(uncommitted.first).to.equal(399_998);
    expect(bytesInUse() - before).to.be.lessThan(500_000);
  });

  it('match a plain set of offsets for every order of sending and committing', () => {
    const step = fastCheck.oneof(
      fastCheck.record({ gap: fastCheck.nat(3), length: fastCheck.integer({ min: 1, max: 6 }) }),
      fastCheck.record({ commit: fastCheck.integer({ min: -2, max: 900 }) }),
    );
    fastCheck.assert(
      fastCheck.property(fastCheck.array(step, { maxLength: 400 }), (steps) => {
        const uncommitted = new UncommittedEvents();
        let model: number[] = [];
        let next = 0;
        for (const change of steps) {
          if ('commit' in change) {
            uncommitted.commitThrough(change.commit);
            model = model.filter((offset) => offset > change.commit);
          } else {
            const first = next + change.gap;
            const last = first + change.length - 1;
            uncommitted.add(first, last);
            for (let offset = first; offset <= last; offset += 1) model.push(offset);
            next = last + 1;
          }
          expect(uncommitted.count).to.equal(model.length);
        }
      }),
    );
  });
});
