import { recordBytesMaximum } from '../../ports/event-log.ts';

/**
 * The largest record batch a topic of ours takes, as its `max.message.bytes`: one record of the largest size with its
 * framing. Bytes.
 */
export const topicMessageBytesMaximum = recordBytesMaximum + 64 * 1024;

/** A request to store records is closed when it has reached this size; one batch more may exceed it. Bytes. */
export const produceBytesMaximum = 8 * 1024 * 1024;
