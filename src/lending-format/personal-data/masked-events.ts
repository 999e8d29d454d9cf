import { hasDeletedLetterKeys, isLetterKeyDeleted } from '../../broker/definitions/deleted-letter-keys.ts';
import type { Registry } from '../../broker/definitions/registry.ts';
import { deadLetterQueue } from '../../broker/definitions/unprocessable-events.ts';
import type { Offset } from '../../ports/event-log.ts';
import {
  type IsPersonalSet,
  type PersonalRecord,
  withoutPersonalFields,
} from '../../lending/personal-data/personal-fields.ts';
import { personalSets } from '../../lending/personal-data/personal-fields.ts';
import { fieldDefinitionsOf } from '../custom-fields/stored-custom-fields.ts';
import { type ExactJson, isExactObject, readExactObject, writeExact } from '../exact-json.ts';
import { type LendingEventTypeName, deadLettersTopic, loanCommandsTopic } from '../lending-topics.ts';
import { type Erasure, erasureOf, erasuresOf } from './erasures.ts';

/** The events that show an account or a transaction, by their type: under which name, and what that is. */
export const personalEvents: Readonly<Partial<Record<LendingEventTypeName, PersonalRecord>>> = {
  loan_account_changed: 'account',
  loan_transaction_posted: 'transaction',
};

/** Where a record is, and of which account it may be. */
export interface RecordPlace {
  readonly topic: string;
  readonly partition: number;
  readonly offset: Offset;
  readonly key: string | null;
  /** Milliseconds since the epoch. */
  readonly appendedAt: number;
}

/** Whether records of a topic may have to be masked. */
export function mayBeMasked(topic: string): boolean {
  return (
    topic in personalEvents || topic === loanCommandsTopic || topic === deadLettersTopic || topic === deadLetterQueue
  );
}

/** Whether a record may be of an account whose personal data was erased, or a letter of a deleted key. */
export function mayBeOfErased(registry: Registry, { topic, key }: Pick<RecordPlace, 'topic' | 'key'>): boolean {
  // A letter of the queue has the key of its subscription.
  return topic === deadLetterQueue || (key !== null && erasuresOf(registry, key).length > 0);
}

/**
 * The text of a record without what is personal of accounts that were erased after it was written; undefined when there
 * is nothing to take out. What is not the JSON that the service writes stays as it is.
 */
export function maskedText(registry: Registry, place: RecordPlace, text: string): string | undefined {
  let value: ExactJson;
  try {
    value = readExactObject(text);
  } catch {
    return undefined;
  }
  const masked = maskedValue(registry, place, value);
  return masked === undefined || masked === value ? undefined : writeExact(masked);
}

function maskedValue(registry: Registry, place: RecordPlace, value: ExactJson): ExactJson | undefined {
  const { topic } = place;
  if (topic === loanCommandsTopic) return isBefore(registry, place, value) ? maskedCommand(value) : undefined;
  if (topic === deadLettersTopic) return isLetterBefore(registry, place, value) ? maskedLetter(value) : undefined;
  if (topic !== deadLetterQueue) return maskedEvent(registry, topic, value);
  const { event, event_type: eventType } = value;
  if (!isExactObject(event) || typeof eventType !== 'string') return undefined;
  if (isOfDeletedKey(registry, place, value, event)) return letterOfDeletedKey(value);
  const masked =
    eventType === loanCommandsTopic ? maskedIfErased(registry, event) : maskedEvent(registry, eventType, event);
  return masked === undefined ? undefined : { ...value, event: masked };
}

function isOfDeletedKey(registry: Registry, place: RecordPlace, letter: ExactJson, event: ExactJson): boolean {
  if (!hasDeletedLetterKeys(registry)) return false;
  const { metadata } = event;
  const key = isExactObject(metadata) ? metadata['partition_compaction_key'] : undefined;
  const { event_type: eventType, partition } = letter;
  if (typeof key !== 'string' || typeof eventType !== 'string' || typeof partition !== 'string') return false;
  return isLetterKeyDeleted(registry, place, { eventType, partition, key });
}

function letterOfDeletedKey({ event: _deleted, ...letter }: ExactJson): ExactJson {
  return { ...letter, error: { message: 'The key of the event was deleted.' } };
}

function maskedEvent(registry: Registry, eventType: string, event: ExactJson): ExactJson | undefined {
  const record = personalEvents[eventType as LendingEventTypeName];
  const { loanAccountEncodedKey, sequence } = event;
  if (record === undefined || typeof loanAccountEncodedKey !== 'string') return undefined;
  const erasure = erasureOf(registry, loanAccountEncodedKey);
  const shown = event[record];
  if (erasure === undefined || Number(String(sequence)) > erasure.eventSequence || !isExactObject(shown))
    return undefined;
  const masked = withoutPersonalFields(shown, record, isPersonalIn(registry));
  if (masked === shown) return undefined;
  // Every account has a name in its events.
  const named = record === 'account' ? { loanName: erasedName, ...masked } : masked;
  return { ...event, [record]: named };
}

/** In place of the name of an account, which its product has given since. */
const erasedName = 'erased';

function isPersonalIn(registry: Registry): IsPersonalSet {
  return personalSets(fieldDefinitionsOf(registry));
}

/** Whether a command of an account was stored before its erasure was decided. */
function isBefore(
  registry: Registry,
  { partition, offset, appendedAt }: RecordPlace,
  { loanAccountId }: ExactJson,
): boolean {
  return erasuresOfText(registry, loanAccountId).some((erasure) =>
    partition === erasure.partition ? offset < erasure.commandOffset : appendedAt <= erasure.erasedAt,
  );
}

function isLetterBefore(registry: Registry, { key, appendedAt }: RecordPlace, letter: ExactJson): boolean {
  const [partition, offset] = [letter['partition'], letter['offset']].map((value) => Number(String(value)));
  return erasuresOfText(registry, key).some((erasure) =>
    partition === erasure.partition ? (offset ?? 0) < erasure.commandOffset : appendedAt <= erasure.erasedAt,
  );
}

function erasuresOfText(registry: Registry, loanAccountId: unknown): readonly Erasure[] {
  return typeof loanAccountId === 'string' ? erasuresOf(registry, loanAccountId) : [];
}

/** A copy of a command does not say where it was, so that of an account that was erased at any time is masked. */
function maskedIfErased(registry: Registry, command: ExactJson): ExactJson | undefined {
  return erasuresOfText(registry, command['loanAccountId']).length > 0 ? maskedCommand(command) : undefined;
}

function maskedCommand(command: ExactJson): ExactJson {
  return { ...command, payload: {} };
}

function maskedLetter(letter: ExactJson): ExactJson {
  return { ...letter, reason: 'The personal data of the account was erased.', value: null };
}
