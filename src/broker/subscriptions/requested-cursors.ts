import { LendstreamError, type FieldViolation, FieldViolations } from '../../errors.ts';
import type { CommittedOffset } from '../../ports/coordination.ts';
import { parseOffset, parsePartition } from '../cursors/cursor-text.ts';
import type { InitialCursor } from '../definitions/subscription.ts';
import { fieldsOf, wrongType } from '../definitions/json-fields.ts';

/**
 * Reads a list of positions: objects with event_type, partition and offset, all of them texts. A number is read as its
 * digits. Missing parts are added to the violations.
 * @throws MALFORMED_REQUEST for a value of the wrong JSON type
 */
export function readCursorFields(field: string, value: unknown, violations: FieldViolation[]): InitialCursor[] {
  if (!Array.isArray(value)) throw wrongType(field, 'a list');
  const cursors: InitialCursor[] = [];
  for (let index = 0; index < value.length; index += 1) {
    const path = `${field}[${index}]`;
    const cursor = fieldsOf(path, value[index]);
    if (cursor === null) {
      violations.push({ field: path, message: 'must not be null' });
      continue;
    }
    cursors.push({
      event_type: readText(path, cursor, 'event_type', violations),
      partition: readText(path, cursor, 'partition', violations),
      offset: readText(path, cursor, 'offset', violations),
    });
  }
  return cursors;
}

function readText(
  path: string,
  cursor: Readonly<Record<string, unknown>>,
  name: string,
  violations: FieldViolation[],
): string {
  const given = cursor[name] ?? null;
  if (typeof given === 'string') return given;
  if (given === null) {
    violations.push({ field: `${path}.${name}`, message: 'must not be null' });
    return '';
  }
  if (typeof given !== 'number') throw wrongType(`${path}.${name}`, 'a string');
  return String(given);
}

/**
 * The positions that cursors name.
 * @param counts The subscription's event types with their partition counts.
 * @throws UNPROCESSABLE naming the first partition that is not the subscription's, or the first invalid offset
 */
export function parsePositions(
  cursors: readonly InitialCursor[],
  counts: ReadonlyMap<string, number>,
): CommittedOffset[] {
  return cursors.map(({ event_type: eventType, partition: text, offset }) => {
    const partition = parsePartition(text);
    if (partition === undefined || partition >= (counts.get(eventType) ?? 0)) {
      throw new LendstreamError('UNPROCESSABLE', `non existing partition ${text}`);
    }
    return { eventType, partition, offset: parseOffset(offset) };
  });
}

/** Most cursors in one commit. */
export const cursorsPerCommitMaximum = 10_000;

/** @throws UNPROCESSABLE for far more cursors than any subscription has partitions */
export function boundedList(items: unknown): unknown {
  const list = notNull(items);
  if (Array.isArray(list) && list.length > cursorsPerCommitMaximum) {
    throw new LendstreamError('UNPROCESSABLE', `A request may have at most ${cursorsPerCommitMaximum} cursors`);
  }
  return list;
}

function notNull(items: unknown): unknown {
  if (items === undefined || items === null) {
    throw new FieldViolations([{ field: 'items', message: 'must not be null' }]);
  }
  return items;
}
