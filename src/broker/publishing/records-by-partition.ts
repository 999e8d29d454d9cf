import type { PartitionRecords } from '../../ports/event-log.ts';
import { packKeys, PackedPartitionRecords } from '../../ports/packed-records.ts';
import type { PreparedEventType } from './prepared-event-type.ts';

/**
 * Writes all events into one buffer; those of one partition follow one another with a comma between them. The bytes are
 * joined as Latin-1 text, one character for each byte: joining strings and writing them once is several times cheaper
 * than copying bytes event by event. All added text is ASCII, so it is the same in either encoding.
 * @param textOf Returns the Latin-1 text of an event as it is stored.
 */
export function packByPartition(
  type: PreparedEventType,
  partitions: Int32Array,
  keys: readonly (string | null)[],
  textOf: (index: number, partition: number) => string,
): PartitionRecords[] {
  const drafts: (PartitionDraft | undefined)[] = Array.from({ length: type.partitionCount });
  for (let index = 0; index < partitions.length; index += 1) {
    const partition = partitions[index] as number;
    const draft = (drafts[partition] ??= { keys: [], valueEnds: [], text: '' });
    if (draft.text !== '') draft.text += ',';
    draft.text += textOf(index, partition);
    draft.valueEnds.push(draft.text.length);
    draft.keys.push(keys[index] ?? null);
  }
  let text = '';
  for (const draft of drafts) if (draft !== undefined) text += draft.text;
  const bytes = Buffer.from(text, 'latin1');
  let start = 0;
  return drafts.flatMap((draft, partition) => {
    if (draft === undefined) return [];
    const end = start + draft.text.length;
    const values = bytes.subarray(start, end);
    start = end;
    const packed = { ...packKeys(draft.keys), values, valueEnds: Uint32Array.from(draft.valueEnds) };
    return [new PackedPartitionRecords(type.name, partition, packed)];
  });
}

/** The records of one partition while they are put together. */
interface PartitionDraft {
  readonly keys: (string | null)[];
  readonly valueEnds: number[];
  text: string;
}
