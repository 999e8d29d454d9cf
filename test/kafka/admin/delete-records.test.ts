import { expect } from 'chai';
import { after, before, it } from 'mocha';
import { describeOnCluster } from '../../support/cluster.ts';
import { reportError } from '../../support/kafka/proxy.ts';
import { appendTo, codeOf, records } from '../../support/log-reading.ts';
import { openLogBehindProxy, type LogBehindProxy } from '../log-behind-proxy.ts';

describeOnCluster('Deleting records of Kafka', (cluster) => {
  let subject: LogBehindProxy;

  before(async () => {
    subject = await openLogBehindProxy(cluster().kafkaBrokers);
  });
  after(() => subject.close());

  for (const [what, errorCode, code, isAsked] of [
    ['it says that it is not the leader', 6, 'LOG_UNAVAILABLE', true],
    ['it does not know the partition', 3, 'UNKNOWN_TOPIC_OR_PARTITION', true],
    ['it has an error of its own', -1, 'LOG_UNAVAILABLE', false],
  ] as const) {
    it(`fails when ${what}, and the next call ${isAsked ? 'looks up the leader again' : 'asks the same leader'}`, async () => {
      const where = await subject.newPartition();
      await appendTo(subject.log, where, records('a', 'b', 'c'));
      const remove = () => subject.log.deleteRecords({ ...where, offset: 2 }, Date.now() + 60_000);
      const lookups = subject.proxy.requests('Metadata');
      subject.proxy.inject({ api: 'ListOffsets', fault: reportError(errorCode) });
      expect(await codeOf(remove())).to.equal(code);
      await remove();
      expect(subject.proxy.requests('Metadata') - lookups).to.equal(isAsked ? 1 : 0);
      expect(await subject.log.bounds([where])).to.deep.equal([{ ...where, earliest: 2, latest: 3 }]);
    });
  }
});
