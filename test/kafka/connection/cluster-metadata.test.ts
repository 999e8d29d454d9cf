import { expect } from 'chai';
import { after, before, it } from 'mocha';
import { describeOnCluster } from '../../support/cluster.ts';
import { reportError } from '../../support/kafka/proxy.ts';
import { appendTo, codeOf, records } from '../../support/log-reading.ts';
import { openLogBehindProxy, type LogBehindProxy } from '../log-behind-proxy.ts';
import { metadataRefusing, metadataWithoutLeaders } from './metadata-responses.ts';

const topicAuthorizationFailed = 29;

describeOnCluster('Metadata of Kafka', (cluster) => {
  let subject: LogBehindProxy;

  before(async () => {
    subject = await openLogBehindProxy(cluster().kafkaBrokers);
  });
  after(() => subject.close());

  it('does not report a topic as missing when the broker refuses to describe it', async () => {
    const where = await subject.newPartition();
    const refused = subject.proxy.inject({
      api: 'Metadata',
      times: Infinity,
      when: ({ body }) => body.includes(where.topic),
      fault: { kind: 'answer', body: () => metadataRefusing(where.topic, topicAuthorizationFailed) },
    });
    const appended = codeOf(appendTo(subject.log, where, records('a')));
    const bounds = codeOf(subject.log.bounds([where]));
    while (refused.hits < 3) await new Promise((resolve) => setTimeout(resolve, 5));
    subject.advance(15_000);
    expect(await appended).to.equal('LOG_UNAVAILABLE');
    expect(await bounds).to.equal('LOG_UNAVAILABLE');
    refused.remove();
    await appendTo(subject.log, where, records('b'));
    expect(await subject.valuesIn(where)).to.deep.equal(['b']);
  });

  it('reports a topic as missing when no topic can have its name', async () => {
    const where = { topic: 'no such / name', partition: 0 };
    expect(await codeOf(subject.log.bounds([where]))).to.equal('UNKNOWN_TOPIC_OR_PARTITION');
    expect(await codeOf(appendTo(subject.log, where, records('a')))).to.equal('UNKNOWN_TOPIC_OR_PARTITION');
  });

  it('is refreshed when a leader denies a partition, while a missing leader denies nothing', async () => {
    const where = await subject.newPartition();
    await appendTo(subject.witness, where, records('a'));
    const when = ({ body }: { readonly body: Buffer }): boolean => body.includes(where.topic);
    const denied = subject.proxy.inject({ api: 'ListOffsets', when, times: 2, fault: reportError(3) });
    const leaderless = subject.proxy.inject({
      api: 'Metadata',
      when,
      nth: 2,
      times: 3,
      fault: { kind: 'patch response', patch: () => metadataWithoutLeaders(where.topic) },
    });
    expect(await subject.log.bounds([where])).to.deep.equal([{ ...where, earliest: 0, latest: 1 }]);
    expect([denied.hits, leaderless.hits]).to.deep.equal([2, 3]);
  });
});
