import { createCipheriv, createDecipheriv, randomBytes, scryptSync, timingSafeEqual } from 'node:crypto';
import { type FileHandle, open } from 'node:fs/promises';
import { Transform, type TransformCallback } from 'node:stream';

/**
 * The encryption of a backup: AES-256-GCM in pieces, each with a tag of its own, under a key that scrypt derives from
 * the key of the operator.
 *
 * The file begins with {@link mark}, the salt, the check of the key and the beginning of all nonces. A nonce ends with
 * the number of its piece and with whether it is the last one. So a piece that was changed, moved, left out or added
 * does not decrypt, nor does a file that was cut off between two pieces. The tags also cover the beginning of the file
 * and what the manifest says of it.
 */

/** The names of what is used, for the manifest. */
export const encryptionNames = {
  cipher: 'AES-256-GCM, pieces of 1 MiB',
  key_derivation: 'scrypt, N=131072, r=8, p=1',
} as const;

const mark = Buffer.from('LENDSTREAM BACKUP 1\n');
const saltBytes = 32;
const checkBytes = 16;
const nonceStartBytes = 7;
const headerBytes = mark.length + saltBytes + checkBytes + nonceStartBytes;

const keyBytes = 32;
const tagBytes = 16;
const pieceBytes = 1024 * 1024;

/** Deriving a key takes half a second and 128 MiB, so that keys that people choose cannot be tried out quickly. */
const scryptOptions = { N: 131_072, r: 8, p: 1, maxmem: 256 * 1024 * 1024 };

/** The shortest key that is accepted. Characters. */
export const backupKeyCharactersMinimum = 16;

/** The derived key, and the bytes by which a wrong one is known before anything is decrypted. */
function derivedKey(key: string, salt: Buffer): { readonly key: Buffer; readonly check: Buffer } {
  const derived = scryptSync(key, salt, keyBytes + checkBytes, scryptOptions);
  return { key: derived.subarray(0, keyBytes), check: derived.subarray(keyBytes) };
}

/**
 * Encrypts what flows through it.
 * @param key Of the operator.
 * @param context What the manifest says: the same is needed to decrypt it.
 */
export function encrypting(key: string, context: string): Transform {
  const salt = randomBytes(saltBytes);
  const nonceStart = randomBytes(nonceStartBytes);
  const derived = derivedKey(key, salt);
  const header = Buffer.concat([mark, salt, derived.check, nonceStart]);
  const associated = Buffer.concat([header, Buffer.from(context)]);
  const pieces = new Pieces(pieceBytes, (piece, number, isLast) => {
    const cipher = createCipheriv('aes-256-gcm', derived.key, nonceOf(nonceStart, number, isLast));
    cipher.setAAD(associated);
    return [cipher.update(piece), cipher.final(), cipher.getAuthTag()];
  });
  pieces.push(header);
  return pieces;
}

/**
 * Opens an encrypted file for reading.
 * @param context As it was given to {@link encrypting}.
 * @returns a stream that decrypts what follows the first `skippedBytes` of the file. It fails as soon as a piece is not
 *   as it was made, and before its end is passed on
 * @throws Error when the file is none of this form, or when the key is another one
 */
export async function decrypting(
  path: string,
  key: string,
  context: string,
): Promise<{ readonly decrypted: Transform; readonly skippedBytes: number }> {
  const header = await beginningOf(path);
  if (header.length < headerBytes || !header.subarray(0, mark.length).equals(mark)) {
    throw new Error(`${path} is damaged: it does not begin as an encrypted backup does`);
  }
  let position = mark.length;
  const take = (bytes: number): Buffer => header.subarray(position, (position += bytes));
  const salt = take(saltBytes);
  const check = take(checkBytes);
  const nonceStart = take(nonceStartBytes);
  const derived = derivedKey(key, salt);
  if (!timingSafeEqual(derived.check, check)) throw new Error(`${path} was encrypted with another key`);
  const associated = Buffer.concat([header, Buffer.from(context)]);
  const decrypted = new Pieces(pieceBytes + tagBytes, (piece, number, isLast) => {
    const ciphertextBytes = piece.length - tagBytes;
    try {
      const decipher = createDecipheriv('aes-256-gcm', derived.key, nonceOf(nonceStart, number, isLast), {
        authTagLength: tagBytes,
      });
      decipher.setAAD(associated);
      decipher.setAuthTag(piece.subarray(ciphertextBytes));
      return [decipher.update(piece.subarray(0, ciphertextBytes)), decipher.final()];
    } catch (error) {
      const place = `its ${isLast ? 'last' : `${number + 1}.`} piece is not where it was made, or not as it was made`;
      throw new Error(`${path} is damaged or cut off: ${place}`, { cause: error });
    }
  });
  return { decrypted, skippedBytes: headerBytes };
}

async function beginningOf(path: string): Promise<Buffer> {
  let file: FileHandle | undefined;
  try {
    file = await open(path, 'r');
    const { bytesRead, buffer } = await file.read(Buffer.alloc(headerBytes), 0, headerBytes, 0);
    return buffer.subarray(0, bytesRead);
  } finally {
    await file?.close();
  }
}

function nonceOf(start: Buffer, number: number, isLast: boolean): Buffer {
  const nonce = Buffer.alloc(nonceStartBytes + 5);
  start.copy(nonce);
  // More pieces than that would be four pebibytes; the number then throws.
  nonce.writeUInt32BE(number, nonceStartBytes);
  nonce.writeUInt8(isLast ? 1 : 0, nonceStartBytes + 4);
  return nonce;
}

/** Changes a stream piece by piece. There is always a last piece, which may be shorter than the others, and empty. */
class Pieces extends Transform {
  readonly #bytes: number;
  readonly #change: (piece: Buffer, number: number, isLast: boolean) => Buffer[];
  #waiting: Buffer[] = [];
  #waitingBytes = 0;
  #number = 0;

  constructor(bytes: number, change: (piece: Buffer, number: number, isLast: boolean) => Buffer[]) {
    super();
    this.#bytes = bytes;
    this.#change = change;
  }

  override _transform(received: Buffer, _encoding: BufferEncoding, done: TransformCallback): void {
    this.#waiting.push(received);
    this.#waitingBytes += received.length;
    this.#attempt(done, () => {
      // One that is full may be the last.
      while (this.#waitingBytes > this.#bytes) this.#pass(this.#take(this.#bytes), false);
    });
  }

  override _flush(done: TransformCallback): void {
    this.#attempt(done, () => this.#pass(this.#take(this.#waitingBytes), true));
  }

  #attempt(done: TransformCallback, work: () => void): void {
    try {
      work();
      done();
    } catch (error) {
      done(error as Error);
    }
  }

  #pass(piece: Buffer, isLast: boolean): void {
    for (const changed of this.#change(piece, this.#number, isLast)) this.push(changed);
    this.#number += 1;
  }

  #take(bytes: number): Buffer {
    const all = Buffer.concat(this.#waiting);
    this.#waiting = [all.subarray(bytes)];
    this.#waitingBytes -= bytes;
    return all.subarray(0, bytes);
  }
}
