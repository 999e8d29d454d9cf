import { expect } from 'chai';
import { describe, it } from 'mocha';
import type { BrokerAddress, RequestSender } from '../../../src/kafka/connection/connections.ts';
import { Coordinators } from '../../../src/kafka/connection/coordinator.ts';
import { ClusterMetadata } from '../../../src/kafka/connection/cluster-metadata.ts';
import type { KafkaRequest } from '../../../src/kafka/protocol/request.ts';
import { WireReader, WireWriter } from '../../../src/kafka/protocol/wire.ts';
import { codeOf } from '../../support/log-reading.ts';
import { SimulatedClock } from '../../support/simulated-clock.ts';

const coordinatorNotAvailable = 15;
/** An error that does not pass. */
const invalidConfig = 40;

/** A cluster that coordinates everything on one broker. */
class CoordinatingBroker implements RequestSender {
  /** The group or transactional id of each request. */
  readonly requests: string[] = [];
  /** When each request came. Monotonic milliseconds. */
  readonly times: number[] = [];
  errorCode = 0;
  readonly #clock: SimulatedClock;

  constructor(clock: SimulatedClock) {
    this.#clock = clock;
  }

  async send<Response>(_to: BrokerAddress, _purpose: string, request: KafkaRequest<Response>): Promise<Response> {
    await Promise.resolve();
    this.requests.push(new WireReader(request.encode() as Buffer).string());
    this.times.push(this.#clock.monotonic());
    const writer = new WireWriter().int32(0).int16(this.errorCode).string(null);
    return request.decode(writer.int32(4).string('coordinator').int32(9_092).toBuffer());
  }
}

function newCoordinators() {
  const clock = new SimulatedClock();
  const broker = new CoordinatingBroker(clock);
  const metadata = new ClusterMetadata(broker, [{ host: 'seed', port: 9_092 }], clock);
  return { clock, broker, coordinators: new Coordinators(metadata, clock) };
}

describe('The coordinators of groups and transactional ids', () => {
  it('are looked up once each, also by simultaneous callers, and again when they are forgotten', async () => {
    const { broker, coordinators } = newCoordinators();
    const found = await Promise.all([coordinators.of('group', 'a'), coordinators.of('group', 'a')]);
    const expected = { nodeId: 4, host: 'coordinator', port: 9_092 };
    expect(found).to.deep.equal([expected, expected]);
    await coordinators.of('transaction', 'a');
    expect(broker.requests).to.deep.equal(['a', 'a']);
    coordinators.forget('group', 'a');
    await coordinators.of('transaction', 'a');
    expect(broker.requests).to.have.length(2);
    await coordinators.of('group', 'a');
    expect(broker.requests).to.have.length(3);
  });

  it('are searched for five seconds while the cluster says that there is none yet, less and less often', async () => {
    const { clock, broker, coordinators } = newCoordinators();
    broker.errorCode = coordinatorNotAvailable;
    const code = codeOf(coordinators.of('group', 'a'));
    await clock.turn(5_000);
    expect(await code).to.equal('LOG_UNAVAILABLE');
    const pauses = broker.times.slice(1).map((time, index) => time - (broker.times[index] ?? 0));
    expect(pauses.slice(0, 3)).to.deep.equal([5, 7.5, 11.25]);
    expect(Math.max(...pauses)).to.be.closeTo(200, 1e-6);
    expect(broker.times.at(-1)).to.be.above(4_800);
  });

  it('are found when the cluster has one in the meantime, and a failed search is not remembered', async () => {
    const { clock, broker, coordinators } = newCoordinators();
    broker.errorCode = invalidConfig;
    expect(await codeOf(coordinators.of('group', 'a'))).to.equal('UNPROCESSABLE');
    broker.errorCode = coordinatorNotAvailable;
    const found = coordinators.of('group', 'a');
    await clock.turn(5);
    broker.errorCode = 0;
    await clock.turn(10);
    expect(await found).to.include({ nodeId: 4 });
    expect(broker.times).to.deep.equal([0, 0, 5, 12.5]);
  });

  it('are remembered for the ten thousand that were used last', async () => {
    const { broker, coordinators } = newCoordinators();
    for (let id = 0; id <= 10_000; id += 1) void coordinators.of('group', `${id}`);
    await coordinators.of('group', '10000');
    await coordinators.of('group', '1');
    expect(broker.requests).to.have.length(10_001);
    await coordinators.of('group', '0');
    expect(broker.requests.slice(10_001)).to.deep.equal(['0']);
  });
});
