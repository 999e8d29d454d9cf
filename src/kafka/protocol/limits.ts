import { recordBytesMaximum } from '../../ports/event-log.ts';

/**
 * The largest record batch that our topics accept, as their `max.message.bytes`: one record of the largest size with
 * its framing. Bytes.
 */
export const topicMessageBytesMaximum = recordBytesMaximum + 64 * 1024;

/** A request to store records is full when it has reached this size; one more batch may exceed it. Bytes. */
export const produceBytesMaximum = 8 * 1024 * 1024;
