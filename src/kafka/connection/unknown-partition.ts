import { LendstreamError } from '../../errors.ts';

/** Makes an UNKNOWN_TOPIC_OR_PARTITION error for a partition, or for a whole topic when no partition is given. */
export function unknownPartition({ topic, partition }: { topic: string; partition?: number }): LendstreamError {
  const what = partition === undefined ? `Topic ${topic}` : `Topic ${topic}, partition ${partition},`;
  return new LendstreamError('UNKNOWN_TOPIC_OR_PARTITION', `${what} does not exist.`, {
    details: { topic, ...(partition === undefined ? {} : { partition }) },
  });
}
