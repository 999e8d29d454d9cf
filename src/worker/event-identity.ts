import { v5 } from 'uuid';
import type { Offset } from '../broker/event-log.ts';

/**
 * Identities made from where a command lies in the log and from nothing else: decided again after a crash, a command
 * gives the same event ids and the same keys.
 */
const eventNamespace = '6f0f3a46-5a0c-5b9e-9d0a-3f3f7c1f6d01';
const keyNamespace = '0b8f3a5e-4f0d-5d5c-8a3a-92c4f0a7e6b2';

export interface CommandPosition {
  readonly partition: number;
  readonly offset: Offset;
}

/** The `eid` of a command's event. @param index Place among the command's events, from 0. */
export function eventId({ partition, offset }: CommandPosition, index: number): string {
  return v5(`${partition}|${offset}|${index}`, eventNamespace);
}

/** Gives the encodedKeys a command needs: 32 hexadecimal digits, one for each purpose, always the same one. */
export function keysOf({ partition, offset }: CommandPosition): (purpose: string) => string {
  return (purpose) => v5(`${partition}|${offset}|${purpose}`, keyNamespace).replaceAll('-', '');
}
