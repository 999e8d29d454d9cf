/** Where the parts of an event of a request lie, as numbers: positions in the request. */
export const eventField = {
  start: 0,
  end: 1,
  /** The object under the key `metadata`. */
  metadataStart: 2,
  metadataEnd: 3,
  /** 1 when the metadata has more than an id and a time. */
  hasFurtherMetadata: 4,
  /** The text of the first wanted path, without its quotes: its start, its end, and those of the others. */
  wanted: 5,
} as const;

/** The size of a field in memory. */
export const fieldBytes = 4;

/** How many fields an event has. */
export function fieldsOfEach(wantedCount: number): number {
  return eventField.wanted + 2 * wantedCount;
}
