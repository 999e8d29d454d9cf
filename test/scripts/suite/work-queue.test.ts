import { expect } from 'chai';
import { beforeEach, describe, it } from 'mocha';
import type { TestFile } from '../../../scripts/suite/test-files.ts';
import { WorkQueue } from '../../../scripts/suite/work-queue.ts';

function file(source: string, changes: Partial<TestFile> = {}): TestFile {
  return { source, compiled: source, backend: 'embedded', needs: [], usesClusterAlone: false, ...changes };
}

describe('the queue of test files', () => {
  const slow = file('slow');
  const kafka = file('kafka', { needs: ['current'] });
  const previous = file('previous', { needs: ['current', 'previous'] });
  const quick = file('quick');
  const second = file('second', { backend: 'cluster', needs: ['current'] });
  let queue: WorkQueue;

  beforeEach(() => {
    queue = new WorkQueue([slow, kafka, previous, quick, second]);
  });

  async function takeAll(preferred: TestFile['backend']): Promise<string[]> {
    const taken: string[] = [];
    for (let next = await queue.take(preferred, 0); next !== undefined; next = await queue.take(preferred, 0)) {
      taken.push(next.source);
    }
    return taken;
  }

  it('hands out the files of the preferred backend first, in their order, then those of the other one', async () => {
    queue.settle('current', true);
    queue.settle('previous', true);
    expect(await takeAll('embedded')).to.deep.equal(['slow', 'kafka', 'previous', 'quick', 'second']);
    expect(await queue.take('cluster', 1)).to.equal(undefined);
  });

  it('hands out files that need no cluster while the clusters start, and makes the others wait', async () => {
    expect([await queue.take('cluster', 1), await queue.take('cluster', 1)]).to.deep.equal([slow, quick]);
    const waiting = [queue.take('cluster', 1), queue.take('embedded', 0)];
    queue.settle('current', true);
    expect(await Promise.all(waiting)).to.deep.equal([second, kafka]);
    const last = queue.take('embedded', 0);
    queue.settle('previous', true);
    expect(await last).to.equal(previous);
  });

  it('lets files that need a browser wait for it, and no others', async () => {
    queue = new WorkQueue([file('page', { needs: ['browser'] }), quick]);
    expect(await queue.take('embedded', 0)).to.equal(quick);
    const page = queue.take('embedded', 0);
    queue.settle('browser', true);
    expect((await page)?.source).to.equal('page');
  });

  it('gives the files that need a browser to three runners that prefer the embedded store, and to these first', async () => {
    const pages = ['one', 'two', 'three', 'four'].map((name) => file(name, { needs: ['browser'] }));
    const others = ['five', 'six', 'seven'].map((name) => file(name));
    const [one, two, three, four] = pages;
    const [five, six, seven] = others;
    queue = new WorkQueue([...pages, ...others]);
    queue.settle('browser', true);
    expect(await queue.take('cluster', 9)).to.equal(five);
    expect(await queue.take('embedded', 1)).to.equal(one);
    expect(await queue.take('embedded', 2)).to.equal(two);
    expect(await queue.take('embedded', 3)).to.equal(three);
    expect(await queue.take('embedded', 4)).to.equal(six);
    expect(await queue.take('embedded', 2)).to.equal(four);
    expect(await queue.take('embedded', 2)).to.equal(seven);
    for (const runner of [1, 4]) expect(await queue.take('embedded', runner)).to.equal(undefined);
  });

  it('ends for a runner without a browser when only files are left that others have theirs for', async () => {
    queue = new WorkQueue(['one', 'two', 'three', 'four'].map((name) => file(name, { needs: ['browser'] })));
    expect(await queue.take('cluster', 9)).to.equal(undefined);
    queue.settle('browser', true);
    for (const runner of [1, 2, 3]) expect(await queue.take('embedded', runner)).not.to.equal(undefined);
    expect(await queue.take('embedded', 4)).to.equal(undefined);
    expect((await queue.take('embedded', 1))?.source).to.equal('four');
  });

  it('hands out suites that need a cluster also without one, so that they report it, but no second runs', async () => {
    queue.settle('current', false);
    queue.settle('previous', false);
    expect(await takeAll('cluster')).to.deep.equal(['slow', 'kafka', 'previous', 'quick']);
  });

  it('ends for all waiting runners when only files are left that cannot run', async () => {
    queue = new WorkQueue([second]);
    const waiting = [queue.take('cluster', 1), queue.take('embedded', 0)];
    queue.settle('current', false);
    expect(await Promise.all(waiting)).to.deep.equal([undefined, undefined]);
  });

  it('hands out the files that use the cluster alone one after another, before all others that use it', async () => {
    const alone = file('alone', { needs: ['current'], usesClusterAlone: true });
    const aloneToo = file('alone too', { backend: 'cluster', needs: ['current'], usesClusterAlone: true });
    queue = new WorkQueue([slow, kafka, aloneToo, second, alone, quick]);
    expect(await queue.take('embedded', 0)).to.equal(slow);
    queue.settle('current', true);
    expect(await queue.take('embedded', 1)).to.equal(aloneToo);
    expect(await queue.take('cluster', 2)).to.equal(quick);
    const next = queue.take('embedded', 2);
    const afterNext = [queue.take('embedded', 3), queue.take('cluster', 4)];
    queue.done(slow);
    queue.done(aloneToo);
    expect(await next).to.equal(alone);
    queue.done(alone);
    expect(await Promise.all(afterNext)).to.deep.equal([kafka, second]);
    expect(await queue.take('embedded', 2)).to.equal(undefined);
  });
});
