import { systemClock, type Clock } from '../../clock.ts';
import { LendstreamError, isLendstreamError } from '../../errors.ts';
import type { EventLog, TopicConfiguration } from '../../ports/event-log.ts';

/** How long a topic that another process is creating may take to become usable. Milliseconds. */
const readyMillisecondsMaximum = 30_000;

const readyPollMilliseconds = 20;

/**
 * Makes sure that a topic exists, ready for appends and reads. Any number of processes may do so at once: one of them
 * creates it.
 *
 * @param existingTopics The existing topics, when the caller has just listed them.
 * @returns the topic as it is; one that existed before may differ from the wanted one
 * @throws LOG_UNAVAILABLE when another process began to create it and it does not become usable
 */
export async function ensureTopic(
  log: EventLog,
  configuration: TopicConfiguration,
  existingTopics?: readonly TopicConfiguration[],
  clock: Clock = systemClock,
): Promise<TopicConfiguration> {
  const find = async (): Promise<TopicConfiguration | undefined> => (await log.listTopics([configuration.name]))[0];
  let found =
    existingTopics === undefined ? await find() : existingTopics.find(({ name }) => name === configuration.name);
  if (found === undefined) {
    try {
      await log.createTopic(configuration);
      return configuration;
    } catch (error) {
      if (!isLendstreamError(error, 'TOPIC_ALREADY_EXISTS')) throw error;
    }
  }
  const deadline = clock.monotonic() + readyMillisecondsMaximum;
  for (;;) {
    found ??= await find();
    if (found !== undefined && (await isUsable(log, found))) return found;
    if (clock.monotonic() > deadline) {
      throw new LendstreamError(
        'LOG_UNAVAILABLE',
        `Topic ${configuration.name} exists but cannot be used yet. Try again.`,
      );
    }
    await clock.sleep(readyPollMilliseconds);
  }
}

/** A topic that is being created is listed before it can be used. */
async function isUsable(log: EventLog, { name, partitionCount }: TopicConfiguration): Promise<boolean> {
  try {
    await log.endOffsets(Array.from({ length: partitionCount }, (_, partition) => ({ topic: name, partition })));
    return true;
  } catch (error) {
    if (isLendstreamError(error, 'UNKNOWN_TOPIC_OR_PARTITION') || isLendstreamError(error, 'LOG_UNAVAILABLE')) {
      return false;
    }
    throw error;
  }
}
