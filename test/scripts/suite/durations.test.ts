import { expect } from 'chai';
import { describe, it } from 'mocha';
import { orderOfStart } from '../../../scripts/suite/durations.ts';
import type { TestFile } from '../../../scripts/suite/test-files.ts';

function file(source: string, changes: Partial<TestFile> = {}): TestFile {
  return { source, compiled: source, backend: 'embedded', needs: [], usesClusterAlone: false, ...changes };
}

describe('the order in which test files start', () => {
  it('has the slowest first, and files that wait in turn with files that work', () => {
    const durations = {
      'waits 40': { seconds: 40, processorSeconds: 2 },
      'waits 30': { seconds: 30, processorSeconds: 1 },
      'waits 20': { seconds: 20, processorSeconds: 1 },
      'works 20': { seconds: 20, processorSeconds: 15 },
      'works 10': { seconds: 10, processorSeconds: 8 },
      'works 9': { seconds: 9, processorSeconds: 6 },
    };
    const files = ['unknown', ...Object.keys(durations)].map((name) => file(name));
    expect(orderOfStart(files, durations).map(({ source }) => source)).to.deep.equal([
      'works 20',
      'waits 40',
      'waits 30',
      'works 10',
      'works 9',
      'waits 20',
      'unknown',
    ]);
  });

  it('tells the two runs of a file apart, and begins with those on the previous Kafka', () => {
    const durations = {
      both: { seconds: 9, processorSeconds: 3 },
      'both on the cluster': { seconds: 30, processorSeconds: 10 },
    };
    const previous = file('previous', { needs: ['current', 'previous'] });
    const second = file('both', { backend: 'cluster' });
    const first = file('both');
    expect(orderOfStart([first, second, previous], durations)).to.deep.equal([previous, second, first]);
  });
});
