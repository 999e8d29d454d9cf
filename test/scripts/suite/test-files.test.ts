import { expect } from 'chai';
import { describe, it } from 'mocha';
import { findTests, onCluster, type Need, type TestFile } from '../../../scripts/suite/test-files.ts';

function fileOf(name: string): TestFile | undefined {
  return findTests(name)?.files[0];
}

/** What has to be there before a test file runs. */
function needsOf(name: string): readonly Need[] {
  return fileOf(name)?.needs ?? [];
}

describe('a test file', () => {
  it('that starts servers of its own waits until their programs are installed', () => {
    const starting = [
      'test/e2e/secured-cluster.test.ts',
      'test/faults/cluster.test.ts',
      'test/redis/loss.test.ts',
      'test/scripts/cluster.test.ts',
      'test/scripts/local-cluster/local-cluster.test.ts',
    ];
    for (const name of starting) expect(needsOf(name), name).to.include('servers');
  });

  it('waits for a browser and for the clusters that tests share when it uses them, and for nothing else', () => {
    expect(needsOf('test/admin/pages/overview.test.ts')).to.deep.equal(['browser']);
    expect(needsOf('test/client/browser.test.ts')).to.deep.equal(['browser']);
    expect(needsOf('test/kafka/log.test.ts')).to.deep.equal(['current', 'previous']);
    expect(needsOf('test/admin/bundle.test.ts')).to.deep.equal([]);
  });

  it('uses the shared cluster alone when its processes must meet no others there', () => {
    const settings = findTests('test/acceptance/streaming/settings.test.ts')?.files ?? [];
    expect(settings.map(({ usesClusterAlone }) => usesClusterAlone)).to.deep.equal([false]);
    expect(onCluster(settings).map(({ usesClusterAlone }) => usesClusterAlone)).to.deep.equal([true]);
    expect(fileOf('test/e2e/lending-flow.test.ts')?.usesClusterAlone).to.equal(true);
    expect(fileOf('test/fuzz/cluster.test.ts')?.usesClusterAlone).to.equal(true);
    expect(fileOf('test/fuzz/embedded.test.ts')?.usesClusterAlone).to.equal(false);
    expect(fileOf('test/kafka/log.test.ts')?.usesClusterAlone).to.equal(false);
  });
});
