import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { LogRecord } from '../../../src/ports/event-log.ts';
import { packageRoot } from '../../../src/package-root.ts';

/**
 * Bytes encoded by Kafka's own Java client, and the records that this client reads from them: see WriteVectors.java.
 */
export interface Vector {
  readonly name: string;
  /** Base64, like all bytes here. */
  readonly bytes: string;
  readonly batches: readonly VectorBatch[];
}

export interface VectorBatch {
  readonly baseOffset: number;
  readonly lastOffset: number;
  readonly maxTimestamp: number;
  readonly producerId: string;
  readonly producerEpoch: number;
  readonly baseSequence: number;
  readonly isTransactional: boolean;
  readonly isControl: boolean;
  readonly compression: string;
  readonly records: readonly VectorRecord[];
}

interface VectorRecord {
  readonly offset: number;
  readonly key: string | null;
  readonly value: string | null;
  readonly headers: readonly (readonly [name: string, value: string | null])[];
}

const file = join(packageRoot, 'test', 'kafka', 'vectors', 'vectors.json');

export const vectors = JSON.parse(readFileSync(file, 'utf8')) as readonly Vector[];

/** @throws when there is no vector of this name. */
export function vectorNamed(name: string): Vector {
  const found = vectors.find((vector) => vector.name === name);
  if (found === undefined) throw new Error(`There is no vector "${name}"`);
  return found;
}

export function bytesOf({ bytes }: Vector): Buffer {
  return Buffer.from(bytes, 'base64');
}

/** A record of a vector as it is appended. */
export function toLogRecord({ key, value }: VectorRecord): LogRecord {
  return {
    key: key === null ? null : Buffer.from(key, 'base64').toString(),
    value: value === null ? null : Buffer.from(value, 'base64'),
  };
}

/** A record of a vector as tests compare it. */
export function toReadRecord({ offset, key, value }: VectorRecord) {
  return { offset, key: text(key), value: text(value) };
}

function text(base64: string | null): string | null {
  return base64 === null ? null : Buffer.from(base64, 'base64').toString();
}

/** Whether the record has our marker and no other header. */
export function isMarked({ headers }: VectorRecord): boolean {
  return headers.length === 1 && headers[0]?.[0] === 'ls' && headers[0][1] === null;
}
