import { hash } from 'node:crypto';
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
  const digits = uuidDigits(eventSalt, `${partition}|${offset}|${index}`);
  const group = (start: number, end: number): string => digits.slice(start, end);
  return `${group(0, 8)}-${group(8, 12)}-${group(12, 16)}-${group(16, 20)}-${group(20, 32)}`;
}

/** Gives the encodedKeys a command needs: 32 hexadecimal digits, one for each purpose, always the same one. */
export function keysOf({ partition, offset }: CommandPosition): (purpose: string) => string {
  return (purpose) => uuidDigits(keySalt, `${partition}|${offset}|${purpose}`);
}

const eventSalt = saltOf(eventNamespace);
const keySalt = saltOf(keyNamespace);

function saltOf(namespace: string): Buffer {
  return Buffer.from(namespace.replaceAll('-', ''), 'hex');
}

/**
 * The digits of a version 5 UUID (RFC 9562, 5.5) without its hyphens. Made in one call to the hash: a command needs about
 * seven, and a hash object for each took longer than deciding it.
 */
function uuidDigits(salt: Buffer, name: string): string {
  const digits = hash('sha1', Buffer.concat([salt, Buffer.from(name)]), 'hex');
  const variant = ((Number.parseInt(digits.charAt(16), 16) & 0x3) | 0x8).toString(16);
  return `${digits.slice(0, 12)}5${digits.slice(13, 16)}${variant}${digits.slice(17, 32)}`;
}
