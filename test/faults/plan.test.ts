import { expect } from 'chai';
import * as fc from 'fast-check';
import { describe, it } from 'mocha';
import {
  calmPace,
  describeFault,
  possibleFaults,
  quickPace,
  randomPlan,
  shortPlan,
  smokePlan,
  type SystemShape,
} from './plan.ts';

const cluster: SystemShape = {
  serve: ['serve-1', 'serve-2'],
  work: ['work-1', 'work-2'],
  brokers: ['kafka-1', 'kafka-2', 'kafka-3'],
  hasRedis: true,
};
const embedded: SystemShape = { serve: ['serve-1'], work: ['serve-1'], brokers: [], hasRedis: false };
const sharedProcesses: SystemShape = { ...cluster, work: cluster.serve };
const seeds = fc.integer({ min: 0, max: 0xffff_ffff });
const shapes = fc.constantFrom(cluster, sharedProcesses, embedded);

describe('a plan of faults', () => {
  it('is the same for the same seed, and different for another seed', () => {
    expect(randomPlan(cluster, 7, 600_000)).to.deep.equal(randomPlan(cluster, 7, 600_000));
    expect(randomPlan(cluster, 7, 600_000).faults).not.to.deep.equal(randomPlan(cluster, 8, 600_000).faults);
  });

  it('has one fault after another, each healed before the run ends, on existing targets', () => {
    fc.assert(
      fc.property(shapes, seeds, fc.integer({ min: 30_000, max: 3_600_000 }), (shape, seed, milliseconds) => {
        const possible = new Set(possibleFaults(shape).map(({ kind, target }) => `${kind} ${target}`));
        let freeFrom = 0;
        for (const { kind, target, beginsAt, lasts } of randomPlan(shape, seed, milliseconds).faults) {
          expect(possible.has(`${kind} ${target}`), `${kind} ${target}`).to.equal(true);
          expect(beginsAt).to.be.above(freeFrom);
          freeFrom = beginsAt + lasts;
        }
        expect(freeFrom).to.be.at.most(milliseconds);
      }),
    );
  });

  it('uses every kind on every target in the long run', () => {
    const used = new Set(randomPlan(cluster, 1, 86_400_000).faults.map(({ kind, target }) => `${kind} ${target}`));
    expect(used.size).to.equal(possibleFaults(cluster).length);
  });

  it('has every kind for every sort of target in a smoke run, in less than five minutes, or than seventy seconds', () => {
    const paces = fc.constantFrom([calmPace, 300_000] as const, [quickPace, 70_000] as const);
    fc.assert(
      fc.property(seeds, paces, (seed, [pace, millisecondsMaximum]) => {
        const { faults, lasts } = smokePlan(cluster, seed, pace);
        const sorts = faults.map(({ kind, target }) => `${kind} ${target.replace(/-\d+/, '')}`).sort();
        expect(sorts).to.deep.equal(
          [
            ...['kill', 'pause'].flatMap((kind) =>
              ['serve', 'work', 'redis', 'kafka'].map((sort) => `${kind} ${sort}`),
            ),
            ...['cut', 'delay', 'half-open'].flatMap((kind) =>
              ['serve', 'redis', 'kafka'].map((sort) => `${kind} ${sort}`),
            ),
            'flush redis',
            'truncate log',
            'stall consumers',
          ].sort(),
        );
        expect(lasts).to.be.below(millisecondsMaximum);
      }),
      { numRuns: 20 },
    );
  });

  it('has every kind once in a short run, and every sort of target, in half a minute', () => {
    fc.assert(
      fc.property(shapes, seeds, (shape, seed) => {
        const { faults, lasts } = shortPlan(shape, seed, quickPace);
        const possible = possibleFaults(shape);
        const kinds = possible.map(({ kind }) => kind);
        expect(faults.map(({ kind }) => kind)).to.have.members([...new Set(kinds)]);
        const sorts = (targets: readonly { readonly target: string }[]): string[] =>
          targets.map(({ target }) => target.replace(/-\d+/, ''));
        expect(new Set(sorts(faults))).to.deep.equal(new Set(sorts(possible)));
        expect(lasts).to.be.below(32_000);
      }),
      { numRuns: 20 },
    );
  });

  it('names only existing targets with the embedded backend', () => {
    const targets = new Set(smokePlan(embedded, 1).faults.map(({ target }) => target));
    expect([...targets]).to.have.members(['serve-1', 'consumers']);
  });

  it('is described in words', () => {
    const fault = { number: 3, kind: 'delay', target: 'redis', beginsAt: 0, lasts: 4_000, delay: 300 } as const;
    expect(describeFault(fault)).to.equal('3. delay redis by 300 ms for 4.0 s');
  });
});
