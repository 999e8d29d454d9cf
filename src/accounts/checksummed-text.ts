import { crc32 } from 'node:zlib';

/**
 * The texts of the local copy, each after a checksum of itself and of the key it is stored under. SQLite notices pages
 * that make no sense, but not bytes that changed within a text, nor an index that leads to another row.
 */

/** Eight hexadecimal digits. */
const checksumCharacters = 8;

/** A text of the local copy is not the one that was stored: the file was changed by something else. */
export class DamagedText extends Error {}

/** The text as the copy stores it under that key. */
export function sealed(key: string, text: string): string {
  return checksumOf(key, text) + text;
}

/** The text that {@link sealed} wrote. @throws DamagedText for any other one, and for one of another key */
export function unsealed(key: string, stored: string): string {
  if (!isIntact(key, stored)) throw new DamagedText(`The stored text of ${key} was changed`);
  return stored.slice(checksumCharacters);
}

/** Whether it is a text that {@link sealed} wrote under that key. */
export function isIntact(key: string, stored: string): boolean {
  return stored.startsWith(checksumOf(key, stored.slice(checksumCharacters)));
}

function checksumOf(key: string, text: string): string {
  // The same as of both texts joined, which would copy them.
  return crc32(text, crc32(key)).toString(16).padStart(checksumCharacters, '0');
}
