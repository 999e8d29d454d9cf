import { deflateRawSync, inflateRawSync } from 'node:zlib';
import { compressionLevel, isWorthCompressing } from '../../ports/record-compression.ts';
import { bodyVersion, compressedVersion, field, headerBytes } from './layout.ts';

/**
 * The body as the file gets it: compressed if its records are large and that makes it smaller, otherwise the body
 * itself. Takes about 2 ms for 1 MiB of events, so it is not for the main thread.
 * @param body As encoded, by batch-format.ts.
 * @param count How many records it has.
 */
export function storedBody(body: Buffer, count: number): Buffer {
  if (!isWorthCompressing(body.length - headerBytes, count)) return body;
  const compressed = deflateRawSync(body.subarray(headerBytes), { level: compressionLevel });
  if (compressed.length >= body.length - headerBytes) return body;
  const stored = Buffer.concat([body.subarray(0, headerBytes), compressed]);
  stored[field.version] = compressedVersion;
  stored.writeUInt32LE(body.length - headerBytes, field.inflatedBytes);
  return stored;
}

/** Whether a stored body is compressed. It may be damaged: too short for its header, it is not. */
export function isCompressed(stored: Uint8Array): boolean {
  return stored.length >= headerBytes && stored[field.version] === compressedVersion;
}

/** The size of a stored body when it is inflated. A damaged one may have any. Bytes. */
export function inflatedBytesOf(stored: Buffer): number {
  return isCompressed(stored) ? headerBytes + stored.readUInt32LE(field.inflatedBytes) : stored.length;
}

/**
 * The body as it was encoded, in memory of its own if it is stored compressed. Never takes more memory than the header
 * says.
 * @param stored A body whose checksum and header are right.
 * @returns undefined when the stored bytes cannot be inflated to what the header says
 */
export function inflatedBody(stored: Buffer): Buffer | undefined {
  if (!isCompressed(stored)) return stored;
  const bytes = stored.readUInt32LE(field.inflatedBytes);
  const inflated = inflate(stored.subarray(headerBytes), bytes);
  if (inflated?.length !== bytes) return undefined;
  const body = Buffer.allocUnsafeSlow(headerBytes + bytes);
  stored.copy(body, 0, 0, headerBytes);
  body[field.version] = bodyVersion;
  body.writeUInt32LE(0, field.inflatedBytes);
  body.set(inflated, headerBytes);
  return body;
}

function inflate(compressed: Uint8Array, bytes: number): Buffer | undefined {
  try {
    // With one byte to spare, zlib notices the end in the first piece of memory that it fills.
    return inflateRawSync(compressed, { maxOutputLength: bytes, chunkSize: Math.max(64, bytes + 1) });
  } catch {
    return undefined;
  }
}
