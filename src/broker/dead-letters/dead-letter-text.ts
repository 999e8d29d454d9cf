import { isUtf8 } from 'node:buffer';
import { v5 as uuidV5 } from 'uuid';
import { formatOffset } from '../cursors/cursor-text.ts';
import type { DeadLetter } from '../streaming/unprocessable-events.ts';

/** The dead letter of an event as text. Pure. */

const eidNamespace = '0c1d4c0e-5d0a-5b5e-8a55-6a0f6f1f7f4e';

/**
 * The longest event or record that is copied into its dead letter. A letter of a longer one says where to find it.
 * Bytes.
 */
export const copiedBytesMaximum = 2 * 1024 * 1024;

/**
 * The eid of the letter of an event. It is always the same for one event of one subscription, so that consumers
 * recognise a letter that was written again after a crash.
 */
export function deadLetterEid({ subscriptionId, eventType, partition, offset }: DeadLetter): string {
  return uuidV5(JSON.stringify([subscriptionId, eventType, partition, offset]), eidNamespace);
}

/** The JSON of its fields but `metadata`, without the braces around them. The event is copied byte for byte. */
export function deadLetterFields(letter: DeadLetter): string {
  const { subscriptionId, eventType, partition, offset, reason } = letter;
  const fields = {
    subscription_id: subscriptionId,
    event_type: eventType,
    partition: String(partition),
    offset: formatOffset(offset),
  };
  const { message, field } = contentOf(letter);
  const error = { message: message === undefined ? reason : `${reason} ${message}` };
  return `${JSON.stringify(fields).slice(1, -1)},"error":${JSON.stringify(error)}${field}`;
}

function contentOf({ value, isJson }: DeadLetter): { readonly message?: string; readonly field: string } {
  if (value.length > copiedBytesMaximum) {
    return { message: `It has ${value.length} bytes, too many to copy: read it where it is stored.`, field: '' };
  }
  if (isJson) return { field: `,"event":${value.toString()}` };
  const record = isUtf8(value)
    ? { encoding: 'utf-8', value: value.toString() }
    : { encoding: 'base64', value: value.toString('base64') };
  return { field: `,"record":${JSON.stringify(record)}` };
}
