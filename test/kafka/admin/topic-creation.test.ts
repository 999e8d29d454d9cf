import { expect } from 'chai';
import { describe, it } from 'mocha';
import { TopicCreation } from '../../../src/kafka/admin/topic-creation.ts';
import type { NamedResult, RequestedTopic } from '../../../src/kafka/protocol/topic-requests.ts';
import { failureOf } from '../../support/thrown-errors.ts';

describe('The creation of topics of one turn', () => {
  const topic = (name: string, partitionCount = 1): RequestedTopic => ({ name, partitionCount, settings: new Map() });
  const namesOf = (topics: readonly RequestedTopic[]): string => topics.map(({ name }) => name).join();

  /** A cluster that has a topic named `taken`, and whose topics named `slow` are never ready. */
  function openCreation() {
    const requests: string[] = [];
    const waits: string[] = [];
    const creation = new TopicCreation(
      (topics) => {
        requests.push(namesOf(topics));
        const resultOf = ({ name }: RequestedTopic): NamedResult => ({
          name,
          errorCode: name === 'taken' ? 36 : 0,
          message: null,
        });
        return Promise.resolve(topics.map(resultOf));
      },
      (topics) => {
        waits.push(namesOf(topics));
        return topics.some(({ name }) => name === 'slow') ? Promise.reject(new Error('not ready')) : Promise.resolve();
      },
    );
    return { creation, requests, waits };
  }

  it('takes one request up to a thousand partitions, and another one for one more', async () => {
    const { creation, requests, waits } = openCreation();
    const created = await Promise.all(
      [topic('a', 600), topic('b', 400), topic('c')].map((each) => creation.create(each)),
    );
    expect(created.map(({ result }) => result?.errorCode)).to.deep.equal([0, 0, 0]);
    await Promise.all(created.map(({ untilReady }) => untilReady()));
    expect(requests).to.deep.equal(['a,b', 'c']);
    expect(waits).to.deep.equal(['a,b', 'c']);
  });

  it('asks for a name a second time in a request of its own', async () => {
    const { creation, requests } = openCreation();
    await Promise.all([topic('a'), topic('b'), topic('a')].map((each) => creation.create(each)));
    expect(requests).to.deep.equal(['a,b', 'a']);
  });

  it('begins another request in the next turn', async () => {
    const { creation, requests } = openCreation();
    await creation.create(topic('a'));
    await creation.create(topic('b'));
    expect(requests).to.deep.equal(['a', 'b']);
  });

  it('waits only for those that were created', async () => {
    const { creation, waits } = openCreation();
    const [first, taken] = await Promise.all([creation.create(topic('a')), creation.create(topic('taken'))]);
    expect(taken?.result?.errorCode).to.equal(36);
    await first?.untilReady();
    expect(waits).to.deep.equal(['a']);
  });

  it('waits for each by itself when one of them does not become ready', async () => {
    const { creation, waits } = openCreation();
    const [first, slow] = await Promise.all([creation.create(topic('a')), creation.create(topic('slow'))]);
    await first?.untilReady();
    expect(await failureOf(slow?.untilReady() ?? Promise.resolve())).to.have.property('message', 'not ready');
    expect(waits).to.deep.equal(['a,slow', 'a', 'slow']);
  });

  it('waits once for the only one', async () => {
    const { creation, waits } = openCreation();
    const { untilReady } = await creation.create(topic('slow'));
    expect(await failureOf(untilReady())).to.have.property('message', 'not ready');
    expect(waits).to.deep.equal(['slow']);
  });

  it('fails for all of them when no broker responds', async () => {
    const failure = new Error('no broker');
    const creation = new TopicCreation(
      () => Promise.reject(failure),
      () => Promise.resolve(),
    );
    const failures = await Promise.all([topic('a'), topic('b')].map((each) => failureOf(creation.create(each))));
    expect(failures).to.deep.equal([failure, failure]);
  });
});
