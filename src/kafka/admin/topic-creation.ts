import { giveWay } from '../../clock.ts';
import type { NamedResult, RequestedTopic } from '../protocol/topic-requests.ts';

/** The most partitions that one request creates: the controller refuses changes that are too large. */
const partitionsPerRequestMaximum = 1_000;

/** What a request to create a topic has led to. */
export interface CreationOutcome {
  readonly result: NamedResult | undefined;
  /** Returns when the topic, which was created, is ready for appends and reads. */
  readonly untilReady: () => Promise<void>;
}

/** Topics that are created with one request. */
interface TopicGroup {
  readonly topics: Map<string, RequestedTopic>;
  partitionCount: number;
  /** The outcome of each topic, by its name. */
  readonly results: Promise<ReadonlyMap<string, NamedResult>>;
  /** Is fulfilled when those that were created are ready for appends and reads. */
  readonly readiness: Promise<void>;
}

/**
 * Creates topics. Those that are asked for in the same turn of the event loop share the requests that create them and
 * that wait for them: brokers take longer for each change than for a change of many.
 */
export class TopicCreation {
  readonly #send: (topics: readonly RequestedTopic[]) => Promise<readonly NamedResult[]>;
  readonly #waitUntilReady: (topics: readonly RequestedTopic[]) => Promise<void>;
  #next: TopicGroup | undefined;

  /**
   * @param send Sends the request that creates topics.
   * @param waitUntilReady Returns when every broker knows these topics, and their leaders serve them.
   */
  constructor(
    send: (topics: readonly RequestedTopic[]) => Promise<readonly NamedResult[]>,
    waitUntilReady: (topics: readonly RequestedTopic[]) => Promise<void>,
  ) {
    this.#send = send;
    this.#waitUntilReady = waitUntilReady;
  }

  /**
   * Creates a topic, whose outcome may be an error code.
   * @throws LOG_UNAVAILABLE when no broker responds
   */
  async create(topic: RequestedTopic): Promise<CreationOutcome> {
    const group = this.#groupFor(topic);
    const result = (await group.results).get(topic.name);
    // The only one of its group would wait for itself twice as long.
    if (group.topics.size === 1) return { result, untilReady: () => group.readiness };
    // What another topic of the group waits for in vain does not concern this one.
    return { result, untilReady: () => group.readiness.catch(() => this.#waitUntilReady([topic])) };
  }

  #groupFor(topic: RequestedTopic): TopicGroup {
    const { name, partitionCount } = topic;
    const open = this.#next;
    const hasRoom =
      open !== undefined &&
      !open.topics.has(name) &&
      open.partitionCount + partitionCount <= partitionsPerRequestMaximum;
    const group = hasRoom ? open : this.#open();
    group.topics.set(name, topic);
    group.partitionCount += partitionCount;
    return group;
  }

  #open(): TopicGroup {
    const topics = new Map<string, RequestedTopic>();
    const results = giveWay().then(async () => {
      if (this.#next === group) this.#next = undefined;
      return new Map((await this.#send([...topics.values()])).map((result) => [result.name, result]));
    });
    const readiness = results.then((outcomes) =>
      this.#waitUntilReady([...topics.values()].filter(({ name }) => outcomes.get(name)?.errorCode === 0)),
    );
    // Where no topic was created, no caller waits for it.
    readiness.catch(() => undefined);
    const group: TopicGroup = { topics, partitionCount: 0, results, readiness };
    this.#next = group;
    return group;
  }
}
