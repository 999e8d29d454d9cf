import { hash } from 'node:crypto';
import type { Offset } from '../ports/event-log.ts';

/**
 * Identities that depend only on a command and its position in the log. A command that is decided again after a crash
 * gets the same event ids and the same keys.
 */
const eventNamespace = '6f0f3a46-5a0c-5b9e-9d0a-3f3f7c1f6d01';
const transactionNamespace = 'd5a1c7f0-93d1-5c1e-8a57-6a3d9b1a0c44';
const dueCommandNamespace = 'c5f1b9c6-0f0e-5a0f-8c62-0d8c3f0e6b77';
const keyNamespace = '0b8f3a5e-4f0d-5d5c-8a3a-92c4f0a7e6b2';

export interface CommandPosition {
  readonly partition: number;
  readonly offset: Offset;
  /** Of a command that is not in the log, but was posted by the end of a day: its id. */
  readonly dueCommandId?: string;
}

/** The `eid` of a command's event. @param index Position among the command's events, from 0. */
export function eventId(position: CommandPosition, index: number): string {
  return uuidOf(eventHash(`${nameOf(position)}|${index}`));
}

/**
 * Returns a function that makes a command's encodedKeys: 32 hexadecimal digits, always the same for the same purpose.
 */
export function keysOf(position: CommandPosition): (purpose: string) => string {
  return (purpose) => encodedKeyOf(keyHash(`${nameOf(position)}|${purpose}`));
}

function nameOf({ partition, offset, dueCommandId }: CommandPosition): string {
  return dueCommandId ?? `${partition}|${offset}`;
}

/**
 * The encodedKey of the transaction that a command posts to an account. It depends on these two ids alone, so a command
 * that comes again is recognised for ever by the transaction it posted, wherever the command lies in the log.
 */
export function transactionKeyOf(loanAccountId: string, commandId: string): string {
  // An account id contains no slash.
  return encodedKeyOf(hash('sha1', `${transactionNamespace}/${loanAccountId}/${commandId}`, 'hex'));
}

/**
 * The id of a command that the end of a day posts to an account: always the same for an account, a business date and a
 * purpose, so that it is done once.
 */
export function dueCommandId(loanAccountId: string, businessDate: string, purpose: string): string {
  return uuidOf(dueCommandHash(`${loanAccountId}/${businessDate}/${purpose}`));
}

function uuidOf(digits: string): string {
  const time = `${digits.slice(0, 8)}-${digits.slice(8, 12)}-5${digits.slice(13, 16)}`;
  return `${time}-${variantOf(digits)}${digits.slice(17, 20)}-${digits.slice(20, 32)}`;
}

function encodedKeyOf(digits: string): string {
  return `${digits.slice(0, 12)}5${digits.slice(13, 16)}${variantOf(digits)}${digits.slice(17, 32)}`;
}

/** Longer than any salted name: sixteen bytes of namespace, an account id or a UUID, a purpose. Bytes. */
const hashedBytesMaximum = 256;

const eventHash = saltedHash(eventNamespace);
const dueCommandHash = saltedHash(dueCommandNamespace);
const keyHash = saltedHash(keyNamespace);

/**
 * Returns a function that makes the SHA-1 digits of a namespace and an ASCII name. It writes every name into the same
 * memory, after the namespace. The digits are those of a version 5 UUID (RFC 9562, 5.5), except for the version (the
 * thirteenth) and the variant (the seventeenth). The hash is made in one call: a command needs about seven, and a hash
 * object for each took longer than deciding the command.
 */
function saltedHash(namespace: string): (name: string) => string {
  const salted = Buffer.alloc(hashedBytesMaximum);
  const start = salted.write(namespace.replaceAll('-', ''), 'hex');
  return (name) => hash('sha1', salted.subarray(0, start + salted.write(name, start, 'latin1')), 'hex');
}

/** The digit for the variant of the UUID, made from the last two bits of the hash's own digit. */
function variantOf(digits: string): string {
  return variants.charAt(hexadecimalDigits.indexOf(digits.charAt(16)) & 0x3);
}

const hexadecimalDigits = '0123456789abcdef';
const variants = '89ab';
