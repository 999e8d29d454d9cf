import { expect } from 'chai';
import { after, before, it } from 'mocha';
import { describeOnCluster } from '../../support/cluster.ts';
import type { ApiName } from '../../support/kafka/frames.ts';
import { appendTo, records } from '../../support/log-reading.ts';
import { openLogBehindProxy, type LogBehindProxy } from '../log-behind-proxy.ts';

/** How long the broker reports that a quota is exceeded. Milliseconds. */
const throttleMilliseconds = 300;

describeOnCluster('Connections to Kafka', (cluster) => {
  let subject: LogBehindProxy;

  before(async () => {
    subject = await openLogBehindProxy(cluster().kafkaBrokers);
  });
  after(() => subject.close());

  /** Adds a throttle time to the next response, at its beginning or end. */
  function throttleNext(api: ApiName, isLast: boolean): void {
    const patch = (body: Buffer): Buffer => {
      const patched = Buffer.from(body);
      patched.writeInt32BE(throttleMilliseconds, isLast ? patched.length - 4 : 0);
      return patched;
    };
    subject.proxy.inject({ api, fault: { kind: 'patch response', patch } });
  }

  async function millisecondsOf(action: () => Promise<unknown>): Promise<number> {
    const startedAt = performance.now();
    await action();
    return performance.now() - startedAt;
  }

  it('send nothing while the broker reports that a quota is exceeded', async () => {
    const where = await subject.newPartition();
    const append = (): Promise<number> => millisecondsOf(() => appendTo(subject.log, where, records('a')));
    const fetchBounds = (): Promise<number> => millisecondsOf(() => subject.log.bounds([where]));
    await append();
    throttleNext('Produce', true);
    await append();
    expect(await append()).to.be.above(throttleMilliseconds - 100);
    throttleNext('ListOffsets', false);
    await fetchBounds();
    expect(await fetchBounds()).to.be.above(throttleMilliseconds - 100);
    expect(await append()).to.be.below(throttleMilliseconds - 100);
    expect(await fetchBounds()).to.be.below(throttleMilliseconds - 100);
  });
});
