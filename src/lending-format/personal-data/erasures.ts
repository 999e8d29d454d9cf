import type { DefinitionIndex } from '../../broker/definitions/definition-views.ts';
import { type Registry, type RegistryChange, registryKey, registryTopic } from '../../broker/definitions/registry.ts';
import type { Offset, PartitionRecords } from '../../ports/event-log.ts';

/**
 * Which accounts had their personal data erased, as the registry keeps it: every process then shows what the log still
 * holds of them without it. A record is kept for as long as the log may hold anything from before.
 */
export interface Erasure {
  readonly loanAccountId: string;
  /** Distinguishes the account from others that have had or will have its id. */
  readonly loanAccountEncodedKey: string;
  /** The last event of the account before it: those after it have nothing that was erased. */
  readonly eventSequence: number;
  /** Where the command is: those of the account before it were decided before. */
  readonly partition: number;
  readonly commandOffset: Offset;
  readonly commandId: string;
  /** Milliseconds since the epoch. */
  readonly erasedAt: number;
  /** Who sent the command, as its metadata say; null when they do not. */
  readonly erasedBy: string | null;
}

/** That an erasure happened: which account, who asked for it, and when. Never what was erased. */
export type ErasureNotice = Pick<
  Erasure,
  'loanAccountId' | 'loanAccountEncodedKey' | 'commandId' | 'erasedAt' | 'erasedBy'
>;

const kind = 'erasure';

/**
 * The notice of a change of the registry, for what keeps a record of all that was done: give it each change that
 * {@link Registry.onChange} tells of. Undefined for every other change. Each process gets every notice, and again those
 * that are still kept when it starts.
 */
export function erasureNotice({ kind: changed, value }: RegistryChange): ErasureNotice | undefined {
  if (changed !== kind || value === null) return undefined;
  const { loanAccountId, loanAccountEncodedKey, commandId, erasedAt, erasedBy } = value as Erasure;
  return { loanAccountId, loanAccountEncodedKey, commandId, erasedAt, erasedBy };
}

/** How many erasures this process knows. */
export function erasureCount(registry: Registry): number {
  return registry.count(kind);
}

/** All that this process knows, in no particular order. */
export function listErasures(registry: Registry): readonly Erasure[] {
  return registry.list<Erasure>(kind);
}

/** The erasures of accounts that have or had this id. */
export function erasuresOf(registry: Registry, loanAccountId: string): readonly Erasure[] {
  return registry.listBy(byAccount, loanAccountId);
}

/** The erasure of the account with this encodedKey. */
export function erasureOf(registry: Registry, loanAccountEncodedKey: string): Erasure | undefined {
  return registry.get<Erasure>(kind, loanAccountEncodedKey);
}

const byAccount: DefinitionIndex<Erasure> = { kind, keysOf: ({ loanAccountId }) => [loanAccountId] };

/**
 * Resolves when this process knows every erasure that is done: what it shows of earlier events has nothing erased then.
 * @throws LOG_UNAVAILABLE when what others stored cannot be read in time
 */
export async function awaitErasures(registry: Registry): Promise<void> {
  await registry.catchUp();
}

/** The registry records of erasures, to be committed with them, and without those that are given up. */
export function erasureRecords(made: readonly Erasure[], givenUp: readonly Erasure[]): PartitionRecords {
  const keyOf = ({ loanAccountEncodedKey }: Erasure): string => registryKey(kind, loanAccountEncodedKey);
  const records = [
    ...givenUp.map((erasure) => ({ key: keyOf(erasure), value: null })),
    ...made.map((erasure) => ({ key: keyOf(erasure), value: Buffer.from(JSON.stringify(erasure)) })),
  ];
  return { topic: registryTopic, partition: 0, records };
}

/** The most erasures that one commit gives up, so that none takes long. It is more than one commit usually adds. */
const givenUpMaximum = 500;

/** The erasures of a partition from before a time (milliseconds since the epoch), as many as a commit gives up. */
export function erasuresBefore(registry: Registry, partition: number, time: number): readonly Erasure[] {
  return listErasures(registry)
    .filter((erasure) => erasure.partition === partition && erasure.erasedAt < time)
    .slice(0, givenUpMaximum);
}
