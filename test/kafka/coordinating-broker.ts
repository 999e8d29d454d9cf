import type { BrokerAddress, RequestSender } from '../../src/kafka/connection/connections.ts';
import type { KafkaRequest } from '../../src/kafka/protocol/request.ts';
import { WireWriter } from '../../src/kafka/protocol/wire.ts';
import type { SimulatedClock } from '../support/simulated-clock.ts';

/** A cluster of one broker, the coordinator of everything: it says so, and responds to other requests by a function. */
export class CoordinatingBroker implements RequestSender {
  /** How often the coordinator was looked up. */
  lookups = 0;
  /** When the other requests came. Monotonic milliseconds. */
  readonly times: number[] = [];
  readonly address = { host: 'coordinator', port: 9_092 };
  readonly #clock: SimulatedClock;
  readonly #respond: (request: string, response: WireWriter) => void;

  /** @param respond Writes what a response has after its throttle time. */
  constructor(clock: SimulatedClock, respond: (request: string, response: WireWriter) => void) {
    this.#clock = clock;
    this.#respond = respond;
  }

  async send<Response>(_to: BrokerAddress, _purpose: string, request: KafkaRequest<Response>): Promise<Response> {
    await Promise.resolve();
    const response = new WireWriter().int32(0);
    if (request.name === 'FindCoordinator') {
      this.lookups += 1;
      response.int16(0).string(null).int32(1).string(this.address.host).int32(this.address.port);
    } else {
      this.times.push(this.#clock.monotonic());
      this.#respond(request.name, response);
    }
    return request.decode(response.toBuffer());
  }

  current(): object {
    return this;
  }
}
