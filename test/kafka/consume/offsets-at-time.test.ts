import { expect } from 'chai';
import { describe, it } from 'mocha';
import { LendstreamError } from '../../../src/errors.ts';
import { ClusterMetadata } from '../../../src/kafka/connection/cluster-metadata.ts';
import type { BrokerAddress, RequestSender } from '../../../src/kafka/connection/connections.ts';
import { listOffsetsAt } from '../../../src/kafka/consume/offsets-at-time.ts';
import type { KafkaRequest } from '../../../src/kafka/protocol/request.ts';
import { WireReader, WireWriter } from '../../../src/kafka/protocol/wire.ts';
import { codeOf } from '../../support/log-reading.ts';
import { SimulatedClock } from '../../support/simulated-clock.ts';
import { SimulatedBroker, pass } from '../simulated-broker.ts';

const [unknownPartition, notLeader, invalidTopic] = [3, 6, 17];
const [earliest, latest, time] = [-2, -1, 1_700_000_000_000];

interface Answer {
  readonly errorCode?: number;
  readonly offset?: number;
}

/** A broker whose partitions begin at 3 and end at 8. */
class BrokerWithTimes implements RequestSender {
  /** The next responses about the time; the last one is given again and again. None leaves out the partition. */
  answers: readonly (Answer | 'none' | LendstreamError)[] = [];
  /** How often it was asked about the time, and which broker leads the partition. */
  askedCount = 0;
  lookupCount = 0;
  readonly simulated: SimulatedBroker;

  constructor(clock: SimulatedClock) {
    this.simulated = new SimulatedBroker(clock, 2);
  }

  async send<Response>(to: BrokerAddress, purpose: string, request: KafkaRequest<Response>): Promise<Response> {
    if (request.name !== 'ListOffsets') {
      this.lookupCount += 1;
      return this.simulated.send(to, purpose, request);
    }
    const reader = new WireReader(request.encode() as Buffer);
    reader.position += 4 + 1 + 4; // replica, isolation, one topic
    const topic = reader.string();
    const asked = reader.array(() => ({ partition: reader.int32(), time: reader.int64() }));
    const [{ time: askedTime } = { time: 0 }] = asked;
    const answer = askedTime === time ? this.#nextAnswer() : { offset: askedTime === earliest ? 3 : 8 };
    if (answer instanceof LendstreamError) throw answer;
    const { errorCode = 0, offset = -1 } = answer === 'none' ? {} : answer;
    const writer = new WireWriter().int32(0).int32(1).string(topic);
    writer.array(answer === 'none' ? [] : asked, ({ partition }) =>
      writer.int32(partition).int16(errorCode).int64(latest).int64(offset),
    );
    return request.decode(writer.toBuffer());
  }

  #nextAnswer(): Answer | 'none' | LendstreamError {
    const answer = this.answers[Math.min(this.askedCount, this.answers.length - 1)] ?? 'none';
    this.askedCount += 1;
    return answer;
  }
}

async function find(answers: BrokerWithTimes['answers']) {
  const clock = new SimulatedClock();
  const broker = new BrokerWithTimes(clock);
  broker.answers = answers;
  const { topic, seeds } = broker.simulated;
  const metadata = new ClusterMetadata(broker, seeds, clock);
  const found = listOffsetsAt({ connections: broker, metadata, clock }, [{ topic, partition: 1 }], time);
  const code = codeOf(found);
  for (let passed = 0; passed < 300; passed += 5) await pass(clock, 5);
  const offset = (await code) === null ? (await found).map((each) => each.offset)[0] : await code;
  return { outcome: offset, asked: broker.askedCount, lookups: broker.lookupCount };
}

describe('The offset of a time in a partition of Kafka', () => {
  for (const [what, offset, expected] of [
    ['that of the first record since then', 5, 5],
    ['the end when there is no such record', -1, 8],
    ['the first one when records were deleted meanwhile', 1, 3],
    ['zero only where the partition begins there', 0, 3],
  ] as const) {
    it(`is ${what}`, async () => {
      expect(await find([{ offset }])).to.deep.equal({ outcome: expected, asked: 1, lookups: 1 });
    });
  }

  for (const [what, answer] of [
    ['the broker does not lead the partition', { errorCode: notLeader }],
    ['the broker leaves it out', 'none'],
    ['there is no response', new LendstreamError('LOG_UNAVAILABLE', 'No response.')],
  ] as const) {
    it(`is asked five times at the most, of the leader of now, when ${what}`, async () => {
      const [failures, success] = [[answer, answer, answer, answer], { offset: 5 }];
      expect(await find([...failures, success])).to.deep.equal({ outcome: 5, asked: 5, lookups: 5 });
      const failed = await find([...failures, answer, success]);
      expect(failed).to.deep.equal({ outcome: 'LOG_UNAVAILABLE', asked: 5, lookups: 5 });
    });
  }

  it('is asked once when the broker refuses it for good', async () => {
    for (const [errorCode, outcome] of [
      [unknownPartition, 'UNKNOWN_TOPIC_OR_PARTITION'],
      [invalidTopic, 'UNPROCESSABLE'],
    ] as const) {
      expect(await find([{ errorCode }])).to.deep.equal({ outcome, asked: 1, lookups: 1 });
    }
    const broken = new LendstreamError('CORRUPT_BATCH', 'Not retriable.');
    expect(await find([broken])).to.deep.equal({ outcome: 'CORRUPT_BATCH', asked: 1, lookups: 1 });
  });
});
