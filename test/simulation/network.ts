import type { SimulatedClock } from '../support/simulated-clock.ts';
import type { Chance } from './chance.ts';
import type { SimulatedProcess } from './simulated-process.ts';

/** The behaviour of the network, as probabilities and milliseconds. The adversary changes it. */
export interface Weather {
  /** Requests that never arrive. */
  lostRequests: number;
  /** Responses that never arrive, although the request was carried out. */
  lostResponses: number;
  /** Messages that take up to {@link slowMillisecondsMaximum}. */
  slowMessages: number;
  /** Change notifications that never arrive, arrive twice, or late. */
  lostNotifications: number;
  doubledNotifications: number;
  lateNotifications: number;
}

export const calmWeather: Readonly<Weather> = {
  lostRequests: 0,
  lostResponses: 0,
  slowMessages: 0,
  lostNotifications: 0,
  doubledNotifications: 0,
  lateNotifications: 0,
};

const latencyMillisecondsMaximum = 10;
/** How long a slow message takes at most. Milliseconds. */
export const slowMillisecondsMaximum = 4_000;
const lateNotificationMillisecondsMaximum = 8_000;

/** How long a caller waits for a response. Milliseconds. */
const callTimeoutMilliseconds = 3_000;

/** One direction of a connection: messages arrive in the order in which they were sent. */
interface Lane {
  arrivesAt: number;
}

/** The error of a failed call for its caller. */
export type Unavailable = (reason: string) => Error;

/** Carries messages between processes, in simulated time. */
export class Network {
  weather: Weather = { ...calmWeather };
  /** Processes that cannot reach any other, by name. */
  readonly cutOff = new Set<string>();
  readonly #time: SimulatedClock;
  readonly #chance: Chance;
  readonly #lanes = new Map<string, Lane>();

  constructor(time: SimulatedClock, chance: Chance) {
    this.#time = time;
    this.#chance = chance;
  }

  /**
   * Lets a process carry out an action and returns its result.
   * @param connection Calls of one caller on one connection arrive in order, and so do their responses.
   * @param onFailure Called when the caller finds out that the call failed.
   */
  call<Result>(
    caller: SimulatedProcess,
    callee: SimulatedProcess,
    connection: string,
    work: () => Result | Promise<Result>,
    unavailable: Unavailable,
    onFailure?: () => void,
  ): Promise<Result> {
    return new Promise((resolve, reject) => {
      let isSettled = false;
      const settle = (outcome: () => void): void => {
        if (isSettled) return;
        isSettled = true;
        outcome();
      };
      const failAfter = (milliseconds: number, reason: string): void => {
        this.#time.at(this.#time.monotonic() + milliseconds, () =>
          caller.receive(() =>
            settle(() => {
              onFailure?.();
              reject(unavailable(reason));
            }),
          ),
        );
      };
      const { weather } = this;
      if (this.cutOff.has(caller.name)) {
        failAfter(this.#chance.happens(0.5) ? 1 : callTimeoutMilliseconds, 'The network is cut.');
        return;
      }
      if (this.#chance.happens(weather.lostRequests)) {
        failAfter(callTimeoutMilliseconds, 'The request was lost.');
        return;
      }
      let isSlow = this.#chance.happens(weather.slowMessages);
      const sentAt = this.#time.monotonic();
      const requestAt = this.#arrival(`${caller.name}>${connection}`, isSlow);
      const respond = (outcome: () => void): void => {
        if (isSettled) return;
        if (this.#chance.happens(this.weather.lostResponses) || this.cutOff.has(caller.name)) {
          failAfter(callTimeoutMilliseconds, 'The response was lost.');
          return;
        }
        isSlow = this.#chance.happens(this.weather.slowMessages);
        const responseAt = this.#arrival(`${caller.name}<${connection}`, isSlow);
        this.#time.at(responseAt, () => caller.receive(() => settle(outcome)));
      };
      if (requestAt - sentAt > callTimeoutMilliseconds) failAfter(callTimeoutMilliseconds, 'The request was slow.');
      this.#time.at(requestAt, () => {
        if (callee.isDead) {
          failAfter(1, 'The connection was refused.');
          return;
        }
        if (callee.isPaused) failAfter(Math.max(1, sentAt + callTimeoutMilliseconds - requestAt), 'No response came.');
        callee.receive(() => {
          const stopWatching = callee.whenDead(() => failAfter(1, 'The connection was reset.'));
          const answer = (outcome: () => void): void => {
            callee.receive(() => {
              stopWatching();
              respond(outcome);
            });
          };
          void run(work).then(
            (result) => answer(() => resolve(result)),
            (error: unknown) => answer(() => reject(error)),
          );
        });
      });
    });
  }

  /** Sends a message without a response, which may be lost, doubled or late. */
  notify(receiver: SimulatedProcess, work: () => void): void {
    const { lostNotifications, doubledNotifications, lateNotifications } = this.weather;
    if (this.#chance.happens(lostNotifications) || this.cutOff.has(receiver.name)) return;
    const copies = this.#chance.happens(doubledNotifications) ? 2 : 1;
    for (let copy = 0; copy < copies; copy += 1) {
      const isLate = this.#chance.happens(lateNotifications);
      const maximum = isLate ? lateNotificationMillisecondsMaximum : latencyMillisecondsMaximum;
      this.#time.at(this.#time.monotonic() + this.#chance.between(1, maximum), () => receiver.receive(work));
    }
  }

  /** Sends a message that arrives after those sent before on the connection. */
  send(connection: string, receive: (work: () => void) => void, work: () => void): void {
    const isSlow = this.#chance.happens(this.weather.slowMessages);
    this.#time.at(this.#arrival(connection, isSlow), () => receive(work));
  }

  #arrival(connection: string, isSlow: boolean): number {
    const lane = this.#lanes.get(connection) ?? { arrivesAt: 0 };
    this.#lanes.set(connection, lane);
    const latency = this.#chance.between(1, isSlow ? slowMillisecondsMaximum : latencyMillisecondsMaximum);
    lane.arrivesAt = Math.max(lane.arrivesAt, this.#time.monotonic() + latency);
    return lane.arrivesAt;
  }
}

async function run<Result>(work: () => Result | Promise<Result>): Promise<Result> {
  return work();
}
