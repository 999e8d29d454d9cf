import { int16, int32, text } from '../../support/kafka/frames.ts';

/** A Metadata response (version 5) with one topic of one partition that has no leader. */
export function metadataWithoutLeaders(topic: string): Buffer {
  const none = int32(-1);
  const empty = int32(0);
  const leaderNotAvailable = int16(5);
  const brokers = empty;
  const throttleMilliseconds = empty;
  const controller = none;
  const partition = [leaderNotAvailable, int32(0), none, empty, empty, empty];
  const topics = [int32(1), int16(0), text(topic), Buffer.of(0), int32(1), ...partition];
  return Buffer.concat([throttleMilliseconds, brokers, text('cluster'), controller, ...topics]);
}

/** A Metadata response (version 5) that reports an error for one topic. */
export function metadataRefusing(topic: string, errorCode: number): Buffer {
  const none = int32(-1);
  const empty = int32(0);
  const topics = [int32(1), int16(errorCode), text(topic), Buffer.of(0), empty];
  return Buffer.concat([empty, empty, text('cluster'), none, ...topics]);
}
