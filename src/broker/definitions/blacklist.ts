import { LendstreamError } from '../../errors.ts';
import type { Registry } from './registry.ts';
import type { Subscription } from './subscription.ts';

/** Whom an entry of the blacklist blocks. An application is the owner of a subscription, or of an event type. */
export const blacklistTypes = ['CONSUMER_APP', 'CONSUMER_ET', 'PRODUCER_APP', 'PRODUCER_ET'] as const;

export type BlacklistType = (typeof blacklistTypes)[number];

/** An entry of the blacklist, as it is stored. */
interface BlacklistEntry {
  readonly type: BlacklistType;
  readonly name: string;
}

/** The longest name of an entry. Characters. */
export const blockedNameCharactersMaximum = 255;

/** The most entries of the blacklist: every process keeps them in memory. */
export const blacklistEntriesMaximum = 1_000;

/** Blocks a name for producers or consumers. What is blocked already stays so. @throws UNPROCESSABLE */
export async function block(registry: Registry, type: BlacklistType, name: string): Promise<void> {
  if (name.length > blockedNameCharactersMaximum) {
    const detail = `The name of what is blocked has at most ${blockedNameCharactersMaximum} characters.`;
    throw new LendstreamError('UNPROCESSABLE', detail);
  }
  await registry.catchUp();
  if (isListed(registry, type, name)) return;
  if (registry.count('blacklist-entry') >= blacklistEntriesMaximum) {
    const detail = `The blacklist has at most ${blacklistEntriesMaximum} entries: delete those that are not needed.`;
    throw new LendstreamError('UNPROCESSABLE', detail);
  }
  await registry.put('blacklist-entry', entryName(type, name), { type, name } satisfies BlacklistEntry);
}

/** Unblocks a name. What is not blocked stays so. */
export async function unblock(registry: Registry, type: BlacklistType, name: string): Promise<void> {
  await registry.catchUp();
  if (isListed(registry, type, name)) await registry.remove('blacklist-entry', entryName(type, name));
}

/**
 * The blocked names of each type, sorted, also those that another process has blocked a moment ago.
 * @throws LOG_UNAVAILABLE when what others stored cannot be read in time
 */
export async function newestBlacklist(registry: Registry): Promise<Readonly<Record<BlacklistType, string[]>>> {
  await registry.catchUp();
  return {
    CONSUMER_APP: blockedNames(registry, 'CONSUMER_APP'),
    CONSUMER_ET: blockedNames(registry, 'CONSUMER_ET'),
    PRODUCER_APP: blockedNames(registry, 'PRODUCER_APP'),
    PRODUCER_ET: blockedNames(registry, 'PRODUCER_ET'),
  };
}

/** The blocked names of a type, sorted, as this process knows them. */
export function blockedNames(registry: Registry, type: BlacklistType): string[] {
  return registry
    .list<BlacklistEntry>('blacklist-entry')
    .flatMap((entry) => (entry.type === type ? [entry.name] : []))
    .sort((left, right) => (left < right ? -1 : 1));
}

/** Whether anything is blocked: while nothing is, no other question needs an answer. */
export function isAnythingBlocked(registry: Registry): boolean {
  return registry.count('blacklist-entry') > 0;
}

export function isPublishingBlocked(registry: Registry, eventType: string, owningApplication: string): boolean {
  return isListed(registry, 'PRODUCER_ET', eventType) || isListed(registry, 'PRODUCER_APP', owningApplication);
}

export function isReadingBlocked(registry: Registry, eventType: string): boolean {
  return isListed(registry, 'CONSUMER_ET', eventType);
}

/** Whether the subscription's owner is blocked, or one of its event types. */
export function isConsumptionBlocked(registry: Registry, subscription: Subscription): boolean {
  if (!isAnythingBlocked(registry)) return false;
  const { owning_application: owner, event_types: eventTypes } = subscription;
  return isListed(registry, 'CONSUMER_APP', owner) || eventTypes.some((name) => isReadingBlocked(registry, name));
}

function isListed(registry: Registry, type: BlacklistType, name: string): boolean {
  return registry.get('blacklist-entry', entryName(type, name)) !== undefined;
}

function entryName(type: BlacklistType, name: string): string {
  return `${type}/${name}`;
}
