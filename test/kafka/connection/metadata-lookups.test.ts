import { expect } from 'chai';
import { describe, it } from 'mocha';
import { isLendstreamError } from '../../../src/errors.ts';
import type { BrokerAddress, RequestSender } from '../../../src/kafka/connection/connections.ts';
import { ClusterMetadata } from '../../../src/kafka/connection/cluster-metadata.ts';
import { unknownPartition } from '../../../src/kafka/connection/unknown-partition.ts';
import type { KafkaRequest } from '../../../src/kafka/protocol/request.ts';
import { metadataRequest } from '../../../src/kafka/protocol/metadata-request.ts';
import { WireWriter } from '../../../src/kafka/protocol/wire.ts';
import { SimulatedClock } from '../../support/simulated-clock.ts';
import { SimulatedBroker } from '../simulated-broker.ts';

type Behaviour = 'responds' | 'hangs' | 'refuses';

/** Brokers by host; each handles every request as configured. Records which broker is asked when. */
class Brokers implements RequestSender {
  readonly requests: string[] = [];
  readonly #clock: SimulatedClock;
  readonly #broker: SimulatedBroker;
  readonly #behaviours: Record<string, Behaviour>;

  constructor(clock: SimulatedClock, behaviours: Record<string, Behaviour>) {
    this.#clock = clock;
    this.#broker = new SimulatedBroker(clock, 1);
    this.#behaviours = behaviours;
  }

  send<Response>(to: BrokerAddress, purpose: string, request: KafkaRequest<Response>): Promise<Response> {
    this.requests.push(`${to.host} at ${this.#clock.monotonic()}`);
    const behaviour = this.#behaviours[to.host];
    if (behaviour === 'hangs') return new Promise(() => undefined);
    if (behaviour === 'refuses') return Promise.reject(new Error('refused'));
    return this.#broker.send(to, purpose, request);
  }
}

function metadataOf(behaviours: Record<string, Behaviour>) {
  const clock = new SimulatedClock();
  const brokers = new Brokers(clock, behaviours);
  const seeds = Object.keys(behaviours).map((host) => ({ host, port: 9092 }));
  return { clock, requests: brokers.requests, metadata: new ClusterMetadata(brokers, seeds, clock) };
}

const broker = { nodeId: 3, host: 'only', port: 9_092 };

interface AnsweredTopic {
  readonly name: string;
  readonly code?: number;
  readonly isInternal?: boolean;
}

/** A cluster that gives the same answer to each request: Metadata, version 5. */
function answered(topics: readonly AnsweredTopic[]) {
  const answer = { brokers: [broker] };
  const connections: RequestSender = {
    send: async (_to, _purpose, request) => {
      await Promise.resolve();
      const writer = new WireWriter().int32(0);
      writer.array(answer.brokers, ({ nodeId, host, port }) =>
        writer.int32(nodeId).string(host).int32(port).string(null),
      );
      writer.string('cluster').int32(3);
      writer.array(topics, ({ name, code = 0, isInternal = false }) =>
        writer.int16(code).string(name).boolean(isInternal).int32(0),
      );
      return request.decode(writer.toBuffer());
    },
  };
  return { answer, metadata: new ClusterMetadata(connections, [broker], new SimulatedClock()) };
}

describe('Looking up the topics of Kafka', () => {
  it('tries the next broker after a second without a response, and prefers it the next time', async () => {
    const { clock, requests, metadata } = metadataOf({ first: 'hangs', second: 'responds' });
    const response = metadata.sendToAny(metadataRequest(null));
    await clock.turn(999);
    expect(requests).to.deep.equal(['first at 0']);
    await clock.turn(1);
    await response;
    expect(requests).to.deep.equal(['first at 0', 'second at 1000']);
    await metadata.sendToAny(metadataRequest(null));
    expect(requests.slice(2)).to.deep.equal(['second at 1000']);
    await clock.turn(60_000);
    expect(requests).to.have.length(3);
  });

  it('tries the next broker at once when one refuses the connection', async () => {
    const { requests, metadata } = metadataOf({ first: 'refuses', second: 'responds' });
    const { topics } = await metadata.sendToAny(metadataRequest(null));
    expect(topics.map(({ name }) => name)).to.deep.equal(['quiet']);
    expect(requests).to.deep.equal(['first at 0', 'second at 0']);
  });

  it('finds only topics that exist and are not internal', async () => {
    const { metadata } = answered([
      { name: 'plain' },
      { name: 'internal', isInternal: true },
      { name: 'no', code: 29 },
    ]);
    expect((await metadata.existingTopics()).map(({ name }) => name)).to.deep.equal(['plain']);
  });

  it('keeps the known brokers when a response names none', async () => {
    const { metadata, answer } = answered([]);
    await metadata.existingTopics();
    expect(metadata.brokers).to.deep.equal([broker]);
    answer.brokers = [];
    await metadata.existingTopics();
    expect(metadata.brokers).to.deep.equal([broker]);
  });

  it('names the topic that is missing, and the partition where only that is', () => {
    const [whole, part] = [{ topic: 'a' }, { topic: 'a', partition: 0 }];
    expect(unknownPartition(whole)).to.deep.include({ message: 'Topic a does not exist.', details: whole });
    expect(unknownPartition(part)).to.deep.include({ message: 'Topic a, partition 0, does not exist.', details: part });
  });

  it('sends a change to one broker and waits as long as that takes', async () => {
    const { clock, requests, metadata } = metadataOf({ first: 'hangs', second: 'responds' });
    void metadata.sendChange(metadataRequest(null));
    await clock.turn(60_000);
    expect(requests).to.deep.equal(['first at 0']);
  });

  it('tries every broker once before it fails, without a pause', async () => {
    const { clock, requests, metadata } = metadataOf({ first: 'refuses', second: 'refuses' });
    for (const send of [metadata.sendToAny.bind(metadata), metadata.sendChange.bind(metadata)]) {
      const error = await send(metadataRequest(null)).catch((thrown: unknown) => thrown);
      expect(isLendstreamError(error, 'LOG_UNAVAILABLE')).to.equal(true);
      expect(requests.splice(0)).to.deep.equal(['first at 0', 'second at 0']);
    }
    await clock.turn(60_000);
    expect(requests).to.deep.equal([]);
  });

  it('shares one request among lookups of one turn of the event loop, and uses its response for a minute', async () => {
    const { clock, requests, metadata } = metadataOf({ only: 'responds' });
    await Promise.all([metadata.topic('quiet'), metadata.topic('quiet'), metadata.refresh('quiet')]);
    expect(requests).to.have.length(1);
    await clock.turn(59_999);
    await metadata.topic('quiet');
    expect(requests).to.have.length(1);
    await clock.turn(1);
    await metadata.topic('quiet');
    expect(requests).to.have.length(2);
  });

  it('requests the same topic again only after a pause, however often its leaders are forgotten', async () => {
    const { clock, requests, metadata } = metadataOf({ only: 'responds' });
    await metadata.topic('quiet');
    metadata.forgetLeaders('quiet');
    const again = metadata.topic('quiet');
    await clock.turn(24);
    expect(requests).to.have.length(1);
    await clock.turn(1);
    await again;
    expect(requests.slice(1)).to.deep.equal(['only at 25']);
  });
});
