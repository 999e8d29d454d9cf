/**
 * Which partition an event belongs to. The hash equals that of the API's origin bit for bit. Producers and readers that
 * know it find a key where they expect it, and every topic of the same size agrees on a key's partition.
 */

/** Stands for a key field that an event does not have. */
export const absent = Symbol('absent');

/**
 * The partition of a key: a 32-bit wrapping sum of the fields' hashes, its absolute remainder by the partition count.
 * Each field's hash is h = 31 h + unit over its UTF-16 code units, wrapping (the hash of a Java string).
 */
export function hashPartition(fields: readonly string[], partitionCount: number): number {
  let sum = 0;
  for (const field of fields) sum = (sum + hashText(field)) | 0;
  return partitionOfSum(sum, partitionCount);
}

/** The partition of a key, by the wrapping sum of its fields' hashes. */
export function partitionOfSum(sum: number, partitionCount: number): number {
  return Math.abs(sum % partitionCount);
}

/** The hash of a field whose text is ASCII, by its bytes from a start to an end. */
export function hashAscii(bytes: Uint8Array, start: number, end: number): number {
  let hash = 0;
  for (let at = start; at < end; at += 1) hash = (Math.imul(hash, 31) + (bytes[at] as number)) | 0;
  return hash;
}

function hashText(text: string): number {
  let hash = 0;
  for (let index = 0; index < text.length; index += 1) hash = (Math.imul(hash, 31) + text.charCodeAt(index)) | 0;
  return hash;
}

/** @param random From 0 (inclusive) to 1 (exclusive). */
export function randomPartition(random: number, partitionCount: number): number {
  return Math.floor(random * partitionCount);
}

/** The partition that a producer named; undefined when no partition has that name. */
export function namedPartition(name: unknown, partitionCount: number): number | undefined {
  if (typeof name !== 'string' || !/^(0|[1-9]\d{0,8})$/.test(name)) return undefined;
  const partition = Number(name);
  return partition < partitionCount ? partition : undefined;
}

/** The value under a dotted path of an event, or {@link absent}. */
export function valueAt(event: unknown, path: readonly string[]): unknown {
  let found = event;
  for (const name of path) {
    if (typeof found !== 'object' || found === null || Array.isArray(found) || !Object.hasOwn(found, name)) {
      return absent;
    }
    found = (found as Record<string, unknown>)[name];
  }
  return found;
}

/**
 * The text that is hashed for a key field's value.
 * @param raw Returns the value as it was written: a number's spelling counts (17 is an integer, 17.0 is not).
 */
export function keyText(value: unknown, raw: () => string): string {
  if (typeof value === 'string') return value;
  if (typeof value === 'number') return numberText(raw());
  if (typeof value === 'object' && value !== null) return raw();
  return String(value);
}

/**
 * A JSON number as Java prints it after parsing: an integer as it is, everything else as a double in Java's notation
 * (`100.0`, `1.0E10`).
 */
export function numberText(raw: string): string {
  if (/^-?\d+$/.test(raw) && raw !== '-0') return raw;
  const value = Number(raw);
  if (Object.is(value, -0)) return '-0.0';
  if (!Number.isFinite(value)) return String(value);
  const magnitude = Math.abs(value);
  if (value === 0 || (magnitude >= 1e-3 && magnitude < 1e7)) {
    return Number.isInteger(value) ? `${value}.0` : String(value);
  }
  const [digits = '', exponent = ''] = value.toExponential().split('e');
  return `${digits.includes('.') ? digits : `${digits}.0`}E${Number(exponent)}`;
}

/** The key of a record, made from the fields that choose its partition. There is at least one field. */
export function joinKeyFields(fields: readonly string[]): string {
  return fields.length === 1 ? (fields[0] as string) : fields.join(',');
}
